/* Shared by all shapes of communication: a rank is delayed at one of several places, and prints the truth about that.
 *
 *     SHAPE PLACE RANK MILLISECONDS sleep|busy
 *
 * delays this rank whenever it reaches PLACE(n) with this number: it sleeps, or uses its processor. At place 0 nobody is
 * delayed; the base work of all ranks takes so long instead. A comment behind a place says which ranks reach it, if not
 * all do: `ONLY: 0`, `NOT: 0`. `RANKS: n` says how many the shape is for.
 *
 * The rank that was delayed prints a line for each different way in which it reached the place, and one for all others:
 *
 *     DELAY place=main/solve line=30 before=main/solve/exchange/MPI_Wait after=main/solve/norm/MPI_Allreduce
 *         common=2 sites=2 names=2 last=solve/exchange visits=8 seconds=0.160612
 *     OTHERS seconds=0.486210
 *
 * place: the functions that are active, from main on; before, after: those at the calls of MPI before and after it.
 * common: how many of them, from main on, are active from the one call to the other. sites, names: how many the two calls
 * have in common by the sites at which functions are called, and by their names; this can be more, as in two calls of one
 * function at one site in a loop. last: the last callee of each function at the place that led into MPI, - if there was none.
 * OTHERS: the time of all other ranks in MPI. */
#ifndef SHAPE_H
#define SHAPE_H

#include "../check.h"

#include <string.h>
#include <time.h>

enum { STEPS = 8, DEEPEST = 16, WAYS = 64, LONGEST = 512 };

/* A call of a function. */
struct frame {
    const char *function;
    const void *site;
    unsigned number; /* of all calls */
    const char *last;
};

struct stack {
    int depth;
    struct frame frames[DEEPEST];
};

struct way {
    char text[LONGEST];
    int visits;
    double seconds;
};

static struct {
    int place, rank, is_busy;
    double seconds, base;
} asked;

static struct stack here, at_place, at_call;
static const char *last_call = "MPI_Init";
static struct way ways[WAYS];
static int way_count, place_line, place_visits;
static unsigned frame_count;
static double place_seconds, in_mpi;

/* The first statement of each function. It must do something at the end of the function, so that no call in there becomes a
 * jump, which would take the function off the call path. */
#define FRAME \
    int frame __attribute__((cleanup(leave_frame), unused)) = enter_frame(__func__, __builtin_return_address(0))

/* A call of MPI. */
#define CALL(function, ...) \
    do { \
        const double entered = before_call(#function); \
        OK(function(__VA_ARGS__)); \
        in_mpi += now() - entered; \
    } while (0)

/* A place at which a rank can be delayed. All of it is in the function that has the place. */
#define PLACE(number) \
    do { \
        if (asked.place == (number) && asked.rank == rank) { \
            const double begin = now(), end = processor_time() + asked.seconds; \
            if (!asked.is_busy) sleep_for(asked.seconds); \
            else \
                while (processor_time() < end) COMPUTE(); \
            after_place(__LINE__, now() - begin); \
        } \
    } while (0)

/* Some ten microseconds of work. */
#define COMPUTE() \
    do { \
        for (volatile int turn = 0; turn < 10000; turn++) { \
        } \
    } while (0)

static inline double seconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline double now(void) { return seconds_of(CLOCK_MONOTONIC); }

static inline double processor_time(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

static inline void sleep_for(double seconds) {
    struct timespec rest = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&rest, &rest) != 0) {
    }
}

/* The work of all ranks in each step. */
static inline void base_work(void) {
    const double end = processor_time() + asked.base;
    if (!asked.is_busy) sleep_for(asked.base);
    else
        while (processor_time() < end) COMPUTE();
}

static inline int enter_frame(const char *function, const void *site) {
    CHECK(here.depth < DEEPEST);
    here.frames[here.depth++] = (struct frame){function, site, frame_count++, NULL};
    return 0;
}

static inline void leave_frame(int *frame) {
    (void)frame;
    here.depth--;
}

