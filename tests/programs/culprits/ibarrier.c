/* Rank 2 sleeps 20 ms between MPI_Wait and MPI_Irecv, the others 5 ms; rank 1 sleeps 5 ms between MPI_Ibarrier and MPI_Wait. */
#include "../check.h"

#include <unistd.h>

int main(int argc, char **argv) {
    double in = 0, out = 1, sum;

    go_first(0);
    start(&argc, &argv, 3);
    go_first(rank == 2);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int step = 0; step < 20; step++) {
        MPI_Request requests[2], barrier;
        MPI_Status statuses[2];
        usleep(rank == 2 ? 20000 : 5000);
        OK(MPI_Irecv(&in, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Isend(&out, 1, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Waitall(2, requests, statuses));
        OK(MPI_Allreduce(&in, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        OK(MPI_Ibarrier(MPI_COMM_WORLD, &barrier));
        if (rank == 1) usleep(5000);
        OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
    }
    finish();
    return 0;
}
