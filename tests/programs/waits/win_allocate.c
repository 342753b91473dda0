/* Rank 1 comes late to the creation of a window: ranks 0 and 2 wait there as long as the delay takes. */
#include "../provoke.h"

static int *memory;
static MPI_Win window;

NOINLINE void create_late(void) {
    DELAY(); /* HERE: delay */
    OK(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
}

NOINLINE void create(void) {
    OK(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window)); /* HERE: wait */
}

int main(int argc, char **argv) {
    start(&argc, &argv, 3);
    meet(1);
    if (rank == 1) create_late();
    else create();
    if (rank == 0) printf("%d ranks have a window\n", size);
    OK(MPI_Win_free(&window));
    finish();
    return 0;
}
