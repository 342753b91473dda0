/* A root scatters parts and gathers them when they are done. RANKS: 3 */
#include "shape.h"

enum { CELLS = 16, LARGEST = 64 };

static double all[CELLS * LARGEST], part[CELLS];

NOINLINE void read_input(void) {
    FRAME;
    if (rank == 0) PLACE(1); /* ONLY: 0 */
}

NOINLINE void scatter(void) {
    FRAME;
    PLACE(2);
    CALL(MPI_Scatter, all, CELLS, MPI_DOUBLE, part, CELLS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

NOINLINE void transform(void) {
    FRAME;
    base_work();
    PLACE(3);
}

NOINLINE void gather(void) {
    FRAME;
    CALL(MPI_Gather, part, CELLS, MPI_DOUBLE, all, CELLS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    PLACE(4);
}

NOINLINE void write_output(void) {
    FRAME;
    if (rank == 0) PLACE(5); /* ONLY: 0 */
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    CHECK(size <= LARGEST);
    for (int step = 0; step < STEPS; step++) {
        read_input();
        scatter();
        PLACE(6);
        transform();
        gather();
        write_output();
    }
    end();
    return 0;
}
