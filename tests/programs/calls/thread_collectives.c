/* Three threads of each process at once in operations that many have a part in: each thread in collective operations on a
 * communicator of its own, blocking and not; on a window of its own, with fences; and all of them on one window, each with
 * accesses to the other process and flushes. What is put into windows is not looked at: MPICH 4.0 loses some of it.
 * 2 ranks. */
#include "../expect.h"

#include <pthread.h>

#define THREADS 3
#define ROUNDS 20

static MPI_Comm comms[THREADS];
static MPI_Win windows[THREADS], common;
static int *memory;

static void *work(void *number) {
    const int me = *(const int *)number, other = 1 - rank;
    for (int i = 0; i < ROUNDS; i++) {
        int value = i, sum = 0, got;
        MPI_Request request;
        COLLECTIVE(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[me]));
        CHECK(sum == 2 * i);
        OK(MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[me], &request));
        EXPECT(NonBlockingCollectiveRequest);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        EXPECT(NonBlockingCollectiveComplete);
        OK(MPI_Win_fence(0, windows[me]));
        OK(MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, windows[me]));
        EXPECT(RmaPut);
        OK(MPI_Get(&got, 1, MPI_INT, other, 0, 1, MPI_INT, windows[me]));
        EXPECT(RmaGet);
        OK(MPI_Win_fence(0, windows[me]));
        EXPECT_MANY(RmaCollectiveEnd, 2);
        EXPECT_MANY(RmaOpCompleteNonBlocking, 2);
        EXPECT(RmaOpCompleteRemote); /* of what has been fetched */
        OK(MPI_Put(&value, 1, MPI_INT, other, me, 1, MPI_INT, common));
        EXPECT(RmaPut);
        OK(MPI_Win_flush(other, common));
        OK(MPI_Get(&got, 1, MPI_INT, other, me, 1, MPI_INT, common));
        EXPECT(RmaGet);
        OK(MPI_Win_flush(other, common));
        EXPECT_MANY(RmaOpCompleteNonBlocking, 2);
        EXPECT_MANY(RmaOpCompleteRemote, 2);
        OK(MPI_Rget(&got, 1, MPI_INT, other, me, 1, MPI_INT, common, &request));
        EXPECT(RmaGet);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        EXPECT(RmaOpCompleteNonBlocking);
        EXPECT(RmaOpCompleteRemote);
        OK(MPI_Win_flush(other, common)); /* completes nothing */
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int numbers[THREADS], provided;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size == 2 && provided == MPI_THREAD_MULTIPLE);
    OK(MPI_Win_allocate(THREADS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &common));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        OK(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, comms[i], &memory, &windows[i]));
    }
    OK(MPI_Win_lock_all(0, common));
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    OK(MPI_Win_unlock_all(common));
    EXPECT_MANY(RmaWinCreate, THREADS + 1);
    EXPECT_MANY(RmaWinDestroy, THREADS + 1);
    EXPECT_MANY(RmaCollectiveEnd, 2 * (THREADS + 1));
    for (int i = 0; i < THREADS; i++) {
        OK(MPI_Win_free(&windows[i]));
        OK(MPI_Comm_free(&comms[i]));
    }
    OK(MPI_Win_free(&common));
    finish_expecting();
    return 0;
}
