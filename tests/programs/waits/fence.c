/* Rank 1 comes late to a fence: ranks 0 and 2 wait in theirs as long as the delay takes. */
#include "../provoke.h"

NOINLINE void close_late(MPI_Win window) {
    DELAY(); /* HERE: delay */
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
}

NOINLINE void close_epoch(MPI_Win window) {
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window)); /* HERE: wait */
}

int main(int argc, char **argv) {
    int *memory;
    MPI_Win window;
    start(&argc, &argv, 3);
    OK(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
    meet(1);
    OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window));
    if (rank == 1) close_late(window);
    else close_epoch(window);
    if (rank == 0) printf("put %d\n", *memory);
    OK(MPI_Win_free(&window));
    finish();
    return 0;
}
