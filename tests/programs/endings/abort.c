/* Rank 1 calls MPI_Abort with code 3 while the others wait for it, after as many messages as the argument says
 * (default 1,000) from each rank to itself. 2 to 4 ranks. Nothing but rank 0's first line is printed. */
#include "work.h"

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    work(argc > 1 ? atol(argv[1]) : 1000);
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    finish();
    return 0;
}
