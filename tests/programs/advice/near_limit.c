/* As blocked.c, with messages that are a little longer than what Open MPI sends at once in shared memory.
 * FIRST ADVICE: size/eager-limit.
 * FIXED: a higher limit, as the environment would set it. A step takes 20 milliseconds instead of 40, but for the first
 * message of a pair, which waits in any case. MPICH over UCX has a limit of its own choice, so that it is set in both.
 * RANKS: 4; WHAT-IF: eager=all */
#include "exchange.h"

enum { STEPS = 20, LENGTH = 5 << 10 };

WORK(compute)

NOINLINE void give(char *data) { OK(MPI_Send(data, LENGTH * scale, MPI_BYTE, partner(), 0, MPI_COMM_WORLD)); }

NOINLINE void take(char *data) {
    OK(MPI_Recv(data, LENGTH * scale, MPI_BYTE, partner(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    choose(argc, argv);
    if (is_fixed) {
        setenv("OMPI_MCA_btl_vader_eager_limit", "32768", 1);
        setenv("OMPI_MCA_btl_sm_eager_limit", "32768", 1);
    }
    setenv("UCX_RNDV_THRESH", is_fixed ? "32768" : "4096", 1);
    begin(argc, argv, 2);
    CHECK(size % 2 == 0);
    char *data = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        if (gives(step)) {
            data[0] = (char)step;
            give(data);
            compute(20);
        } else {
            compute(20);
            take(data);
        }
        CHECK(data[0] == (char)step);
    }
    free(data);
    end();
    return 0;
}
