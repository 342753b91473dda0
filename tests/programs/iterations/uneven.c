/* Ranks with different ends: rank 0 sends itself STEPS messages, another one LATE of them; all others none. */
#include "../check.h"

int main(int argc, char **argv) {
    start(&argc, &argv, 1);
    int steps = argc > 1 ? atoi(argv[1]) : 10000, late = argc > 2 ? atoi(argv[2]) : 0;
    int wanted = rank == 0 ? steps : rank == 1 ? late : 0;
    for (int step = 0; step < wanted; step++) {
        int got = -1;
        OK(MPI_Sendrecv(&step, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        CHECK(got == step);
    }
    finish();
    return 0;
}
