/* A line of three ranks: rank 1 comes late to an exchange among neighbours, and both others, its neighbours, wait for it. */
#include "../provoke.h"

static MPI_Comm line;
static int in[2];

NOINLINE void exchange_late(void) {
    DELAY(); /* HERE: delay */
    OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, line));
}

NOINLINE void exchange(void) {
    OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, line)); /* HERE: wait */
}

int main(int argc, char **argv) {
    int is_periodic = 0;
    start(&argc, &argv, 3);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_periodic, 0, &line));
    meet(1);
    if (rank == 1) exchange_late();
    else exchange();
    if (rank == 0) printf("received %d\n", in[1]);
    OK(MPI_Comm_free(&line));
    finish();
    return 0;
}
