/* In each step another rank works three times as long as the others, then each puts something into a window of its
 * neighbour, which is made for that and freed again: there all wait for all.
 * FIRST ADVICE: rma/create.
 * FIXED: the window is made once, so that nobody waits. Of N ranks, of which one has its turn 20 / N times, rounded up, that
 * saves 20 milliseconds in each of the other steps, and what making it takes.
 * MPICH serves a window only while its rank is in MPI: there both versions take longer, by as much as ranks work meanwhile.
 * RANKS: 4; WHAT-IF: remove=MPI_Win_allocate+remove=MPI_Win_free */
#include "window.h"

enum { STEPS = 20 };

WORK(relax)

NOINLINE void put(int to) {
    OK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window));
    OK(MPI_Put(own, COUNT * scale, MPI_DOUBLE, to, 0, COUNT * scale, MPI_DOUBLE, window));
    OK(MPI_Win_unlock(to, window));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    own = (double *)bytes(8 * COUNT);
    if (is_fixed) create_window();
    for (int step = 0; step < STEPS; step++) {
        relax(rank == step % size ? 30 : 10);
        if (!is_fixed) create_window();
        own[0] = step;
        put((rank + 1) % size);
        if (!is_fixed) free_window();
    }
    if (is_fixed) free_window();
    free(own);
    end();
    return 0;
}
