/* All sum up 30 numbers in each step, each number by itself.
 * FIRST ADVICE: size/many-collectives.
 * FIXED: all 30 at once. What that saves hangs on the network, and on ranks that share processors.
 * RANKS: 4; WHAT-IF: remove=sum_up, which leaves none of the sums */
#include "advice.h"

enum { STEPS = 40, SUMS = 30 };

WORK(relax)

NOINLINE void sum_up(double *in, double *out) {
    const int count = is_fixed ? 1 : SUMS, length = SUMS * scale / count;
    for (int k = 0; k < count; k++)
        OK(MPI_Allreduce(in + k * length, out + k * length, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    double *in = (double *)bytes(8 * SUMS), *out = (double *)bytes(8 * SUMS);
    for (int step = 0; step < STEPS; step++) {
        relax(10);
        for (int k = 0; k < SUMS * scale; k++) in[k] = step + k;
        sum_up(in, out);
        for (int k = 0; k < SUMS * scale; k++) CHECK(out[k] == size * (step + k));
    }
    free(in), free(out);
    end();
    return 0;
}
