/* Messages in partitions, which are made ready in all ways and by four threads at once, beside ordinary messages with the
 * same tag; and two pairs of requests with the same tag, which are started in different orders. NEEDS: MPI-4. 2 ranks. */
#include "../expect.h"

#include <pthread.h>

#define TAG 7
#define THREADS 4
#define ROUNDS 3

static MPI_Status *volatile no_statuses = MPI_STATUSES_IGNORE;

static void start_one(MPI_Request *request) {
    OK(MPI_Start(request));
    if (rank == 1) EXPECT(MpiIrecvRequest);
}

static void wait_for(MPI_Request *request) {
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (rank == 0) EXPECT(MpiIsendComplete);
    else EXPECT(MpiIrecv);
}

/* A send of 4 times 2 integers, a receive of 2 times 4. An ordinary message of one integer with the same tag goes first, and
 * is received last. */
NOINLINE void beside_others(void) {
    int data[8] = {0}, value = -1;
    MPI_Request request;

    if (rank == 0) OK(MPI_Psend_init(data, 4, 2, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    else OK(MPI_Precv_init(data, 2, 4, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int round = 0; round < ROUNDS; round++) {
        static int last[1] = {3};
        if (rank == 0) {
            OK(MPI_Send(&round, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD));
            EXPECT(MpiSend);
            for (int i = 0; i < 8; i++) data[i] = 100 * round + i;
        }
        start_one(&request);
        if (rank == 0) {
            OK(MPI_Pready(2, request));
            OK(MPI_Pready_range(0, 1, request));
            OK(MPI_Pready_list(1, last, request));
            EXPECT(MpiIsend);
        } else {
            int there;
            OK(MPI_Parrived(request, 1, &there));
        }
        wait_for(&request);
        if (rank == 1) {
            CHECK(data[7] == 100 * round + 7);
            OK(MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            EXPECT(MpiRecv);
            CHECK(value == round);
        }
    }
    OK(MPI_Request_free(&request));
}

static MPI_Request shared;

static void *make_ready(void *number) {
    const int first = 2 * *(const int *)number;
    OK(MPI_Pready(first, shared));
    OK(MPI_Pready(first + 1, shared));
    return NULL;
}

/* Eight partitions, two of each thread; the send is tested before the first is ready. */
NOINLINE void by_threads(void) {
    double data[8];

    for (int i = 0; i < 8; i++) data[i] = rank == 0 ? i : -1;
    if (rank == 0) OK(MPI_Psend_init(data, 8, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &shared));
    else OK(MPI_Precv_init(data, 8, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &shared));
    for (int round = 0; round < ROUNDS; round++) {
        start_one(&shared);
        if (rank == 0) {
            pthread_t threads[THREADS];
            int numbers[THREADS], done = 1;
            OK(MPI_Test(&shared, &done, MPI_STATUS_IGNORE)); /* leaves nothing: it has not been sent */
            CHECK(!done);
            for (int i = 0; i < THREADS; i++) {
                numbers[i] = i;
                CHECK(pthread_create(&threads[i], NULL, make_ready, &numbers[i]) == 0);
            }
            for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
            EXPECT(MpiIsend);
        }
        wait_for(&shared);
    }
    CHECK(data[7] == 7);
    OK(MPI_Request_free(&shared));
}

/* Two pairs with the same tag, of 1 and of 3 integers. The sender starts the second pair first. */
NOINLINE void two_pairs(void) {
    int one[1] = {-1}, three[3] = {-1, -1, -1};
    MPI_Request pairs[2];

    if (rank == 0) {
        one[0] = 1;
        three[2] = 3;
        OK(MPI_Psend_init(one, 1, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &pairs[0]));
        OK(MPI_Psend_init(three, 1, 3, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &pairs[1]));
        for (int at = 1; at >= 0; at--) {
            start_one(&pairs[at]);
            OK(MPI_Pready(0, pairs[at]));
            EXPECT(MpiIsend);
        }
    } else {
        OK(MPI_Precv_init(one, 1, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &pairs[0]));
        OK(MPI_Precv_init(three, 1, 3, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &pairs[1]));
        OK(MPI_Startall(2, pairs));
        EXPECT_MANY(MpiIrecvRequest, 2);
    }
    OK(MPI_Waitall(2, pairs, no_statuses));
    if (rank == 0) EXPECT_MANY(MpiIsendComplete, 2);
    else EXPECT_MANY(MpiIrecv, 2);
    CHECK(one[0] == 1 && three[2] == 3);
    for (int i = 0; i < 2; i++) OK(MPI_Request_free(&pairs[i]));
}

int main(int argc, char **argv) {
    int provided;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size == 2 && provided == MPI_THREAD_MULTIPLE);
    beside_others();
    by_threads();
    two_pairs();
    finish_expecting();
    return 0;
}
