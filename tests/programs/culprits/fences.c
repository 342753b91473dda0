/* A field whose borders the neighbours put into the memory of each other, between fences; a sum at the end. RANKS: 4 */
#include "shape.h"

enum { CELLS = 64 };

static double *field, sum, all;
static MPI_Win window;

NOINLINE void borders(int to) {
    FRAME;
    CALL(MPI_Win_fence, MPI_MODE_NOPRECEDE, window);
    PLACE(1);
    CALL(MPI_Put, &sum, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, window);
    CALL(MPI_Win_fence, MPI_MODE_NOSUCCEED, window);
}

NOINLINE void inner(void) {
    FRAME;
    base_work();
    PLACE(2);
}

NOINLINE void sweep(void) {
    FRAME;
    inner();
    PLACE(3);
    borders((rank + 1) % size);
    PLACE(4);
}

NOINLINE void norm(void) {
    FRAME;
    PLACE(5);
    CALL(MPI_Allreduce, &sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

NOINLINE void relax(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        sweep();
        if (step % 4 == 3) norm();
        PLACE(6);
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    CALL(MPI_Win_allocate, CELLS * sizeof *field, sizeof *field, MPI_INFO_NULL, MPI_COMM_WORLD, &field, &window);
    relax();
    CALL(MPI_Win_free, &window);
    end();
    return 0;
}
