/* Rank 0 looks for messages in a loop without work, and the others produce them; rank 1 takes longest.
 * FIRST ADVICE: what makes the messages late: work/static. To poll is no defect, as rank 0 has nothing else to do.
 * FIXED: the same work, even. Of N ranks a step takes 10 + 20 / (N - 1) milliseconds instead of 30.
 * RANKS: 3; WHAT-IF: balance=produce */
#include "advice.h"

enum { STEPS = 30, LENGTH = 256 };

WORK(produce)

NOINLINE void look_for_one(char *in, int source) {
    int is_there = 0;
    while (!is_there) OK(MPI_Iprobe(source, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE));
    OK(MPI_Recv(in, LENGTH * scale, MPI_BYTE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

NOINLINE void hand_in(char *out) { OK(MPI_Send(out, LENGTH * scale, MPI_BYTE, 0, 0, MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    begin(argc, argv, 3);
    char *data = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        if (rank == 0) {
            for (int source = 1; source < size; source++) look_for_one(data, source);
            CHECK(data[0] == (char)step);
        } else {
            produce(is_fixed ? 10 + 20.0 / (size - 1) : rank == 1 ? 30 : 10);
            data[0] = (char)step;
            hand_in(data);
        }
    }
    free(data);
    end();
    return 0;
}
