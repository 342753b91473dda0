/* Rank 0 sends late: rank 1 waits in MPI_Recv as long as the delay takes. */
#include "../provoke.h"

NOINLINE void send_late(int value) {
    DELAY(); /* HERE: delay */
    OK(MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD));
}

NOINLINE int receive(void) {
    int value = 0;
    OK(MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* HERE: wait */
    return value;
}

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    meet(0);
    if (rank == 0) send_late(42);
    else if (rank == 1) printf("received %d\n", receive());
    finish();
    return 0;
}
