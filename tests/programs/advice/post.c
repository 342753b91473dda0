/* In pairs of ranks one puts something into the window of the other one in each step, in turn, which opens it only when it has
 * worked.
 * FIRST ADVICE: rma/late-post.
 * FIXED: it opens its window ahead of its work, and looks after it every 2 milliseconds, as MPICH completes an access only
 * while both are in MPI. A step takes 20 milliseconds instead of 40.
 * RANKS: 4; WHAT-IF: none opens windows earlier */
#include "exchange.h"
#include "window.h"

enum { STEPS = 20 };

WORK(relax)

static MPI_Group group;

NOINLINE void open_window(void) { OK(MPI_Win_post(group, 0, window)); }

NOINLINE void await_data(void) { OK(MPI_Win_wait(window)); }

NOINLINE int look_for_data(void) {
    int is_there;
    OK(MPI_Win_test(window, &is_there));
    return is_there;
}

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
        const int parts = is_fixed ? 10 : 1;
        int is_there = gives(step);
        own[0] = step;
        if (gives(step)) put(), complete();
        else if (is_fixed) open_window();
        for (int part = 0; part < parts; part++) {
            relax(20.0 / parts);
            if (is_fixed && !is_there) is_there = look_for_data();
        }
        if (!is_fixed && !gives(step)) open_window();
        if (!is_there) await_data();
        CHECK(gives(step) || memory[0] == step);
    }
    free_window();
    OK(MPI_Group_free(&group));
    free(own);
    end();
    return 0;
}
