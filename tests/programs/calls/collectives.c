/* All collective operations: blocking, on the place, with every root, on an intercommunicator, non-blocking, and among
 * neighbours. 4 ranks. */
#include "../expect.h"

#define MOST 4

static int a[MOST * MOST], b[MOST * MOST];
static const int ones[MOST] = {1, 1, 1, 1}, places[MOST] = {0, 1, 2, 3};
static const int bytes_places[MOST] = {0, 4, 8, 12};
static MPI_Datatype types[MOST];

static void clear(void) {
    for (int i = 0; i < MOST * MOST; i++) a[i] = rank, b[i] = -1;
}

/* The place of rank in b holds what it had: its number. */
static void check_all_numbers(void) {
    for (int i = 0; i < size; i++) CHECK(b[i] == i);
    clear();
}

NOINLINE void with_root(int root, MPI_Comm comm) {
    void *recv = rank == root ? b : NULL, *send = rank == root ? b : NULL;

    clear();
    COLLECTIVE(MPI_Bcast(a, 3, MPI_INT, root, comm));
    CHECK(a[2] == root);
    clear();
    COLLECTIVE(MPI_Gather(a, 1, MPI_INT, recv, 1, MPI_INT, root, comm));
    if (rank == root) check_all_numbers();
    COLLECTIVE(MPI_Gatherv(a, 1, MPI_INT, recv, ones, places, MPI_INT, root, comm));
    if (rank == root) check_all_numbers();
    for (int i = 0; i < size; i++) b[i] = 10 + i;
    COLLECTIVE(MPI_Scatter(send, 1, MPI_INT, a, 1, MPI_INT, root, comm));
    CHECK(a[0] == 10 + rank);
    COLLECTIVE(MPI_Scatterv(send, ones, places, MPI_INT, a, 1, MPI_INT, root, comm));
    CHECK(a[0] == 10 + rank);
    clear();
    COLLECTIVE(MPI_Reduce(a, recv, 2, MPI_INT, MPI_SUM, root, comm));
    if (rank == root) CHECK(b[1] == size * (size - 1) / 2);

    /* The root's own part stays where it is. */
    clear();
    for (int i = 0; i < size; i++) b[i] = rank == root ? rank : -1;
    if (rank == root) COLLECTIVE(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, root, comm));
    else COLLECTIVE(MPI_Gather(a, 1, MPI_INT, NULL, 1, MPI_INT, root, comm));
    if (rank == root) check_all_numbers();
    if (rank == root) COLLECTIVE(MPI_Scatter(b, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, root, comm));
    else COLLECTIVE(MPI_Scatter(NULL, 1, MPI_INT, a, 1, MPI_INT, root, comm));
    clear();
    if (rank == root) COLLECTIVE(MPI_Reduce(MPI_IN_PLACE, a, 1, MPI_INT, MPI_MAX, root, comm));
    else COLLECTIVE(MPI_Reduce(a, NULL, 1, MPI_INT, MPI_MAX, root, comm));
    if (rank == root) CHECK(a[0] == size - 1);
}

NOINLINE void without_root(MPI_Comm comm) {
    COLLECTIVE(MPI_Barrier(comm));
    clear();
    COLLECTIVE(MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, comm));
    check_all_numbers();
    COLLECTIVE(MPI_Allgatherv(a, 1, MPI_INT, b, ones, places, MPI_INT, comm));
    check_all_numbers();
    COLLECTIVE(MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm));
    check_all_numbers();
    COLLECTIVE(MPI_Alltoallv(a, ones, places, MPI_INT, b, ones, places, MPI_INT, comm));
    check_all_numbers();
    COLLECTIVE(MPI_Alltoallw(a, ones, bytes_places, types, b, ones, bytes_places, types, comm));
    check_all_numbers();
    COLLECTIVE(MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, comm));
    CHECK(b[0] == 6);
    COLLECTIVE(MPI_Reduce_scatter(a, b, ones, MPI_INT, MPI_SUM, comm));
    CHECK(b[0] == 6);
    COLLECTIVE(MPI_Reduce_scatter_block(a, b, 1, MPI_INT, MPI_SUM, comm));
    CHECK(b[0] == 6);
    COLLECTIVE(MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, comm));
    CHECK(b[0] == rank * (rank + 1) / 2);
    COLLECTIVE(MPI_Exscan(a, b, 1, MPI_INT, MPI_SUM, comm));
    CHECK(rank == 0 || b[0] == rank * (rank - 1) / 2);
}

