/* Starts two more processes of itself and exchanges values with them. 1 or 2 ranks. NEEDS: Open MPI, and of it the
 * transport tcp (OMPI_MCA_btl=self,vader,tcp); Debian's MPICH cannot start processes. */
#include "../check.h"

#define CHILDREN 2

/* The compiler takes MPICH's MPI_ERRCODES_IGNORE for an array that is too short. */
static int codes[CHILDREN];

NOINLINE void parent(char *program) {
    MPI_Comm children;
    int sum = 0;
    OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, children));
    if (rank == 0) {
        int value = -1;
        OK(MPI_Recv(&value, 1, MPI_INT, 1, 7, children, MPI_STATUS_IGNORE));
        printf("sum %d, received %d\n", sum, value);
    }
    OK(MPI_Comm_disconnect(&children));
}

NOINLINE void child(MPI_Comm parents) {
    int value = 10 + rank, sum;
    OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, parents));
    if (rank == 1) OK(MPI_Send(&value, 1, MPI_INT, 0, 7, parents));
    OK(MPI_Comm_disconnect(&parents));
}

int main(int argc, char **argv) {
    MPI_Comm parents;
    start(&argc, &argv, 1);
    OK(MPI_Comm_get_parent(&parents));
    if (parents == MPI_COMM_NULL) parent(argv[0]);
    else child(parents);
    finish();
    return 0;
}
