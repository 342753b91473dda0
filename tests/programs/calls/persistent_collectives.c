/* Persistent collective operations of all kinds, which ranks start in different orders, on the world and on a duplicate of
 * it. NEEDS: MPI-4. 2 ranks. */
#include "../expect.h"

#define KINDS_OF_OPERATIONS 17

static int a[4], b[KINDS_OF_OPERATIONS][4];
static const int ones[2] = {1, 1}, places[2] = {0, 1}, at[2] = {0, 4};
static const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
static MPI_Status *volatile no_statuses = MPI_STATUSES_IGNORE;

static void initialize(MPI_Comm comm, MPI_Request *all) {
    MPI_Info none = MPI_INFO_NULL;
    OK(MPI_Barrier_init(comm, none, &all[0]));
    OK(MPI_Bcast_init(b[1], 1, MPI_INT, 0, comm, none, &all[1]));
    OK(MPI_Gather_init(a, 1, MPI_INT, b[2], 1, MPI_INT, 0, comm, none, &all[2]));
    OK(MPI_Gatherv_init(a, 1, MPI_INT, b[3], ones, places, MPI_INT, 0, comm, none, &all[3]));
    OK(MPI_Scatter_init(a, 1, MPI_INT, b[4], 1, MPI_INT, 0, comm, none, &all[4]));
    OK(MPI_Scatterv_init(a, ones, places, MPI_INT, b[5], 1, MPI_INT, 0, comm, none, &all[5]));
    OK(MPI_Allgather_init(a, 1, MPI_INT, b[6], 1, MPI_INT, comm, none, &all[6]));
    OK(MPI_Allgatherv_init(a, 1, MPI_INT, b[7], ones, places, MPI_INT, comm, none, &all[7]));
    OK(MPI_Alltoall_init(a, 1, MPI_INT, b[8], 1, MPI_INT, comm, none, &all[8]));
    OK(MPI_Alltoallv_init(a, ones, places, MPI_INT, b[9], ones, places, MPI_INT, comm, none, &all[9]));
    OK(MPI_Alltoallw_init(a, ones, at, types, b[10], ones, at, types, comm, none, &all[10]));
    OK(MPI_Allreduce_init(a, b[11], 1, MPI_INT, MPI_SUM, comm, none, &all[11]));
    OK(MPI_Reduce_init(a, b[12], 1, MPI_INT, MPI_SUM, 0, comm, none, &all[12]));
    OK(MPI_Reduce_scatter_init(a, b[13], ones, MPI_INT, MPI_SUM, comm, none, &all[13]));
    OK(MPI_Reduce_scatter_block_init(a, b[14], 1, MPI_INT, MPI_SUM, comm, none, &all[14]));
    OK(MPI_Scan_init(a, b[15], 1, MPI_INT, MPI_SUM, comm, none, &all[15]));
    OK(MPI_Exscan_init(a, b[16], 1, MPI_INT, MPI_SUM, comm, none, &all[16]));
}

/* One at a time, so that no library depends on the order. */
static void run(MPI_Request *request) {
    OK(MPI_Start(request));
    EXPECT(NonBlockingCollectiveRequest);
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    EXPECT(NonBlockingCollectiveComplete);
}

int main(int argc, char **argv) {
    MPI_Request all[KINDS_OF_OPERATIONS], other[KINDS_OF_OPERATIONS], pair[2];
    MPI_Comm copy;

    start(&argc, &argv, 2);
    CHECK(size == 2);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    initialize(MPI_COMM_WORLD, all);
    initialize(copy, other);
    for (int i = 0; i < KINDS_OF_OPERATIONS; i++) run(&all[KINDS_OF_OPERATIONS - 1 - i]);
    run(&other[11]);
    /* Each rank starts its own number first. */
    pair[0] = other[rank == 0 ? 11 : 0];
    pair[1] = other[rank == 0 ? 0 : 11];
    OK(MPI_Startall(2, pair));
    EXPECT_MANY(NonBlockingCollectiveRequest, 2);
    OK(MPI_Waitall(2, pair, no_statuses));
    EXPECT_MANY(NonBlockingCollectiveComplete, 2);
    for (int i = 0; i < KINDS_OF_OPERATIONS; i++) {
        OK(MPI_Request_free(&all[i]));
        OK(MPI_Request_free(&other[i]));
    }
    OK(MPI_Comm_free(&copy));
    finish_expecting();
    return 0;
}
