/* Neighbours exchange so many short messages that the recorder's buffer, if it is small, is written out again and again.
 * FIRST ADVICE: record/overhead.
 * FIXED: a hundredth as many messages, with the same data. (Or a larger buffer, for the bad version.)
 * RANKS: 4, recorded with --buffer 256K; WHAT-IF: none */
#include "advice.h"

enum { STEPS = 20, MESSAGES = 1000, LENGTH = 16 };

WORK(relax)

NOINLINE void exchange(char *in, char *out) {
    const int count = is_fixed ? MESSAGES / 100 : MESSAGES, length = MESSAGES * LENGTH * scale / count;
    for (int k = 0; k < count; k++)
        OK(MPI_Sendrecv(out, length, MPI_BYTE, rank ^ 1, 0, in, length, MPI_BYTE, rank ^ 1, 0, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    CHECK(size % 2 == 0);
    char *in = bytes(MESSAGES * LENGTH), *out = bytes(MESSAGES * LENGTH);
    for (int step = 0; step < STEPS; step++) {
        relax(10);
        out[0] = (char)step;
        exchange(in, out);
        CHECK(in[0] == (char)step);
    }
    free(in), free(out);
    end();
    return 0;
}
