/* Work varies among ranks and from step to step; behind each there is a barrier, though nobody needs anything of others.
 * FIRST ADVICE: sync/barrier or work/dynamic, and the other one as well.
 * FIXED: no barrier. With 8 ranks or a divisor of 16 the work of all is the same: of N ranks 16 * 5 N - 16 * 5 (N + 1) / 2
 * milliseconds are saved.
 * RANKS: 8; WHAT-IF: remove=MPI_Barrier */
#include "advice.h"

enum { STEPS = 16 };

WORK(relax)

NOINLINE void come_together(void) { OK(MPI_Barrier(MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    for (int step = 0; step < STEPS; step++) {
        relax(5 * (1 + (rank + step) % size));
        if (!is_fixed) come_together();
    }
    end();
    return 0;
}
