/* Threads do half of their work in a critical section, one after the other.
 * FIRST ADVICE: omp/critical.
 * FIXED: only what they have found out is put together there. A step takes 20 milliseconds instead of 40.
 * RANKS: 2
 * FLAGS: -fopenmp
 */
#include "threads.h"

enum { STEPS = 25 };

WORK(relax)
WORK(update)

int main(int argc, char **argv) {
    begin_threads(argc, argv);
    for (int step = 0; step < STEPS; step++) {
        int updates = 0;
#pragma omp parallel
        {
            relax(10);
            if (is_fixed) update(10);
#pragma omp critical
            {
                if (!is_fixed) update(10);
                updates++;
            }
        }
        CHECK(updates == THREADS);
        sum_up(step);
    }
    end();
    return 0;
}