static inline void after_place(int line, double seconds) {
    at_place = here;
    place_line = line;
    place_visits++;
    place_seconds += seconds;
}

/* Appends to a text of at most LONGEST letters. */
#define APPEND(text, ...) snprintf((text) + strlen(text), LONGEST - strlen(text), __VA_ARGS__)

static inline void append_path(char *text, const char *name, const struct stack *stack, const char *call) {
    APPEND(text, " %s=", name);
    for (int at = 0; at < stack->depth; at++) APPEND(text, "%s%s", at > 0 ? "/" : "", stack->frames[at].function);
    APPEND(text, "%s%s", call != NULL ? "/" : "", call != NULL ? call : "");
}

/* At the call behind the place all is known of this way. */
static inline void add_way(const char *call) {
    int common = 0, sites = 0, names = 0, at = 0;
    const struct frame *one = at_call.frames, *other = here.frames;
    const int least = at_call.depth < here.depth ? at_call.depth : here.depth;
    struct way way = {"", 0, 0};

    while (common < least && one[common].number == other[common].number) common++;
    while (names < least && strcmp(one[names].function, other[names].function) == 0) names++;
    while (sites < names && one[sites].site == other[sites].site) sites++;
    append_path(way.text, "place", &at_place, NULL);
    APPEND(way.text, " line=%d", place_line);
    append_path(way.text, "before", &at_call, last_call);
    append_path(way.text, "after", &here, call);
    APPEND(way.text, " common=%d sites=%d names=%d last=", common, sites, names);
    for (int frame = 0; frame < at_place.depth; frame++) {
        const char *last = at_place.frames[frame].last;
        APPEND(way.text, "%s%s", frame > 0 ? "/" : "", last != NULL ? last : "-");
    }
    while (at < way_count && strcmp(ways[at].text, way.text) != 0) at++;
    CHECK(at < WAYS && strlen(way.text) < LONGEST - 1);
    if (at == way_count) ways[way_count++] = way;
    ways[at].visits += place_visits;
    ways[at].seconds += place_seconds;
    place_visits = 0;
    place_seconds = 0;
}

/* Returns the time. */
static inline double before_call(const char *call) {
    if (place_visits > 0) add_way(call);
    for (int at = 0; at < here.depth; at++)
        here.frames[at].last = at + 1 < here.depth ? here.frames[at + 1].function : call;
    at_call = here;
    last_call = call;
    return now();
}

/* All ranks begin together. */
static inline void begin(int *argc, char ***argv, int least) {
    double milliseconds;
    go_first(0);
    start(argc, argv, least);
    CHECK(*argc == 5);
    asked.place = atoi((*argv)[1]);
    asked.rank = atoi((*argv)[2]);
    milliseconds = atof((*argv)[3]);
    asked.is_busy = strcmp((*argv)[4], "busy") == 0;
    CHECK(asked.is_busy || strcmp((*argv)[4], "sleep") == 0);
    CHECK(asked.rank >= 0 && asked.rank < size && milliseconds > 0);
    go_first(asked.place > 0 && rank == asked.rank);
    asked.seconds = milliseconds * 1e-3;
    asked.base = asked.place == 0 ? asked.seconds : 1e-3;
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    in_mpi = 0;
}

/* All ranks wait for the last one; then the delayed one prints the truth. */
static inline void end(void) {
    double *all, others = 0;
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    all = (double *)calloc((size_t)size, sizeof *all);
    CHECK(all != NULL);
    OK(MPI_Gather(&in_mpi, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, asked.rank, MPI_COMM_WORLD));
    if (rank == asked.rank && asked.place > 0) {
        for (int at = 0; at < way_count; at++)
            printf("DELAY%s visits=%d seconds=%.6f\n", ways[at].text, ways[at].visits, ways[at].seconds);
        for (int other = 0; other < size; other++) others += other != rank ? all[other] : 0;
        printf("OTHERS seconds=%.6f\n", others);
    }
    free(all);
    finish();
}

#endif
