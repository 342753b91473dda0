/* Ends in a parallel region in a way that the argument names:
 *   exit    the first thread of each process exits in it
 *   crash   a thread of rank 1 dies of a signal in it
 *   fork    each thread forks in it; children end at once, or go on to the end of the body
 *   cancel  a thread cancels the region, if OMP_CANCELLATION says that it may
 *   lost    the recording is renamed before threads are made, which cannot be recorded then; more arguments are the names
 *   quiet   recording is off in it, and on again
 * RANKS: 2
 * FLAGS: -fopenmp
 */
#include "../check.h"

#include <omp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3 };

NOINLINE void work(void) {
#pragma omp parallel
    {
        usleep(1000);
#pragma omp barrier
#pragma omp critical
        usleep(1000);
    }
}

NOINLINE void exit_inside(void) {
#pragma omp parallel
    {
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            usleep(10000);
            exit(7);
        }
#pragma omp critical
        usleep(30000000);
    }
}

NOINLINE void crash_inside(void) {
#pragma omp parallel
    {
#pragma omp barrier
        if (rank == 1 && omp_get_thread_num() == 1) raise(SIGSEGV);
#pragma omp critical
        usleep(30000000);
    }
}

NOINLINE void fork_inside(void) {
#pragma omp parallel
    {
#pragma omp critical
        {
            const pid_t child = fork();
            if (child == 0) _exit(3);
            int status;
            waitpid(child, &status, 0);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
        }
    }
}

NOINLINE void cancel_inside(void) {
    int cancelled = 0;
#pragma omp parallel
    {
        if (omp_get_thread_num() == 1) {
#pragma omp atomic
            cancelled++;
#pragma omp cancel parallel
        }
#pragma omp barrier
        usleep(1000);
    }
    CHECK(cancelled == 1);
}

NOINLINE void pause_inside(void) {
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp master
        REPLAY_RECORDING_OFF();
#pragma omp barrier
#pragma omp critical
        usleep(1000);
#pragma omp barrier
#pragma omp master
        REPLAY_RECORDING_ON();
#pragma omp barrier
#pragma omp critical
        usleep(1000);
    }
    REPLAY_RECORDING_OFF();
    work();
    REPLAY_RECORDING_ON();
}

int main(int argc, char **argv) {
    const char *ending = argc > 1 ? argv[1] : "";
    int provided, sum;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    omp_set_dynamic(0);
    omp_set_num_threads(THREADS);
    if (strcmp(ending, "lost") == 0) {
        if (rank == 0) CHECK(rename(argv[2], argv[3]) == 0);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    work();
    if (strcmp(ending, "exit") == 0) exit_inside();
    if (strcmp(ending, "crash") == 0) crash_inside();
    if (strcmp(ending, "fork") == 0) fork_inside();
    if (strcmp(ending, "cancel") == 0) cancel_inside();
    if (strcmp(ending, "quiet") == 0) pause_inside();
    work();
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == size * (size - 1) / 2);
    if (rank == 0) printf("%d ranks\n", size);
    finish();
    return 0;
}
