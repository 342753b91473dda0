/* Barriers to which all come at the same time.
 * FIRST ADVICE: none. To leave them out saves nothing.
 * FIXED: without barriers, to show that.
 * RANKS: 8; WHAT-IF: remove=MPI_Barrier */
#include "advice.h"

enum { STEPS = 25 };

WORK(relax)

NOINLINE void come_together(void) { OK(MPI_Barrier(MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    for (int step = 0; step < STEPS; step++) {
        relax(20);
        if (!is_fixed) come_together();
    }
    end();
    return 0;
}
