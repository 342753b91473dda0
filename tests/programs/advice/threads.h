/* Ranks with three threads each; only the first one calls MPI, to sum up. */
#ifndef THREADS_H
#define THREADS_H

#include "advice.h"

#include <omp.h>

enum { THREADS = 3 };

static inline void begin_threads(int argc, char **argv) {
    int provided;
    choose(argc, argv);
    omp_set_num_threads(THREADS);
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    CHECK(provided >= MPI_THREAD_FUNNELED);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    began = now();
}

NOINLINE void sum_up(int step) {
    double sum, mine = step;
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == size * step);
}

#endif
