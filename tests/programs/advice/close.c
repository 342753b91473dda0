/* In pairs of ranks one puts something into the window of the other one in each step, in turn, and works before it says that
 * this is complete. The other one waits for that, and works then.
 * FIRST ADVICE: rma/early-close.
 * FIXED: it is complete before the work. A step takes 20 milliseconds instead of 40.
 * RANKS: 4; WHAT-IF: none completes earlier */
#include "exchange.h"
#include "window.h"

enum { STEPS = 20 };

WORK(relax)

static MPI_Group group;

NOINLINE void open_window(void) { OK(MPI_Win_post(group, 0, window)); }

NOINLINE void await_data(void) { OK(MPI_Win_wait(window)); }

NOINLINE void put(void) {
    OK(MPI_Win_start(group, 0, window));
    OK(MPI_Put(own, COUNT * scale, MPI_DOUBLE, partner(), 0, COUNT * scale, MPI_DOUBLE, window));
}

NOINLINE void complete(void) { OK(MPI_Win_complete(window)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    CHECK(size % 2 == 0);
    own = (double *)bytes(8 * COUNT);
    group = group_of(partner());
    create_window();
    for (int step = 0; step < STEPS; step++) {
        own[0] = step;
        if (gives(step)) put();
        else open_window(), await_data();
        if (gives(step) && is_fixed) complete();
        relax(20);
        if (gives(step) && !is_fixed) complete();
        CHECK(gives(step) || memory[0] == step);
    }
    free_window();
    OK(MPI_Group_free(&group));
    free(own);
    end();
    return 0;
}
