/* One-sided communication: all kinds of windows, accesses and synchronization. 2 to 4 ranks. */
#include "../expect.h"

#define CELLS 16

static int left, right;
static int zero[CELLS];

/* Every rank puts into, gets from, and adds to its right neighbour's cells. With fences. */
NOINLINE void fences(MPI_Win window, const int *cells) {
    int value = rank + 1, got = -1;

    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
    OK(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, window));
    EXPECT(RmaPut);
    OK(MPI_Win_fence(0, window));
    CHECK(cells[0] == left + 1);
    OK(MPI_Get(&got, 1, MPI_INT, right, 0, 1, MPI_INT, window));
    EXPECT(RmaGet);
    OK(MPI_Win_fence(0, window));
    CHECK(got == rank + 1);
    OK(MPI_Accumulate(&value, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, window));
    EXPECT(RmaAtomic);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    CHECK(cells[0] == 2 * (left + 1));
}

NOINLINE void post_start_complete_wait(MPI_Win window, const int *cells) {
    MPI_Group world, origins, targets;
    int value = 50 + rank, flag = 0;

    OK(MPI_Win_get_group(window, &world));
    OK(MPI_Group_incl(world, 1, &left, &origins));
    OK(MPI_Group_incl(world, 1, &right, &targets));
    for (int round = 0; round < 2; round++) {
        OK(MPI_Win_post(origins, 0, window));
        OK(MPI_Win_start(targets, 0, window));
        OK(MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, window));
        EXPECT(RmaPut);
        OK(MPI_Win_complete(window));
        /* Everybody is done, and the window need not be waited for. */
        if (round == 1) COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
        if (round == 1) OK(MPI_Win_test(window, &flag));
        if (!flag) OK(MPI_Win_wait(window));
        CHECK(cells[1] == 50 + left);
        value += 100 * (round + 1);
        if (round == 0) COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
        if (round == 0) value -= 100;
    }
    OK(MPI_Group_free(&targets));
    OK(MPI_Group_free(&origins));
    OK(MPI_Group_free(&world));
}

/* All ranks add to a cell of rank 0. */
NOINLINE void locks(MPI_Win window) {
    int one = 1, got = -1, old = -1, compare = -1, big[4] = {1, 1, 1, 1}, before[4];

    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
    OK(MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 2, MPI_SUM, window));
    EXPECT(RmaAtomic);
    OK(MPI_Win_unlock(0, window));
    CHECK(old >= 0 && old < size);
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
    OK(MPI_Get(&got, 1, MPI_INT, 0, 2, 1, MPI_INT, window));
    EXPECT(RmaGet);
    OK(MPI_Win_flush(0, window));
    CHECK(got == size);
    OK(MPI_Get_accumulate(big, 4, MPI_INT, before, 4, MPI_INT, 0, 4, 4, MPI_INT, MPI_SUM, window));
    EXPECT(RmaAtomic);
    OK(MPI_Win_flush_local(0, window));
    OK(MPI_Compare_and_swap(&one, &compare, &old, MPI_INT, 0, 3, window));
    EXPECT(RmaAtomic);
    OK(MPI_Win_unlock(0, window));
    CHECK(old == 0);

    OK(MPI_Win_lock_all(0, window));
    OK(MPI_Put(&rank, 1, MPI_INT, right, 8, 1, MPI_INT, window));
    EXPECT(RmaPut);
    OK(MPI_Win_flush_local_all(window));
    OK(MPI_Win_flush_all(window));
    OK(MPI_Win_sync(window));
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Get(&got, 1, MPI_INT, rank, 8, 1, MPI_INT, window));
    EXPECT(RmaGet);
    OK(MPI_Win_unlock_all(window));
    CHECK(got == left);
}

/* Accesses with a request each. */
NOINLINE void requests(MPI_Win window) {
    int value = 7, got = -1, before = -1;
    MPI_Request request;

    OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window));
    OK(MPI_Rput(&value, 1, MPI_INT, right, 9, 1, MPI_INT, window, &request));
    EXPECT(RmaPut);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(right, window));
    OK(MPI_Rget(&got, 1, MPI_INT, right, 9, 1, MPI_INT, window, &request));
    EXPECT(RmaGet);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(got == 7);
    OK(MPI_Raccumulate(&value, 1, MPI_INT, right, 9, 1, MPI_INT, MPI_SUM, window, &request));
    EXPECT(RmaAtomic);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(right, window));
    OK(MPI_Rget_accumulate(&value, 1, MPI_INT, &before, 1, MPI_INT, right, 9, 1, MPI_INT, MPI_SUM, window, &request));
    EXPECT(RmaAtomic);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(before == 14);
    OK(MPI_Win_unlock(right, window));
}

/* What leaves no record of an access. */
NOINLINE void nobody(MPI_Win window) {
    int value = 0;
    OK(MPI_Win_fence(0, window));
    OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window));
    OK(MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window));
    OK(MPI_Accumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, window));
    OK(MPI_Win_fence(0, window));
}

NOINLINE void all_kinds(MPI_Win window, int *cells) {
    for (int i = 0; i < CELLS; i++) cells[i] = 0;
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    fences(window, cells);
    post_start_complete_wait(window, cells);
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    locks(window);
    requests(window);
    nobody(window);
}

/* Memory that is added to a window after it was made. */
NOINLINE void dynamic(void) {
    int cells[CELLS] = {0}, value = 3;
    MPI_Aint own, address;
    MPI_Win window;

    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    EXPECT(RmaWinCreate);
    OK(MPI_Win_attach(window, cells, sizeof cells));
    OK(MPI_Get_address(cells, &own));
    OK(MPI_Sendrecv(&own, 1, MPI_AINT, left, 1, &address, 1, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EXPECT(MpiSend), EXPECT(MpiRecv);
    OK(MPI_Win_fence(0, window));
    OK(MPI_Put(&value, 1, MPI_INT, right, address, 1, MPI_INT, window));
    EXPECT(RmaPut);
    OK(MPI_Win_fence(0, window));
    CHECK(cells[0] == 3);
    OK(MPI_Win_detach(window, cells));
    OK(MPI_Win_free(&window));
    EXPECT(RmaWinDestroy);
}

int main(int argc, char **argv) {
    static int memory[CELLS];
    int *cells = NULL, unit;
    MPI_Aint bytes;
    MPI_Win window;

    start(&argc, &argv, 2);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;

    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    EXPECT(RmaWinCreate);
    OK(MPI_Win_set_name(window, "created"));
    all_kinds(window, memory);
    OK(MPI_Win_free(&window));
    EXPECT(RmaWinDestroy);

    OK(MPI_Win_allocate(sizeof zero, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window));
    EXPECT(RmaWinCreate);
    all_kinds(window, cells);
    OK(MPI_Win_free(&window));
    EXPECT(RmaWinDestroy);

    OK(MPI_Win_allocate_shared(sizeof zero, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window));
    EXPECT(RmaWinCreate);
    OK(MPI_Win_shared_query(window, rank, &bytes, &unit, &cells));
    CHECK(bytes == sizeof zero && unit == sizeof(int));
    all_kinds(window, cells);
    OK(MPI_Win_free(&window));
    EXPECT(RmaWinDestroy);

    dynamic();
    finish_expecting();
    return 0;
}
