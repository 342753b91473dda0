/* Rank 2 comes late: ranks 0 and 1 wait in MPI_Allreduce as long as the delay takes. */
#include "../provoke.h"

NOINLINE double sum_late(double value) {
    double sum = 0;
    DELAY(); /* HERE: delay */
    OK(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return sum;
}

NOINLINE double sum(double value) {
    double sum = 0;
    OK(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)); /* HERE: wait */
    return sum;
}

int main(int argc, char **argv) {
    double total;
    start(&argc, &argv, 3);
    meet(2);
    total = rank == 2 ? sum_late(rank) : sum(rank);
    CHECK(total == size * (size - 1) / 2.0);
    if (rank == 0) printf("sum %g\n", total);
    finish();
    return 0;
}
