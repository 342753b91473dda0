/* A pipeline: each rank gets a block from the one before, processes it and passes it on; the last one tells all what has
 * come of it. RANKS: 4 */
#include "shape.h"

enum { CELLS = 64 };

static double block[CELLS];

NOINLINE void take(void) {
    FRAME;
    if (rank > 0) CALL(MPI_Recv, block, CELLS, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

NOINLINE void filter(void) {
    FRAME;
    PLACE(1);
}

NOINLINE void pass(void) {
    FRAME;
    PLACE(2);
    if (rank < size - 1) CALL(MPI_Send, block, CELLS, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
}

NOINLINE void process(void) {
    FRAME;
    take();
    PLACE(3);
    filter();
    pass();
}

NOINLINE void prepare(void) {
    FRAME;
    base_work();
    PLACE(4);
}

NOINLINE void hear(void) {
    FRAME;
    PLACE(5);
    CALL(MPI_Bcast, block, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    PLACE(6);
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    for (int step = 0; step < STEPS; step++) {
        prepare();
        process();
        hear();
    }
    end();
    return 0;
}
