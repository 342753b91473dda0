/* As blocked.c, with short messages that MPI_Ssend sends.
 * FIRST ADVICE: sync/ssend.
 * FIXED: MPI_Send, which leaves at once. A step takes 20 milliseconds instead of 40.
 * RANKS: 4; WHAT-IF: eager=all */
#include "exchange.h"

enum { STEPS = 20, LENGTH = 64 };

WORK(compute)

NOINLINE void give(char *data) { OK(MPI_Ssend(data, LENGTH * scale, MPI_BYTE, partner(), 0, MPI_COMM_WORLD)); }

NOINLINE void give_and_go(char *data) { OK(MPI_Send(data, LENGTH * scale, MPI_BYTE, partner(), 0, MPI_COMM_WORLD)); }

NOINLINE void take(char *data) {
    OK(MPI_Recv(data, LENGTH * scale, MPI_BYTE, partner(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    CHECK(size % 2 == 0);
    char *data = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        if (gives(step)) {
            data[0] = (char)step;
            if (is_fixed) give_and_go(data);
            else give(data);
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
