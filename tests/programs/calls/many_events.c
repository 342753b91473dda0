/* Leaves as many events a rank as the argument says (default 10^6), or a few more, by messages from each rank to
 * itself. A round has 11: four calls entered and left, and the posted receive, the send, and the receive. 1 or 2 ranks.
 */
#include "../expect.h"

#define EVENTS_A_ROUND 11

NOINLINE int exchange(int value) {
    int got = -1;
    MPI_Request request;
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
    OK(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return got;
}

NOINLINE int ask(void) {
    int number;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &number));
    return number;
}

int main(int argc, char **argv) {
    long rounds;
    start(&argc, &argv, 1);
    rounds = ((argc > 1 ? atol(argv[1]) : 1000000) + EVENTS_A_ROUND - 1) / EVENTS_A_ROUND;
    for (long i = 0; i < rounds; i++) {
        CHECK(exchange((int)i) == (int)i);
        CHECK(ask() == rank);
    }
    EXPECT_MANY(MpiIrecvRequest, rounds);
    EXPECT_MANY(MpiSend, rounds);
    EXPECT_MANY(MpiIrecv, rounds);
    finish_expecting();
    return 0;
}
