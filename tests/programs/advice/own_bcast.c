/* Rank 0 sends the same to all others, one after the other.
 * FIRST ADVICE: size/handmade.
 * FIXED: MPI_Bcast. What that saves hangs on the machine: ranks that share processors copy one after the other in any case.
 * RANKS: 16; WHAT-IF: none */
#include "advice.h"

enum { STEPS = 40, LENGTH = 256 << 10 };

WORK(relax)

NOINLINE void send_to_each(char *data) {
    for (int to = 1; to < size; to++) OK(MPI_Send(data, LENGTH * scale, MPI_BYTE, to, 0, MPI_COMM_WORLD));
}

NOINLINE void receive(char *data) {
    OK(MPI_Recv(data, LENGTH * scale, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

NOINLINE void tell_all(char *data) { OK(MPI_Bcast(data, LENGTH * scale, MPI_BYTE, 0, MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    begin(argc, argv, 4);
    char *data = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        relax(10);
        if (rank == 0) data[0] = (char)step;
        if (is_fixed) tell_all(data);
        else if (rank == 0) send_to_each(data);
        else receive(data);
        CHECK(data[0] == (char)step);
    }
    free(data);
    end();
    return 0;
}
