/* Each rank sends a long message to all others, first to rank 0, then to rank 1, and so on, so that all wait for the same one.
 * FIRST ADVICE: p2p/hot-receiver.
 * FIXED: each begins with the rank above its own. What that saves hangs on the machine: nothing where processors are fewer
 * than ranks and copying is all there is to do.
 * RANKS: 16; WHAT-IF: none sends in another order */
#include "advice.h"

enum { STEPS = 3, LENGTH = 512 << 10 };

WORK(relax)

static MPI_Request requests[64];

NOINLINE void begin_to_receive(char *in) {
    for (int k = 0; k < size; k++) {
        if (k == rank) requests[k] = MPI_REQUEST_NULL;
        else OK(MPI_Irecv(in + (long)k * LENGTH * scale, LENGTH * scale, MPI_BYTE, k, 0, MPI_COMM_WORLD, &requests[k]));
    }
}

NOINLINE void send_to_all(char *out) {
    for (int k = 0; k < size; k++) {
        const int to = is_fixed ? (rank + 1 + k) % size : k;
        if (to != rank) OK(MPI_Send(out, LENGTH * scale, MPI_BYTE, to, 0, MPI_COMM_WORLD));
    }
}

NOINLINE void end_receiving(void) { OK(MPI_Waitall(size, requests, no_statuses)); }

int main(int argc, char **argv) {
    begin(argc, argv, 4);
    CHECK(size <= 64);
    char *in = bytes((long)size * LENGTH), *out = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        begin_to_receive(in);
        relax(20);
        out[0] = (char)(step + 1);
        send_to_all(out);
        end_receiving();
        CHECK(in[(rank == 0 ? 1L : 0L) * LENGTH * scale] == (char)(step + 1));
    }
    free(in), free(out);
    end();
    return 0;
}
