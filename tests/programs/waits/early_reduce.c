/* Rank 2 contributes late: the root, rank 0, waits in MPI_Reduce as long as the delay takes; rank 1 does not count as
 * waiting, since nothing comes back to it. */
#include "../provoke.h"

NOINLINE void contribute(int value) { OK(MPI_Reduce(&value, NULL, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD)); }

NOINLINE void contribute_late(int value) {
    DELAY(); /* HERE: delay */
    OK(MPI_Reduce(&value, NULL, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
}

NOINLINE int collect(int value) {
    int sum = 0;
    OK(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD)); /* HERE: wait */
    return sum;
}

int main(int argc, char **argv) {
    start(&argc, &argv, 3);
    meet(2);
    if (rank == 0) printf("sum %d\n", collect(1));
    else if (rank == 2) contribute_late(3);
    else contribute(2);
    finish();
    return 0;
}
