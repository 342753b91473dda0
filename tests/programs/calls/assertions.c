/* Epochs about which something is asserted, and of each kind one about which nothing is. 2 ranks. */
#include "../expect.h"

static MPI_Win window;

NOINLINE void fences(void) {
    const int assertions[3] = {MPI_MODE_NOPRECEDE, 0, MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED};
    for (int i = 0; i < 3; i++) OK(MPI_Win_fence(assertions[i], window));
}

/* Each rank exposes its memory to the other one. Open MPI 4.1 hangs if an epoch without a check is not the first. */
NOINLINE void epochs(void) {
    const int posted[3] = {MPI_MODE_NOCHECK, MPI_MODE_NOPUT, 0}, started[3] = {MPI_MODE_NOCHECK, 0, 0};
    const int other = 1 - rank;
    MPI_Group world, group;

    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &other, &group));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Win_post(group, posted[i], window));
        COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_start(group, started[i], window));
        OK(MPI_Win_complete(window));
        OK(MPI_Win_wait(window));
    }
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
}

NOINLINE void locks(void) {
    const int assertions[4] = {MPI_MODE_NOCHECK, 0, MPI_MODE_NOCHECK, 0};
    for (int i = 0; i < 2; i++) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, assertions[i], window));
        OK(MPI_Win_unlock(rank, window));
    }
    for (int i = 2; i < 4; i++) {
        OK(MPI_Win_lock_all(assertions[i], window));
        OK(MPI_Win_unlock_all(window));
    }
}

int main(int argc, char **argv) {
    int *memory;

    start(&argc, &argv, 2);
    CHECK(size == 2);
    OK(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    EXPECT(RmaWinCreate);
    fences();
    epochs();
    locks();
    OK(MPI_Win_free(&window));
    EXPECT(RmaWinDestroy);
    finish_expecting();
    return 0;
}
