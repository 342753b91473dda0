/* Threads wait for one another in each of the ways that are recorded: in regions called `delay` others sleep meanwhile.
 * RANKS: 2
 * FLAGS: -fopenmp
 */
#include "../check.h"

#include <omp.h>
#include <unistd.h>

enum { THREADS = 3, DELAY = 100000 };

static omp_lock_t lock;

/* Not to be forgotten behind a region: the call that forks would be a jump, which takes its function off the call path. */
static volatile int done;

NOINLINE void delay(void) {
    REPLAY_REGION_BEGIN("delay");
    usleep(DELAY);
    REPLAY_REGION_END("delay");
}

/* Two threads wait for the third one at the end of the region. */
NOINLINE void end_late(void) {
#pragma omp parallel
    if (omp_get_thread_num() == 1) delay();
    done++;
}

/* The same at a barrier in it. */
NOINLINE void come_late(void) {
    int sum = 0;
#pragma omp parallel
    {
        if (omp_get_thread_num() == 2) delay();
#pragma omp barrier
#pragma omp atomic
        sum++;
    }
    CHECK(sum == THREADS);
}

/* One thread waits for the first one, and one for both. */
NOINLINE void take_turns(void) {
#pragma omp parallel
#pragma omp critical
    delay();
    done++;
}

/* The same with a lock. */
NOINLINE void hold_long(void) {
#pragma omp parallel
    {
        omp_set_lock(&lock);
        delay();
        omp_unset_lock(&lock);
    }
    done++;
}

/* Who is at the end of the region, and has a task, does not wait. */
NOINLINE void run_tasks(void) {
#pragma omp parallel
    if (omp_get_thread_num() == 0) {
        for (int k = 0; k < THREADS; k++) {
#pragma omp task
            delay();
        }
    }
    done++;
}

/* Nobody but the first thread has something to do. */
NOINLINE void work_alone(void) {
    delay();
    done++;
}

int main(int argc, char **argv) {
    int provided;
    omp_set_dynamic(0);
    omp_set_num_threads(THREADS);
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    omp_init_lock(&lock);
    /* Threads are made here. */
#pragma omp parallel
    CHECK(omp_get_num_threads() == THREADS);
    end_late();
    come_late();
    take_turns();
    hold_long();
    run_tasks();
    work_alone();
    omp_destroy_lock(&lock);
    if (rank == 0) printf("%d threads\n", THREADS);
    finish();
    return 0;
}
