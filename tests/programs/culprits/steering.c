/* A root tells all others the parameters of a step, and gets their errors. RANKS: 4 */
#include "shape.h"

enum { ROOT = 1 };

static double parameters[8];

NOINLINE void choose(void) {
    FRAME;
    if (rank == ROOT) PLACE(1); /* ONLY: 1 */
}

NOINLINE void spread(void) {
    FRAME;
    CALL(MPI_Bcast, parameters, 8, MPI_DOUBLE, ROOT, MPI_COMM_WORLD);
    PLACE(2);
}

NOINLINE void simulate(void) {
    FRAME;
    base_work();
    PLACE(3);
}

NOINLINE void assess(void) {
    FRAME;
    double error = 1, all = 0;
    PLACE(4);
    CALL(MPI_Reduce, &error, &all, 1, MPI_DOUBLE, MPI_SUM, ROOT, MPI_COMM_WORLD);
    PLACE(5);
}

NOINLINE void optimise(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        choose();
        spread();
        PLACE(6);
        simulate();
        assess();
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    optimise();
    end();
    return 0;
}
