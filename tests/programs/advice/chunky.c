/* A loop of twelve iterations, each longer than the one before, is divided into three chunks.
 * FIRST ADVICE: omp/imbalance.
 * FIXED: schedule(dynamic). A step takes 30 milliseconds instead of 42: 3 + 6 + 9 + 12, not 9 + 10 + 11 + 12.
 * RANKS: 2
 * FLAGS: -fopenmp
 */
#include "threads.h"

enum { STEPS = 20, ITERATIONS = 12 };

WORK(relax_row)

NOINLINE void relax_in_chunks(void) {
#pragma omp parallel for schedule(static)
    for (int row = 1; row <= ITERATIONS; row++) relax_row(row);
}

NOINLINE void relax_one_by_one(void) {
#pragma omp parallel for schedule(dynamic)
    for (int row = 1; row <= ITERATIONS; row++) relax_row(row);
}

int main(int argc, char **argv) {
    begin_threads(argc, argv);
    for (int step = 0; step < STEPS; step++) {
        if (is_fixed) relax_one_by_one();
        else relax_in_chunks();
        sum_up(step);
    }
    end();
    return 0;
}
