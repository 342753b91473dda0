/* A sum is made on rank 0, which sends it to all.
 * FIRST ADVICE: size/reduce-bcast.
 * FIXED: MPI_Allreduce. What that saves hangs on the network, and on ranks that share processors.
 * RANKS: 8; WHAT-IF: remove=MPI_Bcast, which leaves half of it */
#include "advice.h"

enum { STEPS = 60, COUNT = 512 };

WORK(relax)

NOINLINE void sum_at_root(double *in, double *out) {
    OK(MPI_Reduce(in, out, COUNT * scale, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
}

NOINLINE void tell_all(double *out) { OK(MPI_Bcast(out, COUNT * scale, MPI_DOUBLE, 0, MPI_COMM_WORLD)); }

NOINLINE void sum_up(double *in, double *out) {
    OK(MPI_Allreduce(in, out, COUNT * scale, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    double *in = (double *)bytes(8 * COUNT), *out = (double *)bytes(8 * COUNT);
    for (int step = 0; step < STEPS; step++) {
        relax(5);
        in[0] = step;
        if (is_fixed) sum_up(in, out);
        else sum_at_root(in, out), tell_all(out);
        CHECK(out[0] == size * step);
    }
    free(in), free(out);
    end();
    return 0;
}
