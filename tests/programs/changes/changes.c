/* Programs before and after a change: changes KIND A B, where A and B are milliseconds of work. Work sleeps, so that processes
   that share a core do not slow each other. Each rank prints how long it was to sleep, and how much longer it has slept. */
#include "replay.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size;
static char in[64], out[64];
static double wanted, slept;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void pass(double milliseconds) {
    long nanoseconds = (long)(milliseconds * 1e6);
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    const double begin = now();
    nanosleep(&time, 0);
    slept += now() - begin;
    wanted += 1e-3 * milliseconds;
}

static void work(double milliseconds) {
    REPLAY_REGION_BEGIN("work");
    pass(milliseconds);
    REPLAY_REGION_END("work");
}

static void receive(int from) {
    MPI_Recv(in, sizeof in, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to) { MPI_Send(out, sizeof out, MPI_BYTE, to, 0, MPI_COMM_WORLD); }

/* One after the other works; each message is held back for some milliseconds. */
static void chain(double first, double others, double held) {
    if (rank > 0) {
        receive(rank - 1);
        if (held > 0) pass(held);
    }
    work(rank == 0 ? first : others);
    if (rank + 1 < size) send(rank + 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(double first, double others) {
    double mine = rank, sum;
    work(rank == 0 ? first : others);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Rank 1 comes late for every second message; rank 0 waits for it, or not. */
static void late_receiver(int step, int is_synchronous) {
    if (rank == 0) {
        work(30);
        if (is_synchronous) MPI_Ssend(out, sizeof out, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else send(1);
        work(step % 2 ? 30 : 6);
    } else {
        work(step % 2 ? 72 : 36);
        receive(0);
    }
}

/* Borders go round before or after the work. */
static void ring(int step, int is_early, double slow, double fast) {
    MPI_Request request;
    MPI_Irecv(in, sizeof in, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
    double milliseconds = rank == step % size ? slow : fast;
    if (!is_early) work(milliseconds);
    send((rank + 1) % size);
    if (is_early) work(milliseconds);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A Jacobi solver of a strip: each rank sends its borders to its neighbours when it has relaxed all rows and, one rank in turn,
   looked for the largest change; or when it has relaxed the borders. */
static void jacobi(int step, int is_early, double relax, double inspect) {
    static char from_below[64], from_above[64];
    MPI_Request requests[4];
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    const double rest = 0.9 * relax + (rank == step % size ? inspect : 0);
    work(0.1 * relax);
    if (!is_early) work(rest);
    MPI_Irecv(from_below, sizeof from_below, MPI_BYTE, below, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from_above, sizeof from_above, MPI_BYTE, above, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, sizeof out, MPI_BYTE, above, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, sizeof out, MPI_BYTE, below, 0, MPI_COMM_WORLD, &requests[3]);
    if (is_early) work(rest);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* Rank 1 needs what it receives only at the end of its work, and waits for it before that, or not. */
static void overlap(int is_late, double before, double after) {
    MPI_Request request;
    if (rank == 0) {
        work(before);
        send(1);
    } else {
        MPI_Irecv(in, sizeof in, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
        if (!is_late) MPI_Wait(&request, MPI_STATUS_IGNORE);
        work(after);
        if (is_late) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *kind = argc > 1 ? argv[1] : "";
    double a = argc > 2 ? atof(argv[2]) : 0, b = argc > 3 ? atof(argv[3]) : 0;
    for (int step = 0; step < 10; step++) {
        if (!strcmp(kind, "chain")) chain(a, b, 0);
        if (!strcmp(kind, "held-chain")) chain(a, b, 10);
        if (!strcmp(kind, "allreduce")) allreduce(a, b);
        if (!strcmp(kind, "turns") || !strcmp(kind, "turns-without-barrier")) {
            work((step + rank) % 2 ? a : b);
            if (!strcmp(kind, "turns")) MPI_Barrier(MPI_COMM_WORLD);
        }
        if (!strcmp(kind, "ssend")) late_receiver(step, 1);
        if (!strcmp(kind, "send")) late_receiver(step, 0);
        if (!strcmp(kind, "late-ring")) ring(step, 0, a, b);
        if (!strcmp(kind, "early-ring")) ring(step, 1, a, b);
        if (!strcmp(kind, "late-jacobi")) jacobi(step, 0, a, b);
        if (!strcmp(kind, "early-jacobi")) jacobi(step, 1, a, b);
        if (!strcmp(kind, "wait-first")) overlap(0, a, b);
        if (!strcmp(kind, "wait-last")) overlap(1, a, b);
        /* Now one, now the other is held up, but not in the first step, behind another call than the others. */
        if (!strcmp(kind, "noise")) allreduce(step % 5 == 1 ? b : a, step % 5 == 3 ? b : a);
    }
    printf("%.6f %.6f\n", wanted, slept - wanted);
    MPI_Finalize();
    return 0;
}
