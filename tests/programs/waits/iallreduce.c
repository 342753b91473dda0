/* Rank 2 starts a non-blocking sum late: ranks 0 and 1 wait as long as the delay takes, where they complete it. */
#include "../provoke.h"

NOINLINE void sum_late(int *all) {
    MPI_Request request;
    DELAY(); /* HERE: delay */
    OK(MPI_Iallreduce(&rank, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

NOINLINE void sum(int *all) {
    MPI_Request request;
    OK(MPI_Iallreduce(&rank, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); /* HERE: wait */
}

int main(int argc, char **argv) {
    int all = 0;
    start(&argc, &argv, 3);
    meet(2);
    if (rank == 2) sum_late(&all);
    else sum(&all);
    if (rank == 0) printf("sum %d\n", all);
    finish();
    return 0;
}
