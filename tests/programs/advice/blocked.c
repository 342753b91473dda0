/* In pairs of ranks one sends a long message in each step, in turn, and the other one computes before it receives. The message
 * waits for its receive.
 * FIRST ADVICE: p2p/late-receive.
 * FIXED: the receive is posted before computing, and the send does not block; both are awaited behind it. A step takes 20
 * milliseconds, and the message, instead of 40. (An earlier receive alone saves nothing where libraries move long messages
 * only while both are in MPI.)
 * RANKS: 4; WHAT-IF: eager=all */
#include "exchange.h"

enum { STEPS = 20, LENGTH = 256 << 10 };

WORK(compute)

static MPI_Request request;

NOINLINE void give(char *data) { OK(MPI_Send(data, LENGTH * scale, MPI_BYTE, partner(), 0, MPI_COMM_WORLD)); }

NOINLINE void take(char *data) {
    OK(MPI_Recv(data, LENGTH * scale, MPI_BYTE, partner(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

NOINLINE void begin_to_give(char *data) {
    OK(MPI_Isend(data, LENGTH * scale, MPI_BYTE, partner(), 0, MPI_COMM_WORLD, &request));
}

NOINLINE void begin_to_take(char *data) {
    OK(MPI_Irecv(data, LENGTH * scale, MPI_BYTE, partner(), 0, MPI_COMM_WORLD, &request));
}

NOINLINE void end_exchange(void) { OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    CHECK(size % 2 == 0);
    char *data = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        if (gives(step)) data[0] = (char)step;
        if (is_fixed) {
            if (gives(step)) begin_to_give(data);
            else begin_to_take(data);
            compute(20);
            end_exchange();
        } else if (gives(step)) {
            give(data);
            compute(20);
        } else {
            compute(20);
            take(data);
        }
        CHECK(data[0] == (char)step);
    }
    free(data);
    end();
    return 0;
}
