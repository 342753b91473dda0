/* Makes and frees communicators: 2,000, or as many as the argument says, of which each is used once. 2 to 4 ranks. */
#include "../expect.h"

int main(int argc, char **argv) {
    int many, total = 0;
    start(&argc, &argv, 2);
    many = argc > 1 ? atoi(argv[1]) : 2000;
    for (int i = 0; i < many; i++) {
        MPI_Comm comm;
        int sum = 0;
        if (i % 2 == 0) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        else OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm));
        COLLECTIVE(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == i * size);
        total += sum == i * size;
        OK(MPI_Comm_free(&comm));
    }
    if (rank == 0) printf("communicators %d\n", total);
    finish_expecting();
    return 0;
}
