/* A communicator is duplicated for the sum of each step, and freed.
 * FIRST ADVICE: sync/communicators.
 * FIXED: duplicated once. What that saves hangs on the library, and on ranks that share processors.
 * RANKS: 8; WHAT-IF: remove=duplicate, without what freeing takes */
#include "advice.h"

enum { STEPS = 60 };

WORK(relax)

NOINLINE MPI_Comm duplicate(void) {
    MPI_Comm copy;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    return copy;
}

NOINLINE void sum_up(double *in, double *out, MPI_Comm communicator) {
    OK(MPI_Allreduce(in, out, scale, MPI_DOUBLE, MPI_SUM, communicator));
}

NOINLINE void release(MPI_Comm copy) { OK(MPI_Comm_free(&copy)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    MPI_Comm copy = duplicate();
    double *in = (double *)bytes(8), *out = (double *)bytes(8);
    for (int step = 0; step < STEPS; step++) {
        relax(5);
        if (!is_fixed) release(copy), copy = duplicate();
        in[0] = step;
        sum_up(in, out, copy);
        CHECK(out[0] == size * step);
    }
    release(copy);
    free(in), free(out);
    end();
    return 0;
}
