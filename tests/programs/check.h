/* What all C and C++ programs here share: the start, the end, and checks that end a program that went wrong. */
#ifndef CHECK_H
#define CHECK_H

/* The C interface is what C++ programs use as well. */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1

#include <mpi.h>
#include <replay.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Not inlined, so that compiled programs have the call paths that their sources show. */
#define NOINLINE __attribute__((noinline)) static

static int rank, size;

/* How many MPI calls this process has made: a recorder must have as many. */
static long calls;

/* A result that is wrong ends the run. */
#define CHECK(right) check((right), #right, __FILE__, __LINE__)

/* An MPI call. That its result is looked at also keeps it from becoming a jump, which would take its caller off the
 * call path. */
#define OK(call) check_call((call), #call, __FILE__, __LINE__)

static inline void check(int right, const char *what, const char *file, int line) {
    if (!right) {
        fprintf(stderr, "%s:%d: rank %d: wrong: %s\n", file, line, rank, what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static inline void check_call(int error, const char *what, const char *file, int line) {
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    check(error == MPI_SUCCESS, what, file, line);
}

/* Starts MPI; the program needs this many ranks at least. */
static inline void start(int *argc, char ***argv, int least) {
    OK(MPI_Init(argc, argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size >= least);
}

/* The group of one rank of the world, to be freed. */
static inline MPI_Group group_of(int other) {
    MPI_Group world, group;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &other, &group));
    OK(MPI_Group_free(&world));
    return group;
}

static inline void finish(void) { OK(MPI_Finalize()); }

/* Where this process may (as root), it goes before other processes of the machine, which would delay it; and first of all
 * if it is late: ranks that wait for it may use all processors. */
static inline void go_first(int is_late) { (void)setpriority(PRIO_PROCESS, 0, is_late ? -20 : -15); }

#endif
