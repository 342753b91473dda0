/* Rank 2 works longer in solve, after exchange has returned and before norm is called: the stretch is that of solve, and not
 * of the function that called MPI last. */
#include "../check.h"

#include <unistd.h>

NOINLINE void exchange(void) {
    double in, out = 1;
    OK(MPI_Sendrecv(&out, 1, MPI_DOUBLE, (rank + 1) % size, 0, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 0,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

NOINLINE void heavy(void) { CHECK(usleep(rank == 2 ? 20000 : 2000) == 0); }

NOINLINE void norm(void) {
    double own = 1, all;
    OK(MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

NOINLINE void solve(void) {
    exchange();
    heavy();
    norm();
    CHECK(rank < size); /* or the call of norm would become a jump */
}

int main(int argc, char **argv) {
    go_first(0);
    start(&argc, &argv, 3);
    go_first(rank == 2);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int step = 0; step < 20; step++) solve();
    finish();
    return 0;
}
