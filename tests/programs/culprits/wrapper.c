/* MPI is called through thin functions, as C++ classes, PETSc and modules in Fortran do. Rank 2 sleeps 20 ms in main between
 * two of them. */
#include "../check.h"

#include <unistd.h>

NOINLINE void comm_isend(int to, const double *value, MPI_Request *request) {
    OK(MPI_Isend(value, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, request));
}

NOINLINE void comm_recv(int from, double *value) {
    OK(MPI_Recv(value, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

NOINLINE void comm_wait(MPI_Request *request) { OK(MPI_Wait(request, MPI_STATUS_IGNORE)); }

NOINLINE double comm_sum(double own) {
    double all;
    OK(MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return all;
}

int main(int argc, char **argv) {
    double in = 0, out = 1;
    MPI_Request request;

    go_first(0);
    start(&argc, &argv, 3);
    go_first(rank == 2);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int step = 0; step < 20; step++) {
        comm_isend((rank + 1) % size, &out, &request);
        comm_recv((rank + size - 1) % size, &in);
        comm_wait(&request);
        usleep(rank == 2 ? 20000 : 1000);
        CHECK(comm_sum(in) == size);
    }
    finish();
    return 0;
}
