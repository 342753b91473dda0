/* A sum is made on rank 0, which sends each rank its part of it.
 * FIRST ADVICE: size/reduce-scatter.
 * FIXED: MPI_Reduce_scatter_block. What that saves hangs on the network, and on ranks that share processors.
 * RANKS: 8; WHAT-IF: remove=MPI_Scatter, which leaves half of it */
#include "advice.h"

enum { STEPS = 60, COUNT = 512 };

WORK(relax)

NOINLINE void sum_at_root(double *in, double *all) {
    OK(MPI_Reduce(in, all, COUNT * scale * size, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
}

NOINLINE void tell_parts(double *all, double *part) {
    const int count = COUNT * scale;
    OK(MPI_Scatter(all, count, MPI_DOUBLE, part, count, MPI_DOUBLE, 0, MPI_COMM_WORLD));
}

NOINLINE void sum_up_parts(double *in, double *part) {
    OK(MPI_Reduce_scatter_block(in, part, COUNT * scale, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    double *in = (double *)bytes(8L * COUNT * size), *all = (double *)bytes(8L * COUNT * size), *part = (double *)bytes(8 * COUNT);
    for (int step = 0; step < STEPS; step++) {
        relax(5);
        for (int to = 0; to < size; to++) in[COUNT * scale * to] = step + to;
        if (is_fixed) sum_up_parts(in, part);
        else sum_at_root(in, all), tell_parts(all, part);
        CHECK(part[0] == size * (step + rank));
    }
    free(in), free(all), free(part);
    end();
    return 0;
}
