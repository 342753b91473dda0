/* In each step another rank works three times as long as the others; then there is a barrier.
 * FIRST ADVICE: work/dynamic with the remedy sync/barrier, or the other way round.
 * FIXED: no barrier, so that all have their turn and wait for nobody. Of N ranks, of which each has its turn 24 / N times, that
 * saves 24 * 30 - 24 * 10 - 20 * 24 / N milliseconds.
 * RANKS: 4, 8; WHAT-IF: remove=MPI_Barrier */
#include "advice.h"

enum { STEPS = 24 };

WORK(relax)

NOINLINE void come_together(void) { OK(MPI_Barrier(MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    for (int step = 0; step < STEPS; step++) {
        relax(rank == step % size ? 30 : 10);
        if (!is_fixed) come_together();
    }
    end();
    return 0;
}
