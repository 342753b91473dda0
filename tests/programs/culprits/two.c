/* Two of 4 ranks are late, `two MODE`, in each of 5 steps:
 *   0  rank 1 is late by 90 ms to a sum, rank 2 by 60 ms to the next one: 3 * 90 ms of the waiting at sums are because of
 *      rank 1, and 3 * 60 ms because of rank 2;
 *   1  rank 1 is late by 90 ms and rank 2 by 60 ms to one sum: 90 + 90 + 30 ms are because of rank 1, and nothing because
 *      of rank 2;
 *   2  rank 0 adds 90 ms to a chain of messages and rank 1 adds 60 ms: 3 * 90 ms of the waiting for messages are because of
 *      rank 0, and 2 * 60 ms because of rank 1. */
#include "../check.h"

#include <unistd.h>

NOINLINE void sum(void) {
    double own = 1, all;
    OK(MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

NOINLINE void late_by(int who, unsigned milliseconds) {
    if (rank == who) CHECK(usleep(1000 * milliseconds) == 0);
}

NOINLINE void sums(int are_together) {
    late_by(1, 90);
    if (are_together) late_by(2, 60);
    sum();
    if (!are_together) late_by(2, 60);
    sum();
}

NOINLINE void chain(void) {
    double token = 1;
    late_by(0, 90);
    if (rank > 0) OK(MPI_Recv(&token, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    late_by(1, 60);
    if (rank < size - 1) OK(MPI_Send(&token, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    int mode;

    go_first(0);
    start(&argc, &argv, 4);
    CHECK(argc == 2 && size == 4);
    mode = atoi(argv[1]);
    go_first(rank == 1 || rank == (mode == 2 ? 0 : 2));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int step = 0; step < 5; step++) {
        if (mode == 2) chain();
        else sums(mode == 1);
    }
    finish();
    return 0;
}
