/* Of each pair of ranks the even one sends a long message when it has computed, and the other one, which has three times the
 * work, receives it when it has computed. So the message waits for its receive.
 * FIRST ADVICE: work/static. An earlier receive saves nothing.
 * FIXED: the same work, even. A step takes 20 milliseconds, and the message, instead of 30.
 * RANKS: 4; WHAT-IF: balance=compute */
#include "exchange.h"

enum { STEPS = 30, LENGTH = 256 << 10 };

WORK(compute)

NOINLINE void give(char *data) { OK(MPI_Send(data, LENGTH * scale, MPI_BYTE, partner(), 0, MPI_COMM_WORLD)); }

NOINLINE void take(char *data) {
    OK(MPI_Recv(data, LENGTH * scale, MPI_BYTE, partner(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    CHECK(size % 2 == 0);
    char *data = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        compute(is_fixed ? 20 : rank % 2 ? 30 : 10);
        if (rank % 2) {
            take(data);
            CHECK(data[0] == (char)step);
        } else {
            data[0] = (char)step;
            give(data);
        }
    }
    free(data);
    end();
    return 0;
}
