/* All send 8 bytes to all, of which only those for both neighbours are used.
 * FIRST ADVICE: size/small-alltoall.
 * FIXED: MPI_Sendrecv with both neighbours. What that saves hangs on the network, and on ranks that share processors.
 * RANKS: 16; WHAT-IF: none */
#include "advice.h"

enum { STEPS = 60 };

WORK(relax)

NOINLINE void send_to_all(double *in, double *out) {
    OK(MPI_Alltoall(out, scale, MPI_DOUBLE, in, scale, MPI_DOUBLE, MPI_COMM_WORLD));
}

NOINLINE void send_to_neighbours(double *in, double *out, int below, int above) {
    OK(MPI_Sendrecv(out + above * scale, scale, MPI_DOUBLE, above, 0, in + below * scale, scale, MPI_DOUBLE, below, 0,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv(out + below * scale, scale, MPI_DOUBLE, below, 1, in + above * scale, scale, MPI_DOUBLE, above, 1,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    begin(argc, argv, 4);
    const int below = (rank + size - 1) % size, above = (rank + 1) % size;
    double *in = (double *)bytes(8L * size), *out = (double *)bytes(8L * size);
    for (int step = 0; step < STEPS; step++) {
        relax(5);
        out[above * scale] = out[below * scale] = step;
        if (is_fixed) send_to_neighbours(in, out, below, above);
        else send_to_all(in, out);
        CHECK(in[below * scale] == step && in[above * scale] == step);
    }
    free(in), free(out);
    end();
    return 0;
}
