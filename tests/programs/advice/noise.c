/* One of 499 visits of relax, on changing ranks, takes 30 times as long as the others; all sum up behind each.
 * FIRST ADVICE: work/noise.
 * FIXED: no such visits. Of 8 ranks with 200 visits each 3 are long, of 16 6: so many times 58 milliseconds are saved.
 * RANKS: 8, 16; WHAT-IF: quiet=relax */
#include "advice.h"

enum { STEPS = 200 };

WORK(relax)

NOINLINE void sum_up(double *in, double *out) {
    OK(MPI_Allreduce(in, out, scale, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    double *in = (double *)bytes(8), *out = (double *)bytes(8);
    for (int step = 0; step < STEPS; step++) {
        relax(!is_fixed && (step * size + rank) % 499 == 250 ? 60 : 2);
        in[0] = step;
        sum_up(in, out);
        CHECK(out[0] == size * step);
    }
    free(in), free(out);
    end();
    return 0;
}
