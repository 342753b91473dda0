/* Rank 1 receives late: rank 0 waits in MPI_Ssend as long as the delay takes. */
#include "../provoke.h"

NOINLINE void send(int value) {
    OK(MPI_Ssend(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD)); /* HERE: wait */
}

NOINLINE int receive_late(void) {
    int value = 0;
    DELAY(); /* HERE: delay */
    OK(MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
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
