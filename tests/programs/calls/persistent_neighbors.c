/* Persistent operations among neighbours, on a line. NEEDS: MPI-4. 3 ranks. */
#include "../expect.h"

static int a[8], b[8];
static const int counts[2] = {1, 2}, from[2] = {2, 1}, ones[2] = {1, 1}, places[2] = {0, 4};
static const MPI_Aint at[2] = {0, 16};
static const MPI_Datatype types[2] = {MPI_INT, MPI_INT};

int main(int argc, char **argv) {
    static const int sides[1] = {3}, open[1] = {0};
    MPI_Info none = MPI_INFO_NULL;
    MPI_Request all[5];
    MPI_Comm line;

    start(&argc, &argv, 3);
    CHECK(size == 3);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, sides, open, 0, &line));
    OK(MPI_Neighbor_allgather_init(a, 3, MPI_INT, b, 3, MPI_INT, line, none, &all[0]));
    OK(MPI_Neighbor_allgatherv_init(a, 1, MPI_INT, b, ones, places, MPI_INT, line, none, &all[1]));
    OK(MPI_Neighbor_alltoall_init(a, 2, MPI_INT, b, 2, MPI_INT, line, none, &all[2]));
    OK(MPI_Neighbor_alltoallv_init(a, counts, places, MPI_INT, b, from, places, MPI_INT, line, none, &all[3]));
    OK(MPI_Neighbor_alltoallw_init(a, counts, at, types, b, from, at, types, line, none, &all[4]));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5; i++) {
            OK(MPI_Start(&all[i]));
            EXPECT(NonBlockingCollectiveRequest);
            OK(MPI_Wait(&all[i], MPI_STATUS_IGNORE));
            EXPECT(NonBlockingCollectiveComplete);
        }
    }
    for (int i = 0; i < 5; i++) OK(MPI_Request_free(&all[i]));
    OK(MPI_Comm_free(&line));
    finish_expecting();
    return 0;
}
