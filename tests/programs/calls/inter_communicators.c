/* Communicators between two groups: pairs of groups with the same first members and the same tag, but not the same others; and
 * one pair twice. 4 ranks. */
#include "../expect.h"

/* Connects the ranks of a list with rank 2, through the world. */
NOINLINE void connect(const int *ranks, int count) {
    int member = rank == 2;
    MPI_Comm group, inter;

    for (int i = 0; i < count; i++) member |= ranks[i] == rank;
    OK(MPI_Comm_split(MPI_COMM_WORLD, member ? rank == 2 : MPI_UNDEFINED, rank, &group));
    if (!member) return;
    OK(MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank == 2 ? ranks[0] : 2, 7, &inter));
    COLLECTIVE(MPI_Barrier(inter));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&group));
}

int main(int argc, char **argv) {
    static const int first[2] = {0, 1}, second[2] = {0, 3};

    start(&argc, &argv, 4);
    CHECK(size == 4);
    connect(first, 2);
    connect(second, 2);
    connect(first, 2);
    finish_expecting();
    return 0;
}
