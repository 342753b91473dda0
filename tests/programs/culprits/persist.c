/* `persist KIND MORE`: an exchange in a ring, by persistent requests (0) or others (1), then an MPI_Sendrecv (MORE 0) or nothing
 * (1). Rank 2 sleeps 30 ms after it has started its requests. Rank 0 prints how long each rank was in which call. */
#include "../check.h"

#include <unistd.h>

enum { CELLS = 8, LARGEST = 16 };

static double in[CELLS], out[CELLS], more_in[4], more_out[4];
static MPI_Request requests[2];
static double in_start, in_wait[2];

static void start_requests(int is_persistent, int from, int to) {
    const double begin = MPI_Wtime();
    if (is_persistent) {
        OK(MPI_Startall(2, requests));
    } else {
        OK(MPI_Irecv(in, CELLS, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Isend(out, CELLS, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &requests[1]));
    }
    in_start += MPI_Wtime() - begin;
}

static void wait_for_requests(void) {
    for (int which = 0; which < 2; which++) {
        const double begin = MPI_Wtime();
        OK(MPI_Wait(&requests[which], MPI_STATUS_IGNORE));
        in_wait[which] += MPI_Wtime() - begin;
    }
}

static void tell(void) {
    const double own[3] = {in_start, in_wait[0], in_wait[1]};
    double all[LARGEST][3];
    OK(MPI_Gather(own, 3, MPI_DOUBLE, all, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    for (int which = 0; which < size && rank == 0; which++)
        printf("rank %d: starts %.3f s, waits %.3f s to receive and %.3f s to send\n", which, all[which][0], all[which][1],
               all[which][2]);
}

int main(int argc, char **argv) {
    int is_persistent, has_more, to, from;

    go_first(0);
    start(&argc, &argv, 3);
    go_first(rank == 2);
    CHECK(argc == 3 && size <= LARGEST);
    is_persistent = atoi(argv[1]) == 0;
    has_more = atoi(argv[2]) == 0;
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    if (is_persistent) {
        OK(MPI_Recv_init(in, CELLS, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Send_init(out, CELLS, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &requests[1]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int step = 0; step < 6; step++) {
        usleep(2000);
        start_requests(is_persistent, from, to);
        if (rank == 2) usleep(30000);
        wait_for_requests();
        if (has_more)
            OK(MPI_Sendrecv(more_out, 4, MPI_DOUBLE, from, 1, more_in, 4, MPI_DOUBLE, to, 1, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE));
    }
    tell();
    finish();
    return 0;
}
