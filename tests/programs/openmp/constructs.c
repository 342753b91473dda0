/* All constructs of OpenMP that are recorded, and some that are not, in teams of three threads.
 * RANKS: 2
 * FLAGS: -fopenmp
 */
#include "../expect.h"

#include <omp.h>
#include <string.h>

enum { THREADS = 3, STEPS = 3, ITERATIONS = 7, TASKS = 10 };

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;

/* Members of teams that are to be recorded: one of each team forks it. */
static void fork_and_join(int forks, int members) {
    EXPECT_MANY(ThreadFork, forks);
    EXPECT_MANY(ThreadJoin, forks);
    EXPECT_MANY(ThreadTeamBegin, members);
    EXPECT_MANY(ThreadTeamEnd, members);
}

static void join(void) { fork_and_join(omp_get_thread_num() == 0, 1); }

static void hold(int locks) {
    EXPECT_MANY(ThreadAcquireLock, locks);
    EXPECT_MANY(ThreadReleaseLock, locks);
}

static void run_task(void) {
    EXPECT(ThreadTaskCreate);
    EXPECT(ThreadTaskSwitch);
    EXPECT(ThreadTaskComplete);
}

NOINLINE void barriers(void) {
#pragma omp parallel
    {
        join();
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (int k = 0; k < ITERATIONS; k++) CHECK(omp_get_num_threads() == THREADS);
#pragma omp for schedule(static)
        for (int k = 0; k < ITERATIONS; k++) CHECK(omp_get_num_threads() == THREADS);
#pragma omp sections
        {
            CHECK(omp_get_num_threads() == THREADS);
#pragma omp section
            CHECK(omp_get_num_threads() == THREADS);
        }
#pragma omp master
        {
            int ranks;
            OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
        }
#pragma omp single
        CHECK(omp_get_num_threads() == THREADS);
    }
}

NOINLINE void combined(void) {
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < THREADS; k++) CHECK(omp_get_num_threads() == THREADS);
#pragma omp parallel for schedule(guided, 2)
    for (int k = 0; k < THREADS; k++) CHECK(omp_get_num_threads() == THREADS);
#pragma omp parallel for schedule(runtime)
    for (int k = 0; k < THREADS; k++) CHECK(omp_get_num_threads() == THREADS);
#pragma omp parallel for ordered schedule(static)
    for (int k = 0; k < THREADS; k++) {
#pragma omp ordered
        CHECK(omp_get_num_threads() == THREADS);
    }
#pragma omp parallel sections
    {
        CHECK(omp_get_num_threads() == THREADS);
#pragma omp section
        CHECK(omp_get_num_threads() == THREADS);
    }
    fork_and_join(5, 5 * THREADS);
}

NOINLINE void locks(void) {
    int sum = 0;
#pragma omp parallel
    {
        join();
#pragma omp critical
        sum++, hold(1);
#pragma omp critical(other)
        {
#pragma omp critical
            sum++, hold(2);
        }
        omp_set_lock(&lock);
        sum++, hold(1);
        omp_unset_lock(&lock);
        while (!omp_test_lock(&lock)) continue;
        sum++, hold(1);
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest_lock);
        CHECK(omp_test_nest_lock(&nest_lock) == 2);
        sum++, hold(2);
        omp_unset_nest_lock(&nest_lock);
        omp_unset_nest_lock(&nest_lock);
    }
    CHECK(sum == 5 * THREADS);
}

/* An operation that no processor does at once. */
NOINLINE void atomic(void) {
    long double sum = 0;
#pragma omp parallel
    {
        join();
#pragma omp atomic
        sum += 1;
    }
    CHECK(sum == THREADS);
}

/* Nested regions, and barriers in them, belong to no team that is recorded. */
NOINLINE void nested(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        join();
#pragma omp parallel num_threads(2)
        {
            CHECK(omp_get_level() == 2);
#pragma omp barrier
        }
#pragma omp barrier
    }
    omp_set_max_active_levels(1);
#pragma omp parallel if (0)
    join();
}

static long recursive(int depth) {
    long left = 0, right = 0;
    run_task();
    if (depth == 0) return 1;
#pragma omp task shared(left) firstprivate(depth)
    left = recursive(depth - 1);
#pragma omp task shared(right) firstprivate(depth) if (depth > 1)
    right = recursive(depth - 1);
#pragma omp taskwait
    return left + right;
}

NOINLINE void make_tasks(void) {
    long sum = 0;
    char text[200];
    memset(text, 'x', sizeof text);
#pragma omp parallel
    {
        join();
#pragma omp single
        {
#pragma omp task shared(sum)
            sum = recursive(3);
            for (int k = 0; k < TASKS; k++) {
#pragma omp task firstprivate(text, k)
                {
                    run_task();
                    CHECK(text[0] == 'x' && text[sizeof text - 1] == 'x' && k < TASKS);
                }
            }
#pragma omp taskloop num_tasks(TASKS)
            for (int k = 0; k < TASKS; k++) run_task();
        }
    }
    CHECK(sum == 8);
}

int main(int argc, char **argv) {
    int provided;
    omp_set_dynamic(0);
    omp_set_num_threads(THREADS);
    /* Nothing is recorded before MPI is started. */
#pragma omp parallel
#pragma omp critical
    CHECK(omp_get_num_threads() == THREADS);
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(provided >= MPI_THREAD_FUNNELED);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
    for (int step = 0; step < STEPS; step++) {
        barriers();
        combined();
        locks();
        atomic();
        nested();
        make_tasks();
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest_lock);
    finish_expecting();
    return 0;
}
