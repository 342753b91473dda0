/* Calls of MPI in functions that are inlined, at one place of a loop and behind it. There is nothing to be found. */
#include <mpi.h>

static inline __attribute__((always_inline)) void inner(void) { MPI_Barrier(MPI_COMM_WORLD); }

static inline __attribute__((always_inline)) void outer(void) { inner(); }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int step = 0; step < 3; step++) outer();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
