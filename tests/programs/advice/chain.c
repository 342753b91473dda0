/* Ranks work one after the other, the first one longest; then there is a barrier.
 * FIRST ADVICE: p2p/pipeline: passing on parts, or no barrier. Less work for rank 0 and more for others saves nothing.
 * FIXED: no barrier, so that rank 0 goes on while others are at work. Of N ranks that saves 11 * 5 (N - 1) milliseconds.
 * RANKS: 4, 8; WHAT-IF: remove=MPI_Barrier */
#include "advice.h"

enum { STEPS = 12, LENGTH = 1024 };

WORK(sweep)

NOINLINE void take(char *in) {
    OK(MPI_Recv(in, LENGTH * scale, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

NOINLINE void pass_on(char *out) { OK(MPI_Send(out, LENGTH * scale, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD)); }

NOINLINE void come_together(void) { OK(MPI_Barrier(MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *data = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        if (rank > 0) take(data);
        else data[0] = (char)step;
        CHECK(data[0] == (char)step);
        sweep(rank == 0 ? 40 : 5);
        if (rank + 1 < size) pass_on(data);
        if (!is_fixed) come_together();
    }
    free(data);
    end();
    return 0;
}
