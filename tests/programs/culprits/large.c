/* Long messages in a ring; rank 1 sleeps 20 ms between MPI_Isend and MPI_Waitall, where the library may not go on without it.
 * Who waits for rank 0 or 2 meanwhile waits for rank 1. */
#include "../check.h"

#include <unistd.h>

enum { BYTES = 1 << 20 };

static char in[BYTES], out[BYTES];

int main(int argc, char **argv) {
    go_first(0);
    start(&argc, &argv, 3);
    go_first(rank == 1);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int step = 0; step < 12; step++) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        usleep(2000);
        OK(MPI_Irecv(in, BYTES, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Isend(out, BYTES, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]));
        if (rank == 1) usleep(20000);
        OK(MPI_Waitall(2, requests, statuses));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    finish();
    return 0;
}
