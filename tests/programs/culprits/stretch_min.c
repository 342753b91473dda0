/* All sleep 0.2 ms before a call of MPI that does nothing, rank 2 sleeps 20 ms behind it: the stretch begins with that call.
 * -DCALL: 1 MPI_Comm_rank, 2 MPI_Test of no request, 4 MPI_Iprobe. */
#include "../check.h"

#include <unistd.h>

#ifndef CALL
#define CALL 1
#endif

int main(int argc, char **argv) {
    double own = 1, all;

    go_first(0);
    start(&argc, &argv, 3);
    go_first(rank == 2);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int step = 0; step < 20; step++) {
        int answer = 0;
        usleep(200);
#if CALL == 1
        OK(MPI_Comm_rank(MPI_COMM_WORLD, &answer));
#elif CALL == 2
        MPI_Request nothing = MPI_REQUEST_NULL;
        OK(MPI_Test(&nothing, &answer, MPI_STATUS_IGNORE));
#elif CALL == 4
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &answer, MPI_STATUS_IGNORE));
#endif
        CHECK(answer <= rank + 1);
        if (rank == 2) usleep(20000);
        OK(MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    }
    finish();
    return 0;
}
