/* Ranks 0 and 2 are in a communicator of their own, in reversed order, where number 0 (rank 2) sends late: number 1
 * (rank 0) waits in MPI_Recv as long as the delay takes. */
#include "../provoke.h"

NOINLINE void send_late(int value, MPI_Comm pair) {
    DELAY(); /* HERE: delay */
    OK(MPI_Send(&value, 1, MPI_INT, 1, 7, pair));
}

NOINLINE int receive(MPI_Comm pair) {
    int value = 0;
    OK(MPI_Recv(&value, 1, MPI_INT, 0, 7, pair, MPI_STATUS_IGNORE)); /* HERE: wait */
    return value;
}

int main(int argc, char **argv) {
    MPI_Comm part;
    start(&argc, &argv, 3);
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part));
    meet(2);
    if (rank == 2) send_late(42, part);
    else if (rank == 0) printf("received %d\n", receive(part));
    else stand_aside();
    OK(MPI_Comm_free(&part));
    finish();
    return 0;
}
