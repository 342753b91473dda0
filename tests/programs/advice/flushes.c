/* Each rank asks MPI for its number at each cell: so many events that the recorder's buffer, if it is small, is written out
 * again and again.
 * FIRST ADVICE: record/overhead.
 * FIXED: asks once in each step. What that saves hangs on the machine.
 * RANKS: 4; the recorder's buffer has 256 KiB (REPLAY_BUFFER) */
#include "advice.h"

enum { STEPS = 8, CELLS = 50000 };

WORK(relax)

NOINLINE int owner(void) {
    int me;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    return me;
}

NOINLINE long mark_cells(void) {
    const int count = CELLS * scale, me = owner();
    long sum = 0;
    for (int k = 0; k < count; k++) sum += is_fixed ? me : owner();
    return sum;
}

NOINLINE void sum_up(long mine, long *all) { OK(MPI_Allreduce(&mine, all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    for (int step = 0; step < STEPS; step++) {
        long all, mine;
        /* One half of the ranks works at a time, so that none has to wait for a processor. */
        if (rank % 2) relax(10);
        mine = mark_cells();
        if (rank % 2 == 0) relax(10);
        sum_up(mine, &all);
        CHECK(all == (long)CELLS * scale * size * (size - 1) / 2);
    }
    end();
    return 0;
}
