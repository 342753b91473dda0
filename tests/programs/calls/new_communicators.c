/* Makes communicators in the ways in which not all members of a parent take part at once: duplicates while something else
 * goes on, from groups, and between groups. 3 ranks. */
#include "../expect.h"

static MPI_Status *volatile no_statuses = MPI_STATUSES_IGNORE;

static void use_and_free(MPI_Comm comm) {
    COLLECTIVE(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
}

/* Of the world, and two at a time of ranks 0 and 2, and 1. */
NOINLINE void duplicates(void) {
    MPI_Comm part, comm, pair[2];
    MPI_Request request, requests[2];

    OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
    EXPECT(NonBlockingCollectiveRequest);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT(NonBlockingCollectiveComplete);
    use_and_free(comm);

    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Comm_idup(part, &pair[i], &requests[i]));
        EXPECT(NonBlockingCollectiveRequest);
    }
    OK(MPI_Waitall(2, requests, no_statuses));
    EXPECT_MANY(NonBlockingCollectiveComplete, 2);
    for (int i = 0; i < 2; i++) use_and_free(pair[i]);
    OK(MPI_Comm_free(&part));
}

/* Ranks 2 and 0, in this order. */
NOINLINE void from_groups(void) {
    static const int pair[2] = {2, 0};
    MPI_Group world, two;
    MPI_Comm comm;

    if (rank == 1) return;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 2, pair, &two));
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, two, 5, &comm));
    use_and_free(comm);
    OK(MPI_Group_free(&two));
    OK(MPI_Group_free(&world));
}

/* Ranks 0 and 2 on one side, rank 1 on the other. */
NOINLINE void between_groups(void) {
    MPI_Comm side, between;

    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &side));
    OK(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 9, &between));
    use_and_free(between);
    OK(MPI_Comm_free(&side));
}

int main(int argc, char **argv) {
    start(&argc, &argv, 3);
    CHECK(size == 3);
    duplicates();
    from_groups();
    between_groups();
    finish_expecting();
    return 0;
}
