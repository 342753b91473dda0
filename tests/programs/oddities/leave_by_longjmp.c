/* An error handler leaves a failing MPI_Send by longjmp, again and again; other calls follow from the same function. */
#include "../check.h"
#include <setjmp.h>

static jmp_buf back;

static void leave(MPI_Comm *communicator, int *code, ...) {
    (void)communicator, (void)code;
    longjmp(back, 1);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int i = 0; i < 3; i++) {
        if (rank == 0 && setjmp(back) == 0) MPI_Send(&value, 1, MPI_INT, size + 3, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    if (rank == 0) puts("three barriers");
    return 0;
}
