/* Rank 1 opens its window late: rank 0 waits for that as long as the delay takes, in MPI_Win_start or MPI_Win_complete. */
#include "../provoke.h"

NOINLINE void offer_late(MPI_Group group, MPI_Win window) {
    DELAY(); /* HERE: delay */
    OK(MPI_Win_post(group, 0, window));
    OK(MPI_Win_wait(window));
}

/* In one line, as libraries wait in the one call or in the other one. */
NOINLINE void access_other(MPI_Group group, MPI_Win window) {
    OK(MPI_Win_start(group, 0, window)), OK(MPI_Win_complete(window)); /* HERE: wait */
}

int main(int argc, char **argv) {
    int *memory;
    MPI_Win window;
    MPI_Group group;
    start(&argc, &argv, 2);
    CHECK(size == 2);
    group = group_of(1 - rank);
    OK(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    meet(1);
    if (rank == 1) offer_late(group, window);
    else access_other(group, window);
    OK(MPI_Win_free(&window));
    OK(MPI_Group_free(&group));
    if (rank == 0) printf("accessed\n");
    finish();
    return 0;
}
