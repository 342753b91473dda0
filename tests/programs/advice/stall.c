/* Pairs of ranks start their exchange before they relax, in turn 10 and 30 milliseconds, and await it behind that. The message
 * is so long that libraries move it only while both are in MPI: so each waits until the other has relaxed, too.
 * FIRST ADVICE: p2p/no-progress, at MPI_Waitall.
 * FIXED: MPI_Testall every 2 milliseconds. A step takes 20 milliseconds on average, instead of 30.
 * RANKS: 2, 4; WHAT-IF: ideal */
#include "advice.h"

enum { STEPS = 30, LENGTH = 65536 };

WORK(relax)

static MPI_Request requests[2];

NOINLINE void begin_exchange(char *in, char *out) {
    OK(MPI_Irecv(in, LENGTH * scale, MPI_BYTE, rank ^ 1, 0, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, LENGTH * scale, MPI_BYTE, rank ^ 1, 0, MPI_COMM_WORLD, &requests[1]));
}

NOINLINE void look_after_exchange(void) {
    int all;
    OK(MPI_Testall(2, requests, &all, no_statuses));
}

NOINLINE void end_exchange(void) { OK(MPI_Waitall(2, requests, no_statuses)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    CHECK(size % 2 == 0);
    char *in = bytes(LENGTH), *out = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        const int work = (step + rank) % 2 ? 30 : 10, parts = is_fixed ? work / 2 : 1;
        out[0] = (char)(step + 1);
        begin_exchange(in, out);
        for (int part = 0; part < parts; part++) {
            relax((double)work / parts);
            if (is_fixed) look_after_exchange();
        }
        end_exchange();
        CHECK(in[0] == (char)(step + 1));
    }
    free(in), free(out);
    end();
    return 0;
}
