/* Rank 1 writes where it has no memory while the others wait for it, after as many messages as the argument says
 * (default 100,000) from each rank to itself. 2 to 4 ranks. */
#include "work.h"

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    work(argc > 1 ? atol(argv[1]) : 100000);
    if (rank == 1) {
        volatile int *volatile nowhere = NULL;
        *nowhere = 1;
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    finish();
    return 0;
}
