/* Two messages in each direction, which main sends and receives in four places. */
#include "../check.h"

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    int peer = rank ^ 1, sent = rank, received;
    CHECK(size % 2 == 0);
    MPI_Request request;
    OK(MPI_Irecv(&received, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Send(&sent, 1, MPI_INT, peer, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(&received, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Send(&sent, 1, MPI_INT, peer, 2, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(received == peer);
    finish();
    return 0;
}
