/* Rank 1 sends in time and rank 2 late; rank 0 receives from rank 2 first: it waits in this MPI_Recv as long as the
 * delay takes, and could have received the message from rank 1 meanwhile. */
#include "../provoke.h"

NOINLINE void send(int value) { OK(MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD)); }

NOINLINE void send_late(int value) {
    DELAY(); /* HERE: delay */
    OK(MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD));
}

NOINLINE int receive_from_late(void) {
    int value = 0;
    OK(MPI_Recv(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* HERE: wait */
    return value;
}

NOINLINE int receive_from_early(void) {
    int value = 0;
    OK(MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return value;
}

int main(int argc, char **argv) {
    start(&argc, &argv, 3);
    meet(2);
    if (rank == 0) {
        int late = receive_from_late();
        printf("received %d, then %d\n", late, receive_from_early());
    } else if (rank == 1) {
        send(1);
        stand_aside();
    } else if (rank == 2) {
        send_late(2);
    }
    finish();
    return 0;
}
