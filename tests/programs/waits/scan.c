/* Rank 1 contributes late to a prefix sum: rank 2 waits in MPI_Scan as long as the delay takes. Rank 0 needs nothing
 * of rank 1 and does not wait. */
#include "../provoke.h"

NOINLINE int sum_late(int value) {
    int sum = 0;
    DELAY(); /* HERE: delay */
    OK(MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    return sum;
}

NOINLINE int sum(int value) {
    int sum = 0;
    OK(MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); /* HERE: wait */
    return sum;
}

int main(int argc, char **argv) {
    int total;
    start(&argc, &argv, 3);
    meet(1);
    total = rank == 1 ? sum_late(rank + 1) : sum(rank + 1);
    CHECK(total == (rank + 1) * (rank + 2) / 2);
    if (rank == 2) printf("sum %d\n", total);
    finish();
    return 0;
}
