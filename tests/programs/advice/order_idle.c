/* Rank 0 receives from rank 1, which works before it sends, and then from others, whose messages have been there for long; but
 * it has nothing to do with them: another order saves nothing.
 * FIRST ADVICE: work/one-rank, for rank 1.
 * FIXED: all do a part of rank 1's work. Of N ranks a step takes 30 / N milliseconds instead of 30.
 * RANKS: 4; WHAT-IF: level=produce@1 */
#include "advice.h"

enum { STEPS = 40, LENGTH = 256 };

WORK(produce)

NOINLINE void collect(char *in, int step) {
    for (int source = 1; source < size; source++) {
        OK(MPI_Recv(in, LENGTH * scale, MPI_BYTE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(in[0] == (char)step);
    }
}

NOINLINE void hand_in(char *out) { OK(MPI_Send(out, LENGTH * scale, MPI_BYTE, 0, 0, MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    begin(argc, argv, 3);
    char *data = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        if (is_fixed) produce(30.0 / size);
        else if (rank == 1) produce(30);
        if (rank == 0) {
            collect(data, step);
        } else {
            data[0] = (char)step;
            hand_in(data);
        }
    }
    free(data);
    end();
    return 0;
}
