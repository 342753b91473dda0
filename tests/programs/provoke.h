/* What programs that provoke a wait state share.
 *
 * The wait is to be as long as the delay to well under 1 %, on a machine with fewer cores than ranks and with an MPI
 * library that never yields: there a rank may get its core some milliseconds late. So delays are long, and sleep; ranks
 * that have no part in it sleep as well; and the others set out at an instant of the clock which they have agreed on:
 * leaving a barrier, ranks that share a core may be milliseconds apart. Where they may (as root), they go before other
 * processes of the machine. */
#ifndef PROVOKE_H
#define PROVOKE_H

#include "check.h"

#include <time.h>

#define MILLISECONDS 1000000LL
#define DELAY_TIME (600 * MILLISECONDS)
#define MEETING_TIME (50 * MILLISECONDS)
#define HEAD_START (MILLISECONDS / 4)

/* The clock that all processes of a machine share, in nanoseconds. */
static inline long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 * MILLISECONDS + time.tv_nsec;
}

static inline void sleep_until(long long instant) {
    struct timespec time;
    time.tv_sec = instant / (1000 * MILLISECONDS);
    time.tv_nsec = instant % (1000 * MILLISECONDS);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {
    }
}

/* All ranks set out together: the late one first, which goes to sleep at once and needs its core no longer. */
static inline void meet(int late) {
    long long instant;
    go_first(rank == late);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    instant = now() + MEETING_TIME;
    OK(MPI_Bcast(&instant, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD));
    CHECK(now() < instant);
    sleep_until(rank == late ? instant : instant + HEAD_START);
}

/* A rank that has no part in it leaves its core to the others meanwhile. */
static inline void stand_aside(void) { sleep_until(now() + DELAY_TIME); }

/* The delay. A macro, so that the region has the line where the program says it. */
#define DELAY() \
    do { \
        REPLAY_REGION_BEGIN("delay"); \
        sleep_until(now() + DELAY_TIME); \
        REPLAY_REGION_END("delay"); \
    } while (0)

#endif
