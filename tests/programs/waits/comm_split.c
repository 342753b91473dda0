/* Rank 1 comes late to the creation of a communicator: ranks 0 and 2 wait there as long as the delay takes. */
#include "../provoke.h"

static MPI_Comm half;

NOINLINE void split_late(void) {
    DELAY(); /* HERE: delay */
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
}

NOINLINE void split(void) {
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half)); /* HERE: wait */
}

int main(int argc, char **argv) {
    int members;
    start(&argc, &argv, 3);
    meet(1);
    if (rank == 1) split_late();
    else split();
    OK(MPI_Comm_size(half, &members));
    if (rank == 0) printf("%d ranks in the half of rank 0\n", members);
    OK(MPI_Comm_free(&half));
    finish();
    return 0;
}
