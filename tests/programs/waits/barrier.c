/* Rank 1 comes late: ranks 0 and 2 wait in MPI_Barrier as long as the delay takes. */
#include "../provoke.h"

NOINLINE void come_late(void) {
    DELAY(); /* HERE: delay */
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

NOINLINE void come(void) {
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* HERE: wait */
}

int main(int argc, char **argv) {
    start(&argc, &argv, 3);
    meet(1);
    if (rank == 1) come_late();
    else come();
    if (rank == 0) printf("%d ranks met\n", size);
    finish();
    return 0;
}
