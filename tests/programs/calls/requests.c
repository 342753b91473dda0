/* Makes and completes requests in all ways. Every message is a rank's to itself or to its neighbour in a ring, so that
 * the records are as many on every rank. 2 to 4 ranks. */
#include "../expect.h"

#include <string.h>

#define MOST 4

static int left, right;
static char buffer[1 << 16];

/* MPICH declares arrays of statuses so that the compiler takes MPI_STATUSES_IGNORE for an array that is too short. */
static MPI_Status *volatile no_statuses = MPI_STATUSES_IGNORE;

/* Completes n requests at once. */
static void wait_all(int n, MPI_Request *requests) { OK(MPI_Waitall(n, requests, no_statuses)); }

static void receive(int *value, int tag, MPI_Request *request) {
    OK(MPI_Irecv(value, 1, MPI_INT, left, tag, MPI_COMM_WORLD, request));
    EXPECT(MpiIrecvRequest);
}

static void send(const int *value, int tag) {
    OK(MPI_Send(value, 1, MPI_INT, right, tag, MPI_COMM_WORLD));
    EXPECT(MpiSend);
}

/* Nobody goes on before all are here: what was sent before may have arrived, what is sent later cannot have. */
static void align(void) { COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD)); }

NOINLINE void blocking(void) {
    int value = rank, got = -1;
    MPI_Request request;

    /* A standard, a buffered, a synchronous and a ready send; the receives are posted before. */
    for (int kind = 0; kind < 4; kind++) {
        receive(&got, kind, &request);
        align();
        if (kind == 0) OK(MPI_Send(&value, 1, MPI_INT, right, kind, MPI_COMM_WORLD));
        if (kind == 1) OK(MPI_Bsend(&value, 1, MPI_INT, right, kind, MPI_COMM_WORLD));
        if (kind == 2) OK(MPI_Ssend(&value, 1, MPI_INT, right, kind, MPI_COMM_WORLD));
        if (kind == 3) OK(MPI_Rsend(&value, 1, MPI_INT, right, kind, MPI_COMM_WORLD));
        EXPECT(MpiSend);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        EXPECT(MpiIrecv);
        CHECK(got == left);
    }
    OK(MPI_Sendrecv(&value, 1, MPI_INT, right, 5, &got, 1, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EXPECT(MpiSend), EXPECT(MpiRecv);
    OK(MPI_Sendrecv_replace(&got, 1, MPI_INT, left, 6, right, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EXPECT(MpiSend), EXPECT(MpiRecv);
    CHECK(got == rank);
    /* An empty message. */
    OK(MPI_Sendrecv(NULL, 0, MPI_INT, right, 7, NULL, 0, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EXPECT(MpiSend), EXPECT(MpiRecv);
}

NOINLINE void wildcards(void) {
    int value = rank, got = -1, flag, count;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;

    send(&value, 10);
    OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 10);
    OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EXPECT(MpiRecv);
    send(&value, 11);
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    EXPECT(MpiIrecvRequest);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT(MpiIrecv);
    CHECK(got == left);
    /* A buffer longer than the message. */
    send(&value, 12);
    OK(MPI_Recv(buffer, sizeof buffer, MPI_BYTE, MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &status));
    EXPECT(MpiRecv);
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count == sizeof value);

    send(&value, 13);
    OK(MPI_Mprobe(MPI_ANY_SOURCE, 13, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    EXPECT(MpiRecv);
    send(&value, 14);
    OK(MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Imrecv(&got, 1, MPI_INT, &message, &request));
    EXPECT(MpiIrecvRequest);
    OK(MPI_Wait(&request, &status));
    EXPECT(MpiIrecv);
    align();
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Improbe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    CHECK(!flag);
}

NOINLINE void nonblocking(void) {
    int value = rank, got[MOST];
    MPI_Request requests[2 * MOST];

    for (int i = 0; i < MOST; i++) receive(&got[i], 20 + i, &requests[i]);
    align();
    OK(MPI_Isend(&value, 1, MPI_INT, right, 20, MPI_COMM_WORLD, &requests[4]));
    OK(MPI_Ibsend(&value, 1, MPI_INT, right, 21, MPI_COMM_WORLD, &requests[5]));
    OK(MPI_Issend(&value, 1, MPI_INT, right, 22, MPI_COMM_WORLD, &requests[6]));
    OK(MPI_Irsend(&value, 1, MPI_INT, right, 23, MPI_COMM_WORLD, &requests[7]));
    EXPECT_MANY(MpiIsend, 4);
    wait_all(8, requests);
    EXPECT_MANY(MpiIsendComplete, 4), EXPECT_MANY(MpiIrecv, 4);
    for (int i = 0; i < MOST; i++) CHECK(got[i] == left);
}

NOINLINE void waits(void) {
    int value = rank, got[MOST], index, count, done = 0, indices[MOST];
    MPI_Request requests[MOST];
    MPI_Status status, statuses[MOST];

    for (int i = 0; i < MOST; i++) receive(&got[i], 30 + i, &requests[i]);
    for (int i = 0; i < MOST; i++) send(&value, 30 + MOST - 1 - i);
    for (int i = 0; i < MOST; i++) {
        OK(MPI_Waitany(MOST, requests, &index, &status));
        EXPECT(MpiIrecv);
        CHECK(status.MPI_TAG == 30 + index && requests[index] == MPI_REQUEST_NULL);
    }
    OK(MPI_Waitany(MOST, requests, &index, MPI_STATUS_IGNORE));
    CHECK(index == MPI_UNDEFINED);

    /* How many calls it takes is not known; so all have arrived before. */
    for (int i = 0; i < MOST; i++) receive(&got[i], 40 + i, &requests[i]);
    align();
    for (int i = 0; i < MOST; i++) OK(MPI_Ssend(&value, 1, MPI_INT, right, 40 + i, MPI_COMM_WORLD)), EXPECT(MpiSend);
    align();
    OK(MPI_Waitsome(MOST, requests, &done, indices, statuses));
    CHECK(done >= 1);
    EXPECT_MANY(MpiIrecv, MOST);
    wait_all(MOST, requests);
    OK(MPI_Waitsome(MOST, requests, &count, indices, no_statuses));
    CHECK(count == MPI_UNDEFINED);
}

NOINLINE void tests(void) {
    int value = rank, got[MOST], flag, index, count, indices[MOST];
    MPI_Request requests[MOST];

    /* Nothing has been sent: each of these finds its active requests incomplete. */
    for (int i = 0; i < MOST; i++) receive(&got[i], 50 + i, &requests[i]);
    OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    EXPECT(MpiRequestTest);
    OK(MPI_Testany(MOST, requests, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag && index == MPI_UNDEFINED);
    EXPECT_MANY(MpiRequestTest, MOST);
    OK(MPI_Testall(MOST, requests, &flag, no_statuses));
    CHECK(!flag);
    EXPECT_MANY(MpiRequestTest, MOST);
    OK(MPI_Testsome(MOST, requests, &count, indices, no_statuses));
    CHECK(count == 0);
    EXPECT_MANY(MpiRequestTest, MOST);
    OK(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    EXPECT(MpiRequestTest);
    align();

    /* A synchronous send is over when it has been received, and the barrier is passed when all are: now each of these
     * finds its requests complete. */
    for (int i = 0; i < MOST; i++) OK(MPI_Ssend(&value, 1, MPI_INT, right, 50 + i, MPI_COMM_WORLD)), EXPECT(MpiSend);
    align();
    OK(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    EXPECT(MpiIrecv);
    OK(MPI_Testany(MOST, requests, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag && index == 1);
    EXPECT(MpiIrecv);
    OK(MPI_Testall(MOST, requests, &flag, no_statuses));
    CHECK(flag);
    EXPECT_MANY(MpiIrecv, 2);
    OK(MPI_Testsome(MOST, requests, &count, indices, no_statuses));
    CHECK(count == MPI_UNDEFINED);
    OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
}

NOINLINE void persistent(void) {
    int value = rank, got[MOST];
    MPI_Request requests[2 * MOST];
    MPI_Status status;

    for (int i = 0; i < MOST; i++)
        OK(MPI_Recv_init(&got[i], 1, MPI_INT, left, 60 + i, MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Send_init(&value, 1, MPI_INT, right, 60, MPI_COMM_WORLD, &requests[4]));
    OK(MPI_Bsend_init(&value, 1, MPI_INT, right, 61, MPI_COMM_WORLD, &requests[5]));
    OK(MPI_Ssend_init(&value, 1, MPI_INT, right, 62, MPI_COMM_WORLD, &requests[6]));
    OK(MPI_Rsend_init(&value, 1, MPI_INT, right, 63, MPI_COMM_WORLD, &requests[7]));
    /* Inactive: nothing happens. */
    OK(MPI_Wait(&requests[0], &status));
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE);
    for (int round = 0; round < 3; round++) {
        OK(MPI_Startall(MOST, requests));
        EXPECT_MANY(MpiIrecvRequest, MOST);
        align();
        for (int i = MOST; i < 2 * MOST; i++) OK(MPI_Start(&requests[i]));
        EXPECT_MANY(MpiIsend, MOST);
        wait_all(2 * MOST, requests);
        EXPECT_MANY(MpiIsendComplete, MOST), EXPECT_MANY(MpiIrecv, MOST);
        for (int i = 0; i < MOST; i++) CHECK(got[i] == left);
    }
    for (int i = 0; i < 2 * MOST; i++) OK(MPI_Request_free(&requests[i]));
}

NOINLINE void given_up(void) {
    int value = rank, got = -1, flag;
    MPI_Request request, freed;
    MPI_Status status;

    /* A receive that nothing is sent to. */
    receive(&got, 70, &request);
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    EXPECT(MpiRequestCancelled);
    /* A receive that has its message keeps it. */
    receive(&got, 71, &request);
    align();
    OK(MPI_Ssend(&value, 1, MPI_INT, right, 71, MPI_COMM_WORLD)), EXPECT(MpiSend);
    align();
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(!flag && got == left);
    EXPECT(MpiIrecv);
    /* A send whose end nobody asks for: to a recorder it ends here. */
    receive(&got, 72, &request);
    OK(MPI_Isend(&value, 1, MPI_INT, right, 72, MPI_COMM_WORLD, &freed));
    EXPECT(MpiIsend);
    OK(MPI_Request_free(&freed));
    EXPECT(MpiIsendComplete);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT(MpiIrecv);
}

/* What leaves no record. */
NOINLINE void nothing(void) {
    int value = rank, got = -1, flag;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;

    OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 80, MPI_COMM_WORLD));
    OK(MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, 80, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && got == -1);
    OK(MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 81, &got, 1, MPI_INT, MPI_PROC_NULL, 81, MPI_COMM_WORLD, &status));
    OK(MPI_Wait(&requests[0], &status));
    OK(MPI_Test(&requests[0], &flag, &status));
    CHECK(flag);
    wait_all(2, requests);
    OK(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 82, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_PROC_NULL, 82, MPI_COMM_WORLD, &requests[1]));
    wait_all(2, requests);
    OK(MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 83, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Start(&requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&requests[0]));
}

/* Requests that a rank sends itself. */
NOINLINE void to_itself(void) {
    int value = rank, got = -1;
    MPI_Request requests[2];

    OK(MPI_Irecv(&got, 1, MPI_INT, 0, 90, MPI_COMM_SELF, &requests[0]));
    EXPECT(MpiIrecvRequest);
    OK(MPI_Isend(&value, 1, MPI_INT, 0, 90, MPI_COMM_SELF, &requests[1]));
    EXPECT(MpiIsend);
    wait_all(2, requests);
    EXPECT(MpiIsendComplete), EXPECT(MpiIrecv);
    CHECK(got == rank);
}

static int no_query(void *state, MPI_Status *status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int no_free(void *state) { return (void)state, MPI_SUCCESS; }
static int no_cancel(void *state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }

/* The program's own kind of request: its callbacks are called within MPI_Wait, and what they call is not recorded. */
NOINLINE void generalized(void) {
    MPI_Request request;
    OK(MPI_Grequest_start(no_query, no_free, no_cancel, NULL, &request));
    OK(MPI_Grequest_complete(request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    char *detached;
    int bytes;
    start(&argc, &argv, 2);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    memset(buffer, 0, sizeof buffer);
    OK(MPI_Buffer_attach(malloc(1 << 16), 1 << 16));
    blocking();
    wildcards();
    nonblocking();
    waits();
    tests();
    persistent();
    given_up();
    nothing();
    to_itself();
    generalized();
    align();
    OK(MPI_Buffer_detach(&detached, &bytes));
    free(detached);
    finish_expecting();
    return 0;
}
