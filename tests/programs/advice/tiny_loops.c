/* 2000 loops in a row have threads of their own each, though each takes a few microseconds only.
 * FIRST ADVICE: omp/fork-join.
 * FIXED: one team for all. What that saves hangs on the processors. This work is no sleep.
 * RANKS: 2
 * FLAGS: -fopenmp
 */
#include "threads.h"

enum { STEPS = 10, LOOPS = 2000, LENGTH = 300 };

WORK(relax)

static double values[LENGTH];

NOINLINE void loops_with_teams(void) {
    for (int loop = 0; loop < LOOPS; loop++) {
#pragma omp parallel for
        for (int k = 0; k < LENGTH; k++) values[k] = 0.5 * values[k] + 1;
    }
}

/* Each thread has the same part of all loops, so that nobody has to wait between them. */
NOINLINE void loops_of_a_team(void) {
#pragma omp parallel
    for (int loop = 0; loop < LOOPS; loop++) {
#pragma omp for nowait schedule(static)
        for (int k = 0; k < LENGTH; k++) values[k] = 0.5 * values[k] + 1;
    }
}

int main(int argc, char **argv) {
    begin_threads(argc, argv);
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel
        relax(20);
        if (is_fixed) loops_of_a_team();
        else loops_with_teams();
        CHECK(values[LENGTH - 1] > 1.99 && values[LENGTH - 1] <= 2);
        sum_up(step);
    }
    end();
    return 0;
}
