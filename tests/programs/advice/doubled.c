/* A barrier directly ahead of a sum that synchronises anyway.
 * FIRST ADVICE: sync/barrier-next-to.
 * FIXED: no barrier. What that saves hangs on the network, and on ranks that share processors.
 * RANKS: 8; WHAT-IF: remove=MPI_Barrier */
#include "advice.h"

enum { STEPS = 80 };

WORK(relax)

NOINLINE void come_together(void) { OK(MPI_Barrier(MPI_COMM_WORLD)); }

NOINLINE void sum_up(double *in, double *out) {
    OK(MPI_Allreduce(in, out, scale, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    double *in = (double *)bytes(8), *out = (double *)bytes(8);
    for (int step = 0; step < STEPS; step++) {
        relax(5);
        if (!is_fixed) come_together();
        in[0] = step;
        sum_up(in, out);
        CHECK(out[0] == size * step);
    }
    free(in), free(out);
    end();
    return 0;
}
