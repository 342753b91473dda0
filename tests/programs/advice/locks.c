/* All ranks lock the window of rank 0 for themselves, and work while they have it.
 * FIRST ADVICE: rma/lock.
 * FIXED: they work ahead of that. Of N ranks the run takes 300 milliseconds instead of 300 N.
 * MPICH serves a window only while its rank is in MPI: there both versions take longer, by as much as ranks work meanwhile.
 * RANKS: 4; WHAT-IF: none takes locks later */
#include "window.h"

enum { STEPS = 30 };

WORK(update)

NOINLINE void take_window(void) { OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window)); }

NOINLINE void put(void) { OK(MPI_Put(own, COUNT * scale, MPI_DOUBLE, 0, 0, COUNT * scale, MPI_DOUBLE, window)); }

NOINLINE void give_window(void) { OK(MPI_Win_unlock(0, window)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    own = (double *)bytes(8 * COUNT);
    create_window();
    for (int step = 0; step < STEPS; step++) {
        if (is_fixed) update(10);
        take_window();
        if (!is_fixed) update(10);
        own[0] = step;
        put();
        give_window();
    }
    free_window();
    free(own);
    end();
    return 0;
}
