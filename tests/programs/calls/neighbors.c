/* Operations among neighbours: on a line, where the ends have one neighbour only, on a duplicate of it, on a directed ring,
 * on a graph, and on one in which rank 2 has no neighbours. 3 ranks. */
#include "../expect.h"

static int a[8], b[8];
static const int counts[2] = {1, 2}, places[2] = {0, 4};
static const MPI_Aint at[2] = {0, 16};
static const MPI_Datatype types[2] = {MPI_INT, MPI_INT};

#define NONBLOCKING(call) \
    (OK(call), EXPECT(NonBlockingCollectiveRequest), OK(MPI_Wait(&request, MPI_STATUS_IGNORE)), \
     EXPECT(NonBlockingCollectiveComplete))

/* One integer to the left, two to the right; from the left two, from the right one. */
NOINLINE void line(void) {
    static const int sides[1] = {3}, open[1] = {0}, from[2] = {2, 1};
    MPI_Comm line, again;
    MPI_Request request;

    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, sides, open, 0, &line));
    COLLECTIVE(MPI_Neighbor_allgather(a, 3, MPI_INT, b, 3, MPI_INT, line));
    COLLECTIVE(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, (const int[2]){1, 1}, places, MPI_INT, line));
    COLLECTIVE(MPI_Neighbor_alltoall(a, 2, MPI_INT, b, 2, MPI_INT, line));
    COLLECTIVE(MPI_Neighbor_alltoallv(a, counts, places, MPI_INT, b, from, places, MPI_INT, line));
    COLLECTIVE(MPI_Neighbor_alltoallw(a, counts, at, types, b, from, at, types, line));
    OK(MPI_Comm_dup(line, &again));
    NONBLOCKING(MPI_Ineighbor_allgather(a, 3, MPI_INT, b, 3, MPI_INT, again, &request));
    NONBLOCKING(MPI_Ineighbor_allgatherv(a, 1, MPI_INT, b, (const int[2]){1, 1}, places, MPI_INT, again, &request));
    NONBLOCKING(MPI_Ineighbor_alltoall(a, 2, MPI_INT, b, 2, MPI_INT, again, &request));
    NONBLOCKING(MPI_Ineighbor_alltoallv(a, counts, places, MPI_INT, b, from, places, MPI_INT, again, &request));
    NONBLOCKING(MPI_Ineighbor_alltoallw(a, counts, at, types, b, from, at, types, again, &request));
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_free(&line));
}

/* Two integers from the left neighbour, and to the right one. */
NOINLINE void ring(void) {
    const int left = (rank + 2) % 3, right = (rank + 1) % 3;
    MPI_Comm ring;

    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                      &ring));
    COLLECTIVE(MPI_Neighbor_allgather(a, 2, MPI_INT, b, 2, MPI_INT, ring));
    OK(MPI_Comm_free(&ring));
}

/* Rank 0 has two edges to rank 1; rank 2 stands alone. */
NOINLINE void graphs(void) {
    static const int ends[3] = {1, 2, 2}, edges[2] = {1, 0}, twice[2] = {1, 1}, once[2] = {0, 0};
    const int incoming = rank == 1 ? 2 : 0, outgoing = rank == 0 ? 2 : 0;
    MPI_Comm pair;

    OK(MPI_Graph_create(MPI_COMM_WORLD, 3, ends, edges, 0, &pair));
    COLLECTIVE(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, pair));
    OK(MPI_Comm_free(&pair));
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, incoming, once, once, outgoing, twice, twice, MPI_INFO_NULL, 0, &pair));
    COLLECTIVE(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, pair));
    OK(MPI_Comm_free(&pair));
}

int main(int argc, char **argv) {
    start(&argc, &argv, 3);
    CHECK(size == 3);
    line();
    ring();
    graphs();
    finish_expecting();
    return 0;
}
