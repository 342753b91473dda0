/* Rank 2 sends late, rank 0 in time: rank 1 waits for both in MPI_Waitall, as long as the delay takes. */
#include "../provoke.h"

NOINLINE void send(int value) { OK(MPI_Send(&value, 1, MPI_INT, 1, rank, MPI_COMM_WORLD)); }

NOINLINE void send_late(int value) {
    MPI_Request request;
    DELAY(); /* HERE: delay */
    OK(MPI_Isend(&value, 1, MPI_INT, 1, rank, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

NOINLINE int receive_both(void) {
    int values[2] = {0, 0};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    OK(MPI_Irecv(&values[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(&values[1], 1, MPI_INT, 2, 2, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, statuses)); /* HERE: wait */
    return values[0] + values[1];
}

int main(int argc, char **argv) {
    start(&argc, &argv, 3);
    meet(2);
    if (rank == 0) send(40), stand_aside();
    else if (rank == 1) printf("received %d\n", receive_both());
    else if (rank == 2) send_late(2);
    finish();
    return 0;
}
