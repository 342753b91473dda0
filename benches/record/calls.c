/* What calls of MPI cost, bare or recorded: prints the least and the mean of many batches, in ns a call.
 *
 *     calls FUNCTIONS BATCHES      FUNCTIONS: how many functions are active at the calls
 *
 * The least is without writing out, which happens every few ten thousand events; the mean is with it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { batch = 2000 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void sizes(void) {
    int size;
    for (int i = 0; i < batch; i++) MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static void exchanges(void) {
    char out[8] = {0}, in[8];
    for (int i = 0; i < batch; i++) {
        MPI_Request requests[2];
        MPI_Irecv(in, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[0]);
        MPI_Isend(out, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void both_ways(void) {
    char out[8] = {0}, in[8];
    for (int i = 0; i < batch; i++)
        MPI_Sendrecv(out, 8, MPI_CHAR, 0, 1, in, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static int below(int functions, void (*work)(void)) {
    if (functions > 1) return below(functions - 1, work) + 1;
    work();
    return 0;
}

static void measure(const char *name, int calls, int records, int functions, int batches, void (*work)(void)) {
    double least = 1e30, sum = 0;
    for (int i = 0; i < batches; i++) {
        double begin = now();
        below(functions, work);
        double time = (now() - begin) / (batch * (double)calls);
        if (time < least) least = time;
        sum += time;
    }
    printf("%s %d %d %.2f %.2f\n", name, calls, records, least, sum / batches);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int functions = argc > 1 ? atoi(argv[1]) : 10, batches = argc > 2 ? atoi(argv[2]) : 500;
    measure("MPI_Comm_size", 1, 2, functions, batches, sizes);
    measure("MPI_Irecv+Isend+Waitall", 3, 10, functions, batches, exchanges);
    measure("MPI_Sendrecv", 1, 4, functions, batches, both_ways);
    MPI_Finalize();
    return 0;
}
