/* Rank 1 finds the message in time (MPI_Mprobe) but receives it late (MPI_Mrecv): rank 0 waits in MPI_Send as long as
 * the delay takes, since the message is too long to be sent before it is received. */
#include "../provoke.h"

#define LONG (1 << 20)

NOINLINE void send(const int *values) {
    OK(MPI_Send(values, LONG, MPI_INT, 1, 7, MPI_COMM_WORLD)); /* HERE: wait */
}

NOINLINE void receive_late(int *values) {
    MPI_Message message;
    OK(MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    DELAY(); /* HERE: delay */
    OK(MPI_Mrecv(values, LONG, MPI_INT, &message, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    int *values = (int *)calloc(LONG, sizeof *values);
    start(&argc, &argv, 2);
    if (rank == 0) values[LONG - 1] = 42;
    meet(1);
    if (rank == 0) {
        send(values);
    } else if (rank == 1) {
        receive_late(values);
        printf("received %d\n", values[LONG - 1]);
    }
    finish();
    free(values);
    return 0;
}
