/* Probes of all kinds that find a message, with and without a status, and some that find none. The messages go round a
 * ring, on a communicator with reversed ranks. 2 to 4 ranks. */
#include "../expect.h"

static MPI_Comm ring;
static int left, right;

static void send(int tag) {
    OK(MPI_Send(&rank, 1, MPI_INT, right, tag, ring));
    EXPECT(MpiSend);
}

static void receive(int tag) {
    int got;
    OK(MPI_Recv(&got, 1, MPI_INT, left, tag, ring, MPI_STATUS_IGNORE));
    EXPECT(MpiRecv);
}

static void receive_matched(MPI_Message *message) {
    int got;
    OK(MPI_Mrecv(&got, 1, MPI_INT, message, MPI_STATUS_IGNORE));
    EXPECT(MpiRecv);
}

NOINLINE void blocking(void) {
    MPI_Message message;
    MPI_Status status;

    send(1);
    OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, ring, &status));
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 1);
    OK(MPI_Probe(left, 1, ring, MPI_STATUS_IGNORE));
    receive(1);
    send(2);
    OK(MPI_Mprobe(MPI_ANY_SOURCE, 2, ring, &message, MPI_STATUS_IGNORE));
    receive_matched(&message);
}

/* Messages that a blocking probe has found are there. */
NOINLINE void polling(void) {
    MPI_Message message;
    int found;

    send(3);
    OK(MPI_Probe(left, 3, ring, MPI_STATUS_IGNORE));
    OK(MPI_Iprobe(left, MPI_ANY_TAG, ring, &found, MPI_STATUS_IGNORE));
    CHECK(found);
    receive(3);
    send(4);
    OK(MPI_Probe(left, 4, ring, MPI_STATUS_IGNORE));
    OK(MPI_Improbe(left, 4, ring, &found, &message, MPI_STATUS_IGNORE));
    CHECK(found);
    receive_matched(&message);
}

/* Nothing has been sent, or from nowhere. */
NOINLINE void in_vain(void) {
    MPI_Message message;
    MPI_Status status;
    int found;

    OK(MPI_Iprobe(left, 99, ring, &found, &status));
    CHECK(!found);
    OK(MPI_Improbe(left, 99, ring, &found, &message, MPI_STATUS_IGNORE));
    CHECK(!found);
    OK(MPI_Probe(MPI_PROC_NULL, 99, ring, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Mprobe(MPI_PROC_NULL, 99, ring, &message, MPI_STATUS_IGNORE));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(NULL, 0, MPI_INT, &message, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    int number;
    start(&argc, &argv, 2);
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &ring));
    OK(MPI_Comm_rank(ring, &number));
    left = (number + size - 1) % size;
    right = (number + 1) % size;
    blocking();
    polling();
    in_vain();
    OK(MPI_Comm_free(&ring));
    finish_expecting();
    return 0;
}
