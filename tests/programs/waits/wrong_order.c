/* Rank 0 sends two messages, the second one late; rank 1 receives the second one first: it waits in this MPI_Recv as
 * long as the delay takes, and could have received the other message meanwhile. */
#include "../provoke.h"

NOINLINE void send_both(int first, int second) {
    OK(MPI_Send(&first, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
    DELAY(); /* HERE: delay */
    OK(MPI_Send(&second, 1, MPI_INT, 1, 2, MPI_COMM_WORLD));
}

NOINLINE int receive_second(void) {
    int value = 0;
    OK(MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* HERE: wait */
    return value;
}

NOINLINE int receive_first(void) {
    int value = 0;
    OK(MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return value;
}

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    meet(0);
    if (rank == 0) {
        send_both(1, 2);
    } else if (rank == 1) {
        int second = receive_second();
        printf("received %d, then %d\n", second, receive_first());
    }
    finish();
    return 0;
}
