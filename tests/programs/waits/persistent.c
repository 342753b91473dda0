/* Rank 0 starts its persistent send late: rank 1 has started its persistent receive and waits in MPI_Wait as long as
 * the delay takes. */
#include "../provoke.h"

NOINLINE void send_late(MPI_Request *request) {
    DELAY(); /* HERE: delay */
    OK(MPI_Start(request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

NOINLINE void receive(MPI_Request *request) {
    OK(MPI_Start(request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE)); /* HERE: wait */
}

int main(int argc, char **argv) {
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    start(&argc, &argv, 2);
    if (rank == 0) OK(MPI_Send_init(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request));
    else if (rank == 1) OK(MPI_Recv_init(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request));
    meet(0);
    if (rank == 0) {
        value = 42;
        send_late(&request);
    } else if (rank == 1) {
        receive(&request);
        printf("received %d\n", value);
    }
    if (rank < 2) OK(MPI_Request_free(&request));
    finish();
    return 0;
}
