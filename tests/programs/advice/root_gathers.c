/* Rank 0 gathers what all have, and writes it; the others wait at a barrier meanwhile.
 * FIRST ADVICE: work/one-rank.
 * FIXED: each writes its part. Of N ranks a step takes 20 + 30 / N milliseconds instead of 50.
 * RANKS: 4; WHAT-IF: level=write_output@0 */
#include "advice.h"

enum { STEPS = 15, LENGTH = 4096 };

WORK(relax)
WORK(write_output)

NOINLINE void gather(char *all, char *own) {
    OK(MPI_Gather(own, LENGTH * scale, MPI_BYTE, all, LENGTH * scale, MPI_BYTE, 0, MPI_COMM_WORLD));
}

NOINLINE void come_together(void) { OK(MPI_Barrier(MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *all = bytes((long)size * LENGTH), *own = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        relax(20);
        own[0] = (char)step;
        if (!is_fixed) gather(all, own);
        CHECK(is_fixed || rank > 0 || all[(size - 1) * LENGTH * scale] == (char)step);
        if (is_fixed) write_output(30.0 / size);
        else if (rank == 0) write_output(30);
        come_together();
    }
    free(all), free(own);
    end();
    return 0;
}
