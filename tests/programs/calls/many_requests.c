/* Makes requests to itself: 10^6 in sequence (or as many as the first argument says), then 10^4 (the second argument)
 * that are all outstanding at the same time. 1 or 2 ranks. */
#include "../expect.h"

int main(int argc, char **argv) {
    int in_sequence, outstanding, *values;
    MPI_Request *requests;
    MPI_Status *statuses;

    start(&argc, &argv, 1);
    in_sequence = argc > 1 ? atoi(argv[1]) : 1000000;
    outstanding = argc > 2 ? atoi(argv[2]) : 10000;

    for (int i = 0; i < in_sequence / 2; i++) {
        int got = -1;
        MPI_Request receive, send;
        OK(MPI_Irecv(&got, 1, MPI_INT, 0, i % 100, MPI_COMM_SELF, &receive));
        OK(MPI_Isend(&i, 1, MPI_INT, 0, i % 100, MPI_COMM_SELF, &send));
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK(got == i);
    }

    requests = (MPI_Request *)malloc(outstanding * sizeof *requests);
    statuses = (MPI_Status *)malloc(outstanding * sizeof *statuses);
    values = (int *)malloc(outstanding * sizeof *values);
    for (int i = 0; i < outstanding; i++)
        OK(MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]));
    /* The first ones that were posted get their messages last. */
    for (int i = outstanding - 1; i >= 0; i--) OK(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF));
    OK(MPI_Waitall(outstanding, requests, statuses));
    for (int i = 0; i < outstanding; i++) CHECK(values[i] == i && statuses[i].MPI_TAG == i);

    EXPECT_MANY(MpiIrecvRequest, in_sequence / 2 + outstanding);
    EXPECT_MANY(MpiIrecv, in_sequence / 2 + outstanding);
    EXPECT_MANY(MpiIsend, in_sequence / 2);
    EXPECT_MANY(MpiIsendComplete, in_sequence / 2);
    EXPECT_MANY(MpiSend, outstanding);
    free(values);
    free(statuses);
    free(requests);
    finish_expecting();
    return 0;
}
