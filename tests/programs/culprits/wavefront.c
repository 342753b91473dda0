/* Wavefronts: a sweep from the first rank to the last one, then one back, as in solvers by lines. RANKS: 4 */
#include "shape.h"

enum { CELLS = 64 };

static double line[CELLS];

NOINLINE void get(int from) {
    FRAME;
    if (from < 0 || from >= size) return;
    CALL(MPI_Recv, line, CELLS, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

NOINLINE void put(int to) {
    FRAME;
    if (to < 0 || to >= size) return;
    CALL(MPI_Send, line, CELLS, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
}

NOINLINE void eliminate(void) {
    FRAME;
    PLACE(1);
}

NOINLINE void forth(void) {
    FRAME;
    get(rank - 1);
    eliminate();
    put(rank + 1);
    PLACE(2);
}

NOINLINE void back(void) {
    FRAME;
    get(rank + 1);
    PLACE(3);
    put(rank - 1);
}

NOINLINE void coefficients(void) {
    FRAME;
    base_work();
    PLACE(4);
}

NOINLINE void solve(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        coefficients();
        forth();
        PLACE(5);
        back();
        PLACE(6);
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    solve();
    end();
    return 0;
}
