/* Moves known numbers of bytes in messages, collective operations, one-sided communication and files: with derived types, in
 * place, to nobody, beyond the end of a file. Collective operations count as if each process communicated with each, itself
 * included. 2 to 4 ranks. */
#include "../expect.h"

#define INT ((long)sizeof(int))
#define MOST 4

/* Three integers of five: 12 bytes. */
static MPI_Datatype three;
static int left, right;
static int a[64], b[64];
/* The compiler takes MPICH's MPI_STATUSES_IGNORE for an array that is too short. */
static MPI_Status *volatile no_statuses = MPI_STATUSES_IGNORE;

static void wait_for(MPI_Request *request) { OK(MPI_Wait(request, MPI_STATUS_IGNORE)); }

NOINLINE void messages(void) {
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Status status;

    OK(MPI_Sendrecv(a, 2, three, right, 1, b, 20, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
    EXPECT_MANY(MpiSendBytes, 24);
    EXPECT_MANY(MpiRecvBytes, 24);
    OK(MPI_Irecv(b, 64, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(a, 5, MPI_SHORT, right, 2, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, no_statuses));
    EXPECT_MANY(MpiIsendBytes, 10);
    EXPECT_MANY(MpiIrecvBytes, 10);
    OK(MPI_Irecv(b, 1, three, left, 3, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Ssend(NULL, 0, MPI_INT, right, 3, MPI_COMM_WORLD));
    wait_for(&requests[0]);
    OK(MPI_Recv_init(b, 7, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send_init(a, 7, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, no_statuses));
        EXPECT_MANY(MpiIsendBytes, 28);
        EXPECT_MANY(MpiIrecvBytes, 28);
    }
    for (int i = 0; i < 2; i++) OK(MPI_Request_free(&requests[i]));
    OK(MPI_Isend(a, 1, MPI_DOUBLE, right, 5, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Mprobe(left, 5, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Mrecv(b, 8, MPI_DOUBLE, &message, &status));
    wait_for(&requests[1]);
    EXPECT_MANY(MpiIsendBytes, 8);
    EXPECT_MANY(MpiRecvBytes, 8);
    OK(MPI_Send(a, 64, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD));
}

#define MOVES(call, sent, received) \
    (COLLECTIVE(call), EXPECT_MANY(MpiCollectiveEndSent, (sent)), EXPECT_MANY(MpiCollectiveEndReceived, (received)))
#define AT_ROOT(bytes) (rank == 0 ? (bytes) : 0)

/* Each rank has rank + 1 integers for whatever depends on the rank. */
NOINLINE void collectives(void) {
    const long all = INT * size * (size + 1) / 2, own = INT * (rank + 1);
    int counts[MOST], places[MOST], offsets[MOST];
    MPI_Datatype types[MOST];

    for (int i = 0; i < MOST; i++) {
        counts[i] = i + 1;
        places[i] = 8 * i;
        offsets[i] = places[i] * (int)INT;
        types[i] = MPI_INT;
    }
    MOVES(MPI_Barrier(MPI_COMM_WORLD), 0, 0);
    MOVES(MPI_Bcast(a, 1, three, 0, MPI_COMM_WORLD), AT_ROOT(12 * size), 12);
    MOVES(MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, 0, MPI_COMM_WORLD), 2 * INT, AT_ROOT(2 * INT * size));
    MOVES(MPI_Gather(rank == 0 ? MPI_IN_PLACE : a, 2, MPI_INT, b, 2, MPI_INT, 0, MPI_COMM_WORLD), rank == 0 ? 0 : 2 * INT,
          AT_ROOT(2 * INT * (size - 1)));
    MOVES(MPI_Gatherv(a, rank + 1, MPI_INT, b, counts, places, MPI_INT, 0, MPI_COMM_WORLD), own, AT_ROOT(all));
    MOVES(MPI_Scatter(a, 2, MPI_INT, b, 2, MPI_INT, 0, MPI_COMM_WORLD), AT_ROOT(2 * INT * size), 2 * INT);
    MOVES(MPI_Scatterv(a, counts, places, MPI_INT, b, rank + 1, MPI_INT, 0, MPI_COMM_WORLD), AT_ROOT(all), own);
    MOVES(MPI_Allgather(a, 3, MPI_INT, b, 3, MPI_INT, MPI_COMM_WORLD), 3 * INT * size, 3 * INT * size);
    MOVES(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, b, 3, MPI_INT, MPI_COMM_WORLD), 3 * INT * (size - 1), 3 * INT * (size - 1));
    MOVES(MPI_Allgatherv(a, rank + 1, MPI_INT, b, counts, places, MPI_INT, MPI_COMM_WORLD), own * size, all);
    MOVES(MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, MPI_COMM_WORLD), 2 * INT * size, 2 * INT * size);
    /* To each as many as its rank says, from each as many as the own rank says. */
    for (int i = 0; i < MOST; i++) counts[i] = rank + 1;
    {
        static const int to[MOST] = {1, 2, 3, 4};
        MOVES(MPI_Alltoallv(a, to, places, MPI_INT, b, counts, places, MPI_INT, MPI_COMM_WORLD), all, own * size);
        MOVES(MPI_Alltoallw(a, to, offsets, types, b, counts, offsets, types, MPI_COMM_WORLD), all, own * size);
        MOVES(MPI_Reduce_scatter(a, b, to, MPI_INT, MPI_SUM, MPI_COMM_WORLD), all, own * size);
    }
    for (int i = 0; i < MOST; i++) counts[i] = 2;
    MOVES(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, b, counts, places, MPI_INT, MPI_COMM_WORLD), 2 * INT * (size - 1),
          2 * INT * (size - 1));
    MOVES(MPI_Allreduce(a, b, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 5 * INT * size, 5 * INT * size);
    MOVES(MPI_Reduce(a, b, 5, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), 5 * INT, AT_ROOT(5 * INT * size));
    MOVES(MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 2 * INT * size, 2 * INT * size);
    MOVES(MPI_Scan(a, b, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 4 * INT * (size - rank), 4 * INT * (rank + 1));
    MOVES(MPI_Exscan(a, b, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 4 * INT * (size - rank - 1), 4 * INT * rank);
}

#define STARTS(call, sent, received) \
    (OK(call), wait_for(&request), EXPECT_MANY(NonBlockingCollectiveCompleteSent, (sent)), \
     EXPECT_MANY(NonBlockingCollectiveCompleteReceived, (received)))

NOINLINE void later(void) {
    MPI_Request request;
    MPI_Comm ring;
    const int periodic = 1;

    STARTS(MPI_Iallreduce(a, b, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), 5 * INT * size, 5 * INT * size);
    STARTS(MPI_Ibcast(a, 2, three, 0, MPI_COMM_WORLD, &request), AT_ROOT(24 * size), 24);
    STARTS(MPI_Iscan(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), INT * (size - rank), INT * (rank + 1));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring));
    MOVES(MPI_Neighbor_allgather(a, 1, three, b, 3, MPI_INT, ring), 24, 24);
    STARTS(MPI_Ineighbor_alltoall(a, 2, MPI_INT, b, 2, MPI_INT, ring, &request), 16, 16);
    OK(MPI_Comm_free(&ring));
}

NOINLINE void one_sided(void) {
    MPI_Win window;
    int *memory;
    int results[2];

    OK(MPI_Win_allocate(64 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    OK(MPI_Win_fence(0, window));
    OK(MPI_Put(a, 2, three, right, 0, 6, MPI_INT, window));
    EXPECT_MANY(RmaPutBytes, 24);
    OK(MPI_Put(a, 2, three, MPI_PROC_NULL, 0, 6, MPI_INT, window));
    OK(MPI_Get(b, 5, MPI_INT, left, 20, 5, MPI_INT, window));
    EXPECT_MANY(RmaGetBytes, 20);
    OK(MPI_Accumulate(a, 3, MPI_INT, right, 30, 3, MPI_INT, MPI_SUM, window));
    EXPECT_MANY(RmaAtomicSent, 12);
    OK(MPI_Win_fence(0, window));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window));
    OK(MPI_Get_accumulate(a, 4, MPI_INT, b, 4, MPI_INT, right, 40, 4, MPI_INT, MPI_SUM, window));
    EXPECT_MANY(RmaAtomicSent, 16);
    EXPECT_MANY(RmaAtomicReceived, 16);
    OK(MPI_Win_flush(right, window));
    OK(MPI_Get_accumulate(NULL, 0, MPI_INT, b, 4, MPI_INT, right, 40, 4, MPI_INT, MPI_NO_OP, window));
    EXPECT_MANY(RmaAtomicReceived, 16);
    OK(MPI_Win_flush(right, window));
    OK(MPI_Fetch_and_op(a, &results[0], MPI_INT, right, 50, MPI_SUM, window));
    OK(MPI_Win_flush(right, window));
    OK(MPI_Compare_and_swap(a, b, &results[1], MPI_INT, right, 51, window));
    EXPECT_MANY(RmaAtomicSent, 8);
    EXPECT_MANY(RmaAtomicReceived, 8);
    OK(MPI_Win_unlock(right, window));
    OK(MPI_Win_free(&window));
}

/* Each rank writes six integers behind each other, and reads ten where its own begin: the last one finds only its own. */
NOINLINE void files(void) {
    const MPI_Offset mine = 6 * INT * rank, end = 6 * INT * size;
    const long there = end - mine < 10 * INT ? end - mine : 10 * INT;
    MPI_File file;

    OK(MPI_File_open(MPI_COMM_WORLD, "bytes.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_write_at_all(file, mine, a, 2, three, MPI_STATUS_IGNORE));
    EXPECT_MANY(IoOperationCompleteBytes, 24);
    OK(MPI_File_sync(file));
    MOVES(MPI_Barrier(MPI_COMM_WORLD), 0, 0);
    OK(MPI_File_sync(file));
    OK(MPI_File_read_at(file, mine, b, 10, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_MANY(IoOperationCompleteBytes, there);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    CHECK(size <= MOST);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    OK(MPI_Type_vector(1, 3, 5, MPI_INT, &three));
    OK(MPI_Type_commit(&three));
    messages();
    collectives();
    later();
    one_sided();
    files();
    OK(MPI_Type_free(&three));
    finish_expecting();
    return 0;
}
