/* Rank 1 ends its accesses late: rank 0 waits in MPI_Win_wait as long as the delay takes. */
#include "../provoke.h"

NOINLINE void access_late(MPI_Group group, MPI_Win window) {
    OK(MPI_Win_start(group, 0, window));
    DELAY(); /* HERE: delay */
    OK(MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
    OK(MPI_Win_complete(window));
}

NOINLINE void offer(MPI_Group group, MPI_Win window) {
    OK(MPI_Win_post(group, 0, window));
    OK(MPI_Win_wait(window)); /* HERE: wait */
}

int main(int argc, char **argv) {
    int *memory;
    MPI_Win window;
    MPI_Group group;
    start(&argc, &argv, 2);
    CHECK(size == 2);
    group = group_of(1 - rank);
    OK(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    meet(0);
    if (rank == 0) offer(group, window);
    else access_late(group, window);
    if (rank == 0) printf("put %d\n", *memory);
    OK(MPI_Win_free(&window));
    OK(MPI_Group_free(&group));
    finish();
    return 0;
}
