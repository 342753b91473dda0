/* What the programs with one defect each share:  PROGRAM bad|fixed [SIZE]
 *
 * Both versions do the same work and send the same data; `fixed` has the change that the advice for `bad` asks for. SIZE
 * is a factor for the length of messages. Work sleeps, so that ranks which share a core do not slow each other, in
 * functions with names of their own, which are regions as well.
 *
 * Each rank prints when it left MPI_Init and when it entered MPI_Finalize, in seconds of the machine's clock: the run time
 * is the last of the latter less the first of the former, as docs/what-if.md has it. */
#ifndef ADVICE_H
#define ADVICE_H

#define _GNU_SOURCE /* RTLD_NEXT */

#include "../check.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static int is_fixed;
static int scale = 1;
static double began;

/* MPICH declares arrays of statuses so that the compiler takes MPI_STATUSES_IGNORE for an array that is too short. */
static MPI_Status *volatile no_statuses __attribute__((unused)) = MPI_STATUSES_IGNORE;

static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline void pass(double milliseconds) {
    const long nanoseconds = (long)(milliseconds * 1e6);
    struct timespec left = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    while (nanosleep(&left, &left) && errno == EINTR) {}
}

/* A function that works so many milliseconds. */
#define WORK(name) \
    NOINLINE void name(double milliseconds) { \
        REPLAY_REGION_BEGIN(#name); \
        pass(milliseconds); \
        REPLAY_REGION_END(#name); \
    }

#ifdef MPICH_VERSION
/* MPICH waits without ever giving up its processor: where ranks are more than processors a barrier takes a tenth of a second.
 * This function of UCX, which it calls meanwhile, is found here first. Open MPI has mpi_yield_when_idle for that. */
unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
    static unsigned (*progress)(void *);
    unsigned events;
    if (progress == NULL) *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    events = progress(worker);
    if (events == 0) (void)sched_yield();
    return events;
}
#endif

/* The arguments, before MPI starts: some programs set what MPI reads at its start. */
static inline void choose(int argc, char **argv) {
    if (argc < 2 || (strcmp(argv[1], "bad") && strcmp(argv[1], "fixed")) || (argc > 2 && atoi(argv[2]) < 1)) {
        fprintf(stderr, "usage: %s bad|fixed [SIZE]\n", argv[0]);
        exit(2);
    }
    is_fixed = !strcmp(argv[1], "fixed");
    if (argc > 2) scale = atoi(argv[2]);
    /* A sleep is over when it should be, and not up to 50 microseconds later. */
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

/* Starts MPI; the program needs this many ranks at least. */
static inline void begin(int argc, char **argv, int least) {
    choose(argc, argv);
    start(&argc, &argv, least);
    began = now();
}

static inline void end(void) {
    const double ended = now();
    finish();
    printf("%.6f %.6f\n", began, ended);
}

/* So many bytes, times SIZE. */
static inline char *bytes(long count) {
    char *memory = calloc((size_t)(count * scale), 1);
    CHECK(memory != NULL);
    return memory;
}

#endif
