/* Three ranks of four compute, the others filter, and then all sum up; filtering takes longer, though fewer do it.
 * FIRST ADVICE: work/few-ranks, with the split that makes both groups equally slow: 5:3 of 8 ranks.
 * FIXED: that split. A step takes 30 milliseconds instead of 45, with 8 ranks or a multiple of them.
 * RANKS: 8, 16; WHAT-IF: cpu=0.6666667@filter+cpu=1.2@compute */
#include "advice.h"

enum { STEPS = 20 };

WORK(compute)
WORK(filter)

NOINLINE void sum_up(double *in, double *out) {
    OK(MPI_Allreduce(in, out, 128 * scale, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 8);
    const int filters = size * (is_fixed ? 3 : 2) / 8, computers = size - filters;
    double *in = (double *)bytes(1024), *out = (double *)bytes(1024);
    for (int step = 0; step < STEPS; step++) {
        if (rank < computers) compute(150.0 / computers * size / 8);
        else filter(90.0 / filters * size / 8);
        in[0] = step;
        sum_up(in, out);
        CHECK(out[0] == size * step);
    }
    free(in), free(out);
    end();
    return 0;
}
