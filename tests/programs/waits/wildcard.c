/* Rank 0 receives two messages of any source and tag. That of rank 1 is there before; that of rank 2 is late: rank 0
 * waits in its second MPI_Recv as long as the delay takes. */
#include "../provoke.h"

NOINLINE void send(int value) { OK(MPI_Send(&value, 1, MPI_INT, 0, 10 + rank, MPI_COMM_WORLD)); }

NOINLINE void send_late(int value) {
    DELAY(); /* HERE: delay */
    OK(MPI_Send(&value, 1, MPI_INT, 0, 10 + rank, MPI_COMM_WORLD));
}

NOINLINE int receive_any(int *source, int *tag) {
    int value = 0;
    MPI_Status status;
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status)); /* HERE: wait */
    *source = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    return value;
}

int main(int argc, char **argv) {
    start(&argc, &argv, 3);
    if (rank == 1) send(41);
    meet(2);
    if (rank == 0) {
        for (int i = 0; i < 2; i++) {
            int source, tag, value = receive_any(&source, &tag);
            printf("received %d from %d with tag %d\n", value, source, tag);
        }
    } else if (rank == 1) {
        stand_aside();
    } else if (rank == 2) {
        send_late(42);
    }
    finish();
    return 0;
}
