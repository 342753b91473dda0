/* Ranks in a ring begin to exchange long messages, await them at once, and work then on what does not need them.
 * FIRST ADVICE: p2p/no-overlap.
 * FIXED: they are awaited behind that work, in which MPI_Testall is called every 2 milliseconds. How much of the transfer
 * that hides hangs on the library and the processors that are free.
 * RANKS: 4, over TCP; WHAT-IF: overlap=MPI_Waitall */
#include "advice.h"

enum { STEPS = 12, LENGTH = 8 << 20, PARTS = 20 };

WORK(relax_inside)

static MPI_Request requests[2];

NOINLINE void begin_exchange(char *in, char *out) {
    OK(MPI_Irecv(in, LENGTH * scale, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, LENGTH * scale, MPI_BYTE, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]));
}

NOINLINE void look_after_exchange(void) {
    int all;
    OK(MPI_Testall(2, requests, &all, no_statuses));
}

NOINLINE void end_exchange(void) { OK(MPI_Waitall(2, requests, no_statuses)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *in = bytes(LENGTH), *out = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        out[0] = (char)(step + 1);
        begin_exchange(in, out);
        if (!is_fixed) end_exchange();
        for (int part = 0; part < PARTS; part++) {
            relax_inside(2);
            if (is_fixed) look_after_exchange();
        }
        if (is_fixed) end_exchange();
        CHECK(in[0] == (char)(step + 1));
    }
    free(in), free(out);
    end();
    return 0;
}
