/* Rank 1 posts its receive late: rank 0, which has begun a synchronous send, waits in MPI_Wait for it. */
#include "../provoke.h"

NOINLINE void send(int value) {
    MPI_Request request;
    OK(MPI_Issend(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); /* HERE: wait */
}

NOINLINE int receive_late(void) {
    int value = 0;
    MPI_Request request;
    DELAY(); /* HERE: delay */
    OK(MPI_Irecv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return value;
}

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    meet(1);
    if (rank == 0) send(42);
    else if (rank == 1) printf("received %d\n", receive_late());
    finish();
    return 0;
}
