/* All send to all, and receive in an order that begins with the rank that is late: in the step before it had a message that
 * took longer to digest. Each message is digested before the next one is received.
 * FIRST ADVICE: p2p/wrong-order.
 * FIXED: MPI_Waitany, in the order of arrival. What is saved is computed by going through the steps: 260 milliseconds for 5
 * ranks, 300 for 10.
 * RANKS: 5, 10; WHAT-IF: none receives in another order */
#include "advice.h"

enum { STEPS = 12, LENGTH = 512 };

WORK(digest)

static MPI_Request sends[64], receives[64];

NOINLINE void send_to_all(char *out) {
    for (int k = 0; k < size; k++) {
        if (k == rank) sends[k] = MPI_REQUEST_NULL;
        else OK(MPI_Isend(out, LENGTH * scale, MPI_BYTE, k, 0, MPI_COMM_WORLD, &sends[k]));
    }
}

NOINLINE void receive_from_all(char *in, int first) {
    for (int k = 0; k < size; k++) {
        const int source = (first + k) % size;
        if (source == rank) receives[k] = MPI_REQUEST_NULL;
        else OK(MPI_Irecv(in + k * LENGTH * scale, LENGTH * scale, MPI_BYTE, source, 0, MPI_COMM_WORLD, &receives[k]));
    }
}

NOINLINE void next_in_order(int k) { OK(MPI_Wait(&receives[k], MPI_STATUS_IGNORE)); }

NOINLINE int next_to_come(void) {
    int k;
    OK(MPI_Waitany(size, receives, &k, MPI_STATUS_IGNORE));
    return k;
}

NOINLINE void end_sends(void) { OK(MPI_Waitall(size, sends, no_statuses)); }

int main(int argc, char **argv) {
    begin(argc, argv, 3);
    CHECK(size <= 64);
    char *in = bytes((long)size * LENGTH), *out = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        int first = 1;
        out[0] = (char)step;
        receive_from_all(in, (step + size - 1) % size);
        send_to_all(out);
        for (int k = 0; k < size; k++) {
            int from = k;
            if (receives[k] == MPI_REQUEST_NULL && !is_fixed) continue;
            if (is_fixed && k == size - 1) continue;
            if (is_fixed) from = next_to_come();
            else next_in_order(k);
            CHECK(in[from * LENGTH * scale] == (char)step);
            digest(first && rank == step % size ? 40 : 10);
            first = 0;
        }
        end_sends();
    }
    free(in), free(out);
    end();
    return 0;
}
