/* Messages that cross collective operations of the world, STEPS times, each with a length of its own. MODE 1: one message is
 * always ahead; it is sent before a barrier, and received behind the next one. MODE 2: receives are posted before a barrier
 * and completed behind it. Pairs of ranks.
 */
#include "received.h"

enum { LONGEST = 4096 };

static char out[LONGEST], in[LONGEST];

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    int steps = argc > 1 ? atoi(argv[1]) : 80, mode = argc > 2 ? atoi(argv[2]) : 1, peer = rank ^ 1;
    CHECK(steps < LONGEST && size % 2 == 0);
    MPI_Status status;
    for (int step = 0; step <= steps && mode == 1; step++) {
        if (rank % 2 == 0) OK(MPI_Send(out, step + 1, MPI_BYTE, peer, 7, MPI_COMM_WORLD));
        if (step > 0) OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank % 2 == 1 && step > 0) {
            begin_receive();
            OK(MPI_Recv(in, LONGEST, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &status));
            end_receive(&status);
        }
    }
    if (mode == 1 && rank % 2 == 1) OK(MPI_Recv(in, LONGEST, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &status));
    for (int step = 0; step < steps && mode == 2; step++) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        OK(MPI_Irecv(in, LONGEST, MPI_BYTE, peer, 8, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Isend(out, step + 1, MPI_BYTE, peer, 8, MPI_COMM_WORLD, &requests[1]));
        begin_receive();
        OK(MPI_Waitall(2, requests, statuses));
        end_receive(&statuses[0]);
    }
    finish_receives();
    finish();
    return 0;
}
