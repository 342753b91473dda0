/* Two ranks send each other 32 MiB in each step.
 * FIRST ADVICE: size/large-messages.
 * FIXED: what has not changed, seven eighths, is not sent. What that saves hangs on the machine.
 * RANKS: 2; WHAT-IF: bandwidth=8 */
#include "advice.h"

enum { STEPS = 15, LENGTH = 32 << 20 };

WORK(relax)

NOINLINE void exchange(char *in, char *out) {
    const int length = is_fixed ? LENGTH / 8 * scale : LENGTH * scale;
    OK(MPI_Sendrecv(out, length, MPI_BYTE, rank ^ 1, 0, in, length, MPI_BYTE, rank ^ 1, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    CHECK(size % 2 == 0);
    char *in = bytes(LENGTH), *out = bytes(LENGTH);
    memset(in, 1, (size_t)LENGTH * (size_t)scale), memset(out, 1, (size_t)LENGTH * (size_t)scale);
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
