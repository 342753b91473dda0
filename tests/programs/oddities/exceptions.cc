// An error handler throws an exception through MPI_Send.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>

static void fail(MPI_Comm *, int *, ...) { throw std::runtime_error("refused"); }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(fail, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    try {
        MPI_Send(&rank, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD);
    } catch (std::exception &error) {
        if (rank == 0) std::printf("%s\n", error.what());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
