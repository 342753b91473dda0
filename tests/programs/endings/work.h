/* What a program does before its end comes: messages from each rank to itself, which depend on nobody. */
#ifndef WORK_H
#define WORK_H

#include "../check.h"

/* All ranks have done it when this returns, and rank 0 says so. */
static inline void work(long messages) {
    for (long i = 0; i < messages; i++) {
        long got = -1;
        MPI_Request request;
        OK(MPI_Irecv(&got, 1, MPI_LONG, 0, 1, MPI_COMM_SELF, &request));
        OK(MPI_Send(&i, 1, MPI_LONG, 0, 1, MPI_COMM_SELF));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(got == i);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        printf("%ld messages\n", messages);
        fflush(stdout);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

#endif
