/* The work of rank 0 grows by a tenth of what it was at first in each step; all sum up behind it.
 * FIRST ADVICE: work/growing.
 * FIXED: work is shared evenly again in each step. Of N ranks that saves 20 * (1 - 1 / N) * 19 milliseconds.
 * RANKS: 4 or more; WHAT-IF: balance=relax, which shares once for the whole run and so gains less: 0.558 s, not 0.495 s. */
#include "advice.h"

enum { STEPS = 20 };

WORK(relax)

NOINLINE void sum_up(double *in, double *out) {
    OK(MPI_Allreduce(in, out, 128 * scale, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    double *in = (double *)bytes(1024), *out = (double *)bytes(1024);
    for (int step = 0; step < STEPS; step++) {
        const double growth = 0.1 * step;
        relax(20 * (1 + (is_fixed ? growth / size : rank == 0 ? growth : 0)));
        in[0] = step;
        sum_up(in, out);
        CHECK(out[0] == size * step);
    }
    free(in), free(out);
    end();
    return 0;
}
