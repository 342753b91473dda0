/* Rank 0 sends 400 messages of 8 bytes in a row to rank 1, in each step.
 * FIRST ADVICE: size/small-messages.
 * FIXED: one message of all. What that saves hangs on the network.
 * RANKS: 2, over TCP; WHAT-IF: none packs messages */
#include "advice.h"

enum { STEPS = 50, DROPS = 400, LENGTH = 8 };

WORK(relax)

NOINLINE void give(char *data) {
    const int count = is_fixed ? 1 : DROPS, length = LENGTH * scale * DROPS / count;
    for (int k = 0; k < count; k++) OK(MPI_Send(data + k * length, length, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
}

NOINLINE void take(char *data) {
    const int count = is_fixed ? 1 : DROPS, length = LENGTH * scale * DROPS / count;
    for (int k = 0; k < count; k++)
        OK(MPI_Recv(data + k * length, length, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *data = bytes(LENGTH * DROPS);
    for (int step = 0; step < STEPS; step++) {
        relax(5);
        if (rank == 0) {
            memset(data, step, (size_t)(LENGTH * DROPS * scale));
            give(data);
        } else if (rank == 1) {
            take(data);
            CHECK(data[LENGTH * DROPS * scale - 1] == (char)step);
        }
    }
    free(data);
    end();
    return 0;
}
