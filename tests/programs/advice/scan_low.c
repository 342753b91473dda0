/* The lower half of the ranks has twice the work of the others, which wait for it in MPI_Scan.
 * FIRST ADVICE: work/static.
 * FIXED: the same work, even. A step takes 30 milliseconds instead of 40.
 * RANKS: 4; WHAT-IF: balance=relax */
#include "advice.h"

enum { STEPS = 25 };

WORK(relax)

NOINLINE void sum_below(double *in, double *out) {
    OK(MPI_Scan(in, out, 128 * scale, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    CHECK(size % 2 == 0);
    double *in = (double *)bytes(1024), *out = (double *)bytes(1024);
    for (int step = 0; step < STEPS; step++) {
        relax(is_fixed ? 30 : rank < size / 2 ? 40 : 20);
        in[0] = step;
        sum_below(in, out);
        CHECK(out[0] == step * (rank + 1));
    }
    free(in), free(out);
    end();
    return 0;
}
