/*
 * Time off the processor: ranks that compute and wait, of which it is known how long they were not running.
 *
 *     off_cpu crowded|alone|beside|shared|often|forbidden [THREADS]
 *
 * crowded: two ranks, and a process of each that does nothing but compute, share one processor. Rank 0 computes, in the region
 * `work`, until it has had 0.3 s of processor time; rank 1 sleeps as long in the region `rest`, where it is blocked. alone: without
 * these processes, on a processor for each rank. beside: so, both compute, and rank 0 has such a process on its processor. shared: all
 * compute, and if there are more of them than processors, some share one. often: as alone, but rank 1 sleeps for 3,000 short times.
 * forbidden: as alone, where the system refuses perf_event_open.
 *
 * Each rank prints for its regions, by the system's own account: the time, that on a processor, and how often it has blocked, first
 * inside of the region, then of all that happened with its events: a time slice of others may be between. THREADS are as many threads
 * more that sleep for 10 ms, and are not in MPI.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"

static double seconds(clockid_t clock) {
    struct timespec time;
    CHECK(clock_gettime(clock, &time) == 0);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_for(double wanted) {
    struct timespec time = {(time_t)wanted, (long)(1e9 * (wanted - (double)(time_t)wanted))};
    CHECK(nanosleep(&time, NULL) == 0);
}

static void sleep_often(double unused) {
    (void)unused;
    for (int left = 3000; left > 0; left--) sleep_for(1e-6);
}

/* From now on the system refuses perf_event_open, as in many containers. */
static void forbid(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void compute(double wanted) {
    double end = seconds(CLOCK_THREAD_CPUTIME_ID) + wanted;
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < end);
}

/* Starts a process that takes the processor away again and again, until this one ends. */
static pid_t compete(void) {
    pid_t parent = getpid(), child = fork();
    CHECK(child >= 0);
    if (child > 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent);
    _exit(0);
}

static void *sleep_a_little(void *unused) {
    REPLAY_REGION_BEGIN("thread");
    sleep_for(0.01);
    REPLAY_REGION_END("thread");
    return unused;
}

typedef struct {
    double wall, processor;
    long blockings;
} Account;

static Account account(void) {
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return (Account){seconds(CLOCK_MONOTONIC), seconds(CLOCK_THREAD_CPUTIME_ID), usage.ru_nvcsw};
}

NOINLINE void region(const char *name, void (*what)(double), double wanted) {
    Account of[4] = {account()};
    REPLAY_REGION_BEGIN(name);
    of[1] = account();
    what(wanted);
    of[2] = account();
    REPLAY_REGION_END(name);
    of[3] = account();
    printf("%d %s", rank, name);
    for (int begin = 1; begin >= 0; begin--) {
        Account *from = of + begin, *to = of + 3 - begin;
        printf(" %.9f %.9f %ld", to->wall - from->wall, to->processor - from->processor, to->blockings - from->blockings);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "forbidden") == 0) forbid();
    start(&argc, &argv, 2);
    CHECK(argc >= 2);
    int is_crowded = strcmp(argv[1], "crowded") == 0;
    cpu_set_t own;
    CHECK(sched_getaffinity(0, sizeof own, &own) == 0);
    int skip = is_crowded ? 0 : rank % CPU_COUNT(&own), processor = 0;
    for (processor = 0; !CPU_ISSET(processor, &own) || skip-- > 0; processor++);
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    CHECK(sched_setaffinity(0, sizeof own, &own) == 0);
    int is_beside = strcmp(argv[1], "beside") == 0;
    pid_t other = is_crowded || (is_beside && rank == 0) ? compete() : 0;
    if (!is_crowded) go_first(0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    int computes = rank == 0 || is_beside || strcmp(argv[1], "shared") == 0;
    region("work", computes ? compute : sleep_for, computes ? 0.3 : 0.001);
    void (*rest)(double) = strcmp(argv[1], "often") == 0 ? sleep_often : sleep_for;
    region("rest", rank == 1 ? rest : compute, rank == 1 ? 0.3 : 0.001);
    if (other > 0) {
        CHECK(kill(other, SIGKILL) == 0);
        CHECK(waitpid(other, NULL, 0) == other);
    }
    for (int left = argc > 2 ? atoi(argv[2]) : 0; left > 0; left--) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, sleep_a_little, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    finish();
    return 0;
}
