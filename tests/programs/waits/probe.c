/* Rank 1 waits in MPI_Probe as long as the delay takes, since rank 0 sends late; it receives the message without waiting. */
#include "../provoke.h"

NOINLINE void send_late(int value) {
    DELAY(); /* HERE: delay */
    OK(MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD));
}

NOINLINE void look(MPI_Status *status) {
    OK(MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, status)); /* HERE: wait */
}

int main(int argc, char **argv) {
    MPI_Status status;
    int value = 0;
    start(&argc, &argv, 2);
    meet(0);
    if (rank == 0) {
        send_late(42);
    } else if (rank == 1) {
        look(&status);
        OK(MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        printf("received %d\n", value);
    }
    finish();
    return 0;
}
