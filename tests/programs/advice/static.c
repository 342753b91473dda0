/* Rank 2 relaxes twice as long as the others in each step, and all sum up behind that.
 * FIRST ADVICE: work/static, rank 2.
 * FIXED: the same work, even. Of N ranks a step takes 25 (N + 1) / N milliseconds instead of 50.
 * RANKS: 4 or more; WHAT-IF: balance=relax */
#include "advice.h"

enum { STEPS = 20 };

WORK(relax)

NOINLINE void sum_up(double *in, double *out) {
    OK(MPI_Allreduce(in, out, 128 * scale, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 4);
    double *in = (double *)bytes(1024), *out = (double *)bytes(1024);
    for (int step = 0; step < STEPS; step++) {
        relax(is_fixed ? 25.0 * (size + 1) / size : rank == 2 ? 50 : 25);
        in[0] = step + rank;
        sum_up(in, out);
        CHECK(out[0] == size * step + size * (size - 1) / 2);
    }
    free(in), free(out);
    end();
    return 0;
}
