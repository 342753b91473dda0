/* Messages that cross collective operations: `ahead STEPS 1` sends before a barrier, one message ahead, what is received behind
 * it; `ahead STEPS 2` posts receives before a barrier and completes them behind it. No clock is wrong. An even number of
 * ranks. */
#include "../check.h"

#include <unistd.h>

static int partner, sent, received;

static void send_ahead(void) { OK(MPI_Send(&sent, 1, MPI_INT, partner, 7, MPI_COMM_WORLD)); }

static void receive(void) { OK(MPI_Recv(&received, 1, MPI_INT, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); }

static void send_before_the_barrier(void) {
    if (rank % 2 == 0) send_ahead();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank % 2 == 1) receive();
}

static void receive_around_the_barrier(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    OK(MPI_Irecv(&received, 1, MPI_INT, partner, 8, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    usleep((unsigned)(500 * (1 + rank)));
    OK(MPI_Isend(&sent, 1, MPI_INT, partner, 8, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, statuses));
}

int main(int argc, char **argv) {
    int steps, mode;

    start(&argc, &argv, 2);
    CHECK(argc == 3 && size % 2 == 0);
    steps = atoi(argv[1]);
    mode = atoi(argv[2]);
    partner = rank ^ 1;
    if (mode == 1 && rank % 2 == 0) send_ahead();
    for (int step = 0; step < steps; step++) {
        usleep(rank == 0 && step % 3 == 0 ? 3000 : 1000);
        if (mode == 1) send_before_the_barrier();
        else receive_around_the_barrier();
    }
    if (mode == 1 && rank % 2 == 1) receive();
    finish();
    return 0;
}
