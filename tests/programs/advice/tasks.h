/* A master, rank 0, serves whoever comes first; workers come with a result, if they have one, and get the length of their next
 * task. */
#ifndef TASKS_H
#define TASKS_H

#include "advice.h"

WORK(serve)
WORK(do_task)

/* Messages are RESULT bytes long, times SIZE; a task begins with its milliseconds, 0 for the end. */
enum { RESULT = 256 };

NOINLINE int take_result(char *data) {
    MPI_Status status;
    OK(MPI_Recv(data, RESULT * scale, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status));
    return status.MPI_SOURCE;
}

NOINLINE void hand_out(char *data, int worker, double milliseconds) {
    memcpy(data, &milliseconds, sizeof milliseconds);
    OK(MPI_Send(data, RESULT * scale, MPI_BYTE, worker, 1, MPI_COMM_WORLD));
}

/* Serving takes so many milliseconds. */
static inline void be_master(const double *tasks, int count, double service) {
    char *data = bytes(RESULT);
    for (int k = 0; k < count; k++) {
        const int worker = take_result(data);
        if (service > 0) serve(service);
        hand_out(data, worker, tasks[k]);
    }
    for (int k = 1; k < size; k++) hand_out(data, take_result(data), 0);
    free(data);
}

NOINLINE double next_task(char *data) {
    double milliseconds;
    OK(MPI_Send(data, RESULT * scale, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
    OK(MPI_Recv(data, RESULT * scale, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    memcpy(&milliseconds, data, sizeof milliseconds);
    return milliseconds;
}

static inline void be_worker(void) {
    char *data = bytes(RESULT);
    for (double milliseconds; (milliseconds = next_task(data)) > 0;) do_task(milliseconds);
    free(data);
}

#endif