NOINLINE void in_place(MPI_Comm comm) {
    clear();
    b[rank] = rank;
    COLLECTIVE(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, b, 1, MPI_INT, comm));
    check_all_numbers();
    b[rank] = rank;
    COLLECTIVE(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, b, ones, places, MPI_INT, comm));
    check_all_numbers();
    COLLECTIVE(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, a, 1, MPI_INT, comm));
    CHECK(a[3] == 3);
    COLLECTIVE(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, a, ones, places, MPI_INT, comm));
    COLLECTIVE(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, a, ones, bytes_places, types, comm));
    clear();
    COLLECTIVE(MPI_Allreduce(MPI_IN_PLACE, a, 1, MPI_INT, MPI_SUM, comm));
    CHECK(a[0] == 6);
    clear();
    COLLECTIVE(MPI_Reduce_scatter(MPI_IN_PLACE, a, ones, MPI_INT, MPI_SUM, comm));
    CHECK(a[0] == 6);
    clear();
    COLLECTIVE(MPI_Reduce_scatter_block(MPI_IN_PLACE, a, 1, MPI_INT, MPI_SUM, comm));
    CHECK(a[0] == 6);
    clear();
    COLLECTIVE(MPI_Scan(MPI_IN_PLACE, a, 1, MPI_INT, MPI_SUM, comm));
    CHECK(a[0] == rank * (rank + 1) / 2);
    clear();
    COLLECTIVE(MPI_Exscan(MPI_IN_PLACE, a, 1, MPI_INT, MPI_SUM, comm));
}

/* A communicator of one member, where nobody ever waits, and operations of no bytes. */
NOINLINE void small(void) {
    clear();
    COLLECTIVE(MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
    COLLECTIVE(MPI_Bcast(a, 1, MPI_INT, 0, MPI_COMM_SELF));
    COLLECTIVE(MPI_Barrier(MPI_COMM_SELF));
    COLLECTIVE(MPI_Bcast(a, 0, MPI_INT, 0, MPI_COMM_WORLD));
    COLLECTIVE(MPI_Allgather(a, 0, MPI_INT, b, 0, MPI_INT, MPI_COMM_WORLD));
}

/* Between the even and the odd ranks; the root is world rank 0, the first of the even ones. */
NOINLINE void between_groups(void) {
    MPI_Comm half, between;
    const int even = rank % 2 == 0, root = !even ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;

    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, even ? 1 : 0, 9, &between));
    clear();
    COLLECTIVE(MPI_Barrier(between));
    COLLECTIVE(MPI_Bcast(a, 1, MPI_INT, root, between));
    CHECK(a[0] == (even ? rank : 0));
    clear();
    COLLECTIVE(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, root, between));
    if (rank == 0) CHECK(b[0] == 1 && b[1] == 3);
    clear();
    COLLECTIVE(MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, root, between));
    CHECK(b[0] == (even ? -1 : 0));
    COLLECTIVE(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, root, between));
    if (rank == 0) CHECK(b[0] == 4);
    /* Each group has what the other one contributes. */
    COLLECTIVE(MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, between));
    CHECK(b[0] == (even ? 4 : 2));
    COLLECTIVE(MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, between));
    CHECK(b[0] == even && b[1] == 2 + even);
    COLLECTIVE(MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, between));
    CHECK(b[0] == even && b[1] == 2 + even);
    OK(MPI_Comm_free(&between));
    OK(MPI_Comm_free(&half));
}

#define NONBLOCKING(call) \
    do { \
        MPI_Request request; \
        OK(call); \
        EXPECT(NonBlockingCollectiveRequest); \
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
        EXPECT(NonBlockingCollectiveComplete); \
    } while (0)

