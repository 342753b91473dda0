/* Two ranks exchange values, rank 0 late: rank 1 waits in MPI_Sendrecv as long as the delay takes. */
#include "../provoke.h"

NOINLINE int exchange_late(int value, int partner) {
    int received = 0;
    DELAY(); /* HERE: delay */
    OK(MPI_Sendrecv(&value, 1, MPI_INT, partner, 3, &received, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return received;
}

NOINLINE int exchange(int value, int partner) {
    int got = 0;
    OK(MPI_Sendrecv(&value, 1, MPI_INT, partner, 3, &got, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* HERE: wait */
    return got;
}

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    meet(0);
    if (rank == 0) CHECK(exchange_late(40, 1) == 41);
    else if (rank == 1) printf("received %d\n", exchange(41, 0));
    finish();
    return 0;
}
