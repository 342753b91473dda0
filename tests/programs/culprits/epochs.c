/* A ring in which each rank opens its memory to the one before it, and accesses that of the next one. RANKS: 4 */
#include "shape.h"

enum { CELLS = 64 };

static double *memory, out;
static MPI_Win window;
static MPI_Group before, after;

NOINLINE void offer(void) {
    FRAME;
    CALL(MPI_Win_post, before, 0, window);
    PLACE(1);
}

NOINLINE void access_next(void) {
    FRAME;
    CALL(MPI_Win_start, after, 0, window);
    CALL(MPI_Put, &out, 1, MPI_DOUBLE, (rank + 1) % size, 0, 1, MPI_DOUBLE, window);
    PLACE(2);
    CALL(MPI_Win_complete, window);
}

NOINLINE void compute(void) {
    FRAME;
    base_work();
    PLACE(3);
}

NOINLINE void take(void) {
    FRAME;
    PLACE(4);
    CALL(MPI_Win_wait, window);
}

NOINLINE void turn(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        compute();
        offer();
        access_next();
        take();
        PLACE(5);
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    before = group_of((rank + size - 1) % size);
    after = group_of((rank + 1) % size);
    CALL(MPI_Win_allocate, CELLS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    turn();
    CALL(MPI_Win_free, &window);
    end();
    return 0;
}
