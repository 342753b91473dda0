/* For programs that make all kinds of calls: how many records of each kind a recording of the run must have.
 *
 * A program says `EXPECT(MpiSend)` beside what makes the record, on each rank; at the end rank 0 prints the sums of all
 * ranks, such as `MpiSend 12`. `calls` are the MPI functions entered and left. Kinds that it does not name are not
 * promised to be absent. Behind the kinds of records stand the bytes that records of a kind have, all together: what was
 * sent or received, or both where a record has both. */
#ifndef EXPECT_H
#define EXPECT_H

#include "check.h"

#define KINDS(KIND) \
    KIND(MpiSend) KIND(MpiRecv) KIND(MpiIsend) KIND(MpiIsendComplete) KIND(MpiIrecvRequest) KIND(MpiIrecv) \
    KIND(MpiRequestTest) KIND(MpiRequestCancelled) KIND(MpiCollectiveEnd) KIND(NonBlockingCollectiveRequest) \
    KIND(NonBlockingCollectiveComplete) KIND(RmaWinCreate) KIND(RmaWinDestroy) KIND(RmaPut) KIND(RmaGet) \
    KIND(RmaAtomic) KIND(RmaCollectiveEnd) KIND(RmaOpCompleteNonBlocking) KIND(RmaOpCompleteRemote) KIND(IoCreateHandle) \
    KIND(IoDestroyHandle) KIND(IoDeleteFile) KIND(IoSeek) KIND(IoOperationBegin) KIND(IoOperationComplete) KIND(MpiSendBytes) \
    KIND(MpiRecvBytes) KIND(MpiIsendBytes) KIND(MpiIrecvBytes) KIND(MpiCollectiveEndSent) KIND(MpiCollectiveEndReceived) \
    KIND(NonBlockingCollectiveCompleteSent) KIND(NonBlockingCollectiveCompleteReceived) KIND(RmaPutBytes) KIND(RmaGetBytes) \
    KIND(RmaAtomicSent) KIND(RmaAtomicReceived) KIND(IoOperationCompleteBytes) KIND(ThreadFork) KIND(ThreadJoin) \
    KIND(ThreadTeamBegin) KIND(ThreadTeamEnd) KIND(ThreadAcquireLock) KIND(ThreadReleaseLock) KIND(ThreadTaskCreate) \
    KIND(ThreadTaskSwitch) KIND(ThreadTaskComplete)

#define KIND_NUMBER(kind) KIND_##kind,
#define KIND_NAME(kind) #kind,
enum { KINDS(KIND_NUMBER) KIND_COUNT };

static long expected[KIND_COUNT];

#define EXPECT(kind) EXPECT_MANY(kind, 1)
#define EXPECT_MANY(kind, count) ((void)__atomic_add_fetch(&expected[KIND_##kind], (count), __ATOMIC_RELAXED))

/* A blocking collective operation, which every member of the communicator records. */
#define COLLECTIVE(call) (OK(call), EXPECT(MpiCollectiveEnd))

/* Prints what is expected, and ends MPI. */
static inline void finish_expecting(void) {
    static const char *const names[] = {KINDS(KIND_NAME)};
    long own[KIND_COUNT + 1], all[KIND_COUNT + 1];
    EXPECT(MpiCollectiveEnd); /* that of the MPI_Reduce below, and its bytes, if the program says which it has moved */
    if (expected[KIND_MpiCollectiveEndSent] > 0) {
        EXPECT_MANY(MpiCollectiveEndSent, (long)sizeof own);
        EXPECT_MANY(MpiCollectiveEndReceived, rank == 0 ? size * (long)sizeof own : 0);
    }
    for (int kind = 0; kind < KIND_COUNT; kind++) own[kind] = expected[kind];
    own[KIND_COUNT] = calls + 2; /* this MPI_Reduce and MPI_Finalize */
    OK(MPI_Reduce(own, all, KIND_COUNT + 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0) {
        printf("calls %ld\n", all[KIND_COUNT]);
        for (int kind = 0; kind < KIND_COUNT; kind++)
            if (all[kind] > 0) printf("%s %ld\n", names[kind], all[kind]);
    }
    finish();
}

#endif
