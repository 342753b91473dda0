/* A line of ranks, each of which exchanges with its neighbours only, by collective operations among them. RANKS: 4 */
#include "shape.h"

static double out[2], in[2];

NOINLINE void exchange(MPI_Comm line) {
    FRAME;
    PLACE(1);
    CALL(MPI_Neighbor_alltoall, out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, line);
}

NOINLINE void inner(void) {
    FRAME;
    base_work();
    PLACE(2);
}

NOINLINE void outer(void) {
    FRAME;
    PLACE(3);
}

NOINLINE void solve(MPI_Comm line) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        inner();
        exchange(line);
        outer();
        PLACE(4);
    }
}

int main(int argc, char **argv) {
    FRAME;
    int ranks, is_periodic = 0;
    MPI_Comm line;
    begin(&argc, &argv, 2);
    ranks = size;
    CALL(MPI_Cart_create, MPI_COMM_WORLD, 1, &ranks, &is_periodic, 0, &line);
    solve(line);
    CALL(MPI_Comm_free, &line);
    end();
    return 0;
}
