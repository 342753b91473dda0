/* Ranks work equally long, one after the other; then all need the sum.
 * FIRST ADVICE: p2p/pipeline.
 * FIXED: the same work in four parts, each passed on as soon as it is done. Of N ranks a step takes 128 (N + 3) / 4 N
 * milliseconds instead of 128.
 * RANKS: 4, 8; WHAT-IF: none divides work into parts */
#include "advice.h"

enum { STEPS = 8, LENGTH = 1024 };

WORK(sweep)

NOINLINE void take(char *in) {
    OK(MPI_Recv(in, LENGTH * scale, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

NOINLINE void pass_on(char *out) { OK(MPI_Send(out, LENGTH * scale, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD)); }

NOINLINE void sum_up(double *in, double *out) { OK(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    const int parts = is_fixed ? 4 : 1;
    char *data = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        double mine = step, all;
        for (int part = 0; part < parts; part++) {
            if (rank > 0) take(data);
            else data[0] = (char)(step + part);
            CHECK(data[0] == (char)(step + part));
            sweep(128.0 / size / parts);
            if (rank + 1 < size) pass_on(data);
        }
        sum_up(&mine, &all);
        CHECK(all == size * step);
    }
    free(data);
    end();
    return 0;
}
