/* `which BYTES KIND`: an exchange in a ring, by persistent requests (0) or others (1), each completed by a call of its own, then
 * a barrier. Rank 2 sleeps 30 ms after it has started its requests. Rank 0 prints how long each rank waited for which. */
#include "../check.h"

#include <unistd.h>

enum { LARGEST = 16 };

static void wait_for(MPI_Request *request, double *seconds) {
    const double begin = MPI_Wtime();
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    *seconds += MPI_Wtime() - begin;
}

int main(int argc, char **argv) {
    double own[2] = {0, 0}, all[LARGEST][2];
    MPI_Request requests[2];
    int bytes, is_persistent, to, from;
    char *in, *out;

    go_first(0);
    start(&argc, &argv, 3);
    go_first(rank == 2);
    CHECK(argc == 3 && size <= LARGEST);
    bytes = atoi(argv[1]);
    is_persistent = atoi(argv[2]) == 0;
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    in = (char *)calloc((size_t)bytes, 1);
    out = (char *)calloc((size_t)bytes, 1);
    CHECK(in != NULL && out != NULL);
    if (is_persistent) {
        OK(MPI_Recv_init(in, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Send_init(out, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD, &requests[1]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int step = 0; step < 6; step++) {
        if (is_persistent) {
            OK(MPI_Startall(2, requests));
        } else {
            OK(MPI_Irecv(in, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, &requests[0]));
            OK(MPI_Isend(out, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD, &requests[1]));
        }
        if (rank == 2) usleep(30000);
        wait_for(&requests[0], &own[0]);
        wait_for(&requests[1], &own[1]);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Gather(own, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    for (int which = 0; which < size && rank == 0; which++)
        printf("rank %d: waits %.3f s to receive and %.3f s to send\n", which, all[which][0], all[which][1]);
    free(in);
    free(out);
    finish();
    return 0;
}
