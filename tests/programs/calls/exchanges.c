/* Sends and receives with one request, which leave the records of two: around a ring, in place, tested, with one half to
 * nobody, and with itself; with the argument "any" from any source, and nothing else. NEEDS: MPI-4. 2 to 4 ranks. */
#include "../expect.h"

static int left, right;

static MPI_Status complete(MPI_Request *request) {
    MPI_Status status;
    OK(MPI_Wait(request, &status));
    EXPECT(MpiIsendComplete);
    EXPECT(MpiIrecv);
    return status;
}

#define BOTH(call) (OK(call), EXPECT(MpiIsend), EXPECT(MpiIrecvRequest))

NOINLINE void ring(void) {
    int mine[3] = {rank, rank, rank}, got[8];
    MPI_Request request;

    BOTH(MPI_Isendrecv(mine, 3, MPI_INT, right, 11, got, 3, MPI_INT, left, 11, MPI_COMM_WORLD, &request));
    complete(&request);
    CHECK(got[2] == left);
    BOTH(MPI_Isendrecv_replace(mine, 3, MPI_INT, right, 12, left, 12, MPI_COMM_WORLD, &request));
    complete(&request);
    CHECK(mine[0] == left);
}

/* All but rank 1 send after that has tested without success. */
NOINLINE void tests(void) {
    int mine = rank, got = -1, done = 1;
    MPI_Request request;

    if (rank == 1) {
        BOTH(MPI_Isendrecv(&mine, 1, MPI_INT, right, 13, &got, 1, MPI_INT, left, 13, MPI_COMM_WORLD, &request));
        OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        CHECK(!done);
        EXPECT_MANY(MpiRequestTest, 2);
    }
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    if (rank != 1) BOTH(MPI_Isendrecv(&mine, 1, MPI_INT, right, 13, &got, 1, MPI_INT, left, 13, MPI_COMM_WORLD, &request));
    complete(&request);
    CHECK(got == left);
}

/* One half with MPI_PROC_NULL is a send or a receive as any other. (Both halves are more than MPICH 4.0 can do.) */
NOINLINE void halves(void) {
    int mine = rank, got = -1;
    MPI_Request request;

    if (rank == 0) {
        OK(MPI_Isendrecv(&mine, 1, MPI_INT, 1, 14, &got, 1, MPI_INT, MPI_PROC_NULL, 14, MPI_COMM_WORLD, &request));
        EXPECT(MpiIsend);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        EXPECT(MpiIsendComplete);
    } else if (rank == 1) {
        MPI_Status status;
        OK(MPI_Isendrecv(&mine, 1, MPI_INT, MPI_PROC_NULL, 14, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                         &request));
        EXPECT(MpiIrecvRequest);
        OK(MPI_Wait(&request, &status));
        EXPECT(MpiIrecv);
        CHECK(got == 0 && status.MPI_SOURCE == 0 && status.MPI_TAG == 14);
    }
}

NOINLINE void itself(void) {
    int mine = rank, got = -1;
    MPI_Request request;

    BOTH(MPI_Isendrecv(&mine, 1, MPI_INT, rank, 15, &got, 1, MPI_INT, rank, 15, MPI_COMM_WORLD, &request));
    complete(&request);
    CHECK(got == rank);
}

/* From any source: a library that does not tell which (MPICH 4.0) leaves nobody a way to know. */
NOINLINE void wildcards(void) {
    int mine = rank, got = -1, told;
    MPI_Request request;
    MPI_Status status;

    OK(MPI_Isendrecv(&mine, 1, MPI_INT, right, 16 + rank, &got, 1, MPI_INT, MPI_ANY_SOURCE, 16 + left, MPI_COMM_WORLD,
                     &request));
    EXPECT(MpiIsend);
    OK(MPI_Wait(&request, &status));
    EXPECT(MpiIsendComplete);
    CHECK(got == left);
    told = status.MPI_SOURCE == left && status.MPI_TAG == 16 + left;
    EXPECT_MANY(MpiIrecvRequest, told);
    EXPECT_MANY(MpiIrecv, told);
}

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    if (argc > 1) {
        wildcards();
    } else {
        ring();
        tests();
        halves();
        itself();
    }
    finish_expecting();
    return 0;
}
