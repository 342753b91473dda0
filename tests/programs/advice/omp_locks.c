/* Threads update a cell of their own each, and one lock keeps all cells.
 * FIRST ADVICE: omp/lock.
 * FIXED: a lock for each cell. A step takes 20 milliseconds instead of 40.
 * RANKS: 2
 * FLAGS: -fopenmp
 */
#include "threads.h"

enum { STEPS = 25 };

WORK(relax)
WORK(update)

static omp_lock_t locks[THREADS];

NOINLINE void update_cell(int cell) {
    omp_lock_t *lock = &locks[is_fixed ? cell : 0];
    omp_set_lock(lock);
    update(10);
    omp_unset_lock(lock);
}

int main(int argc, char **argv) {
    begin_threads(argc, argv);
    for (int k = 0; k < THREADS; k++) omp_init_lock(&locks[k]);
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel
        {
            relax(10);
            update_cell(omp_get_thread_num());
        }
        sum_up(step);
    }
    for (int k = 0; k < THREADS; k++) omp_destroy_lock(&locks[k]);
    end();
    return 0;
}
