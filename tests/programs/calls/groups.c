/* Makes communicators without a parent: of all ranks, of ranks 2 and 0, and between these and rank 1. NEEDS: MPI-4.
 * 3 ranks. */
#include "../expect.h"

static void use_and_free(MPI_Comm comm) {
    COLLECTIVE(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    static const int pair[2] = {2, 0}, one[1] = {1};
    MPI_Group world, two, single;
    MPI_Comm comm;

    start(&argc, &argv, 3);
    CHECK(size == 3);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 2, pair, &two));
    OK(MPI_Group_incl(world, 1, one, &single));
    OK(MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    use_and_free(comm);
    if (rank != 1) {
        OK(MPI_Comm_create_from_group(two, "some", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
        use_and_free(comm);
    }
    OK(MPI_Intercomm_create_from_groups(rank == 1 ? single : two, 0, rank == 1 ? two : single, 0, "between", MPI_INFO_NULL,
                                        MPI_ERRORS_ARE_FATAL, &comm));
    use_and_free(comm);
    OK(MPI_Group_free(&single));
    OK(MPI_Group_free(&two));
    OK(MPI_Group_free(&world));
    finish_expecting();
    return 0;
}