NOINLINE void nonblocking(int root, MPI_Comm comm) {
    MPI_Request pair[2];
    MPI_Status statuses[2];

    clear();
    NONBLOCKING(MPI_Ibarrier(comm, &request));
    NONBLOCKING(MPI_Ibcast(a, 1, MPI_INT, root, comm, &request));
    CHECK(a[0] == root);
    clear();
    NONBLOCKING(MPI_Igather(a, 1, MPI_INT, b, 1, MPI_INT, root, comm, &request));
    if (rank == root) check_all_numbers();
    NONBLOCKING(MPI_Igatherv(a, 1, MPI_INT, b, ones, places, MPI_INT, root, comm, &request));
    if (rank == root) check_all_numbers();
    NONBLOCKING(MPI_Iscatter(a, 1, MPI_INT, b, 1, MPI_INT, root, comm, &request));
    CHECK(b[0] == root);
    NONBLOCKING(MPI_Iscatterv(a, ones, places, MPI_INT, b, 1, MPI_INT, root, comm, &request));
    NONBLOCKING(MPI_Ireduce(a, b, 1, MPI_INT, MPI_SUM, root, comm, &request));
    if (rank == root) CHECK(b[0] == 6);
    NONBLOCKING(MPI_Iallgather(a, 1, MPI_INT, b, 1, MPI_INT, comm, &request));
    check_all_numbers();
    NONBLOCKING(MPI_Iallgatherv(a, 1, MPI_INT, b, ones, places, MPI_INT, comm, &request));
    check_all_numbers();
    NONBLOCKING(MPI_Ialltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm, &request));
    check_all_numbers();
    NONBLOCKING(MPI_Ialltoallv(a, ones, places, MPI_INT, b, ones, places, MPI_INT, comm, &request));
    check_all_numbers();
    NONBLOCKING(MPI_Ialltoallw(a, ones, bytes_places, types, b, ones, bytes_places, types, comm, &request));
    check_all_numbers();
    NONBLOCKING(MPI_Iallreduce(a, b, 1, MPI_INT, MPI_SUM, comm, &request));
    CHECK(b[0] == 6);
    NONBLOCKING(MPI_Ireduce_scatter(a, b, ones, MPI_INT, MPI_SUM, comm, &request));
    NONBLOCKING(MPI_Ireduce_scatter_block(a, b, 1, MPI_INT, MPI_SUM, comm, &request));
    NONBLOCKING(MPI_Iscan(a, b, 1, MPI_INT, MPI_SUM, comm, &request));
    NONBLOCKING(MPI_Iexscan(a, b, 1, MPI_INT, MPI_SUM, comm, &request));
    NONBLOCKING(MPI_Iallreduce(MPI_IN_PLACE, a, 1, MPI_INT, MPI_SUM, comm, &request));
    CHECK(a[0] == 6);

    /* Two at a time. */
    clear();
    OK(MPI_Ibarrier(comm, &pair[0]));
    OK(MPI_Iallreduce(a, b, 1, MPI_INT, MPI_SUM, comm, &pair[1]));
    EXPECT_MANY(NonBlockingCollectiveRequest, 2);
    OK(MPI_Waitall(2, pair, statuses));
    EXPECT_MANY(NonBlockingCollectiveComplete, 2);
    CHECK(b[0] == 6);
}

NOINLINE void neighbours(void) {
    static const int sides[1] = {MOST}, closed[1] = {1};
    const MPI_Aint at[2] = {0, 4};
    MPI_Comm ring;
    const int left = (rank + MOST - 1) % MOST, right = (rank + 1) % MOST;

    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, sides, closed, 0, &ring));
    clear();
    COLLECTIVE(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, ring));
    CHECK(b[0] == left && b[1] == right);
    COLLECTIVE(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, ones, places, MPI_INT, ring));
    COLLECTIVE(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, ring));
    COLLECTIVE(MPI_Neighbor_alltoallv(a, ones, places, MPI_INT, b, ones, places, MPI_INT, ring));
    COLLECTIVE(MPI_Neighbor_alltoallw(a, ones, at, types, b, ones, at, types, ring));
    CHECK(b[0] == left && b[1] == right);
    NONBLOCKING(MPI_Ineighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, ring, &request));
    NONBLOCKING(MPI_Ineighbor_allgatherv(a, 1, MPI_INT, b, ones, places, MPI_INT, ring, &request));
    NONBLOCKING(MPI_Ineighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, ring, &request));
    NONBLOCKING(MPI_Ineighbor_alltoallv(a, ones, places, MPI_INT, b, ones, places, MPI_INT, ring, &request));
    NONBLOCKING(MPI_Ineighbor_alltoallw(a, ones, at, types, b, ones, at, types, ring, &request));
    CHECK(b[0] == left && b[1] == right);
    OK(MPI_Comm_free(&ring));
}

int main(int argc, char **argv) {
    MPI_Comm backwards;
    start(&argc, &argv, MOST);
    CHECK(size == MOST);
    for (int i = 0; i < MOST; i++) types[i] = MPI_INT;
    for (int root = 0; root < size; root++) with_root(root, MPI_COMM_WORLD);
    without_root(MPI_COMM_WORLD);
    in_place(MPI_COMM_WORLD);
    small();
    between_groups();
    nonblocking(0, MPI_COMM_WORLD);
    nonblocking(2, MPI_COMM_WORLD);
    neighbours();
    /* A root whose number is not that of its process. */
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards));
    clear();
    COLLECTIVE(MPI_Bcast(a, 1, MPI_INT, 0, backwards));
    CHECK(a[0] == MOST - 1);
    OK(MPI_Comm_free(&backwards));
    finish_expecting();
    return 0;
}
