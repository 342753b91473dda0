/* Rank 0 receives from all others, one after the other.
 * FIRST ADVICE: size/handmade-gather.
 * FIXED: MPI_Gather. What that saves hangs on the machine: ranks that share processors copy one after the other in any case.
 * RANKS: 16; WHAT-IF: none */
#include "advice.h"

enum { STEPS = 40, LENGTH = 256 << 10 };

WORK(relax)

NOINLINE void receive_from_each(char *all) {
    const long length = (long)LENGTH * scale;
    for (int from = 1; from < size; from++)
        OK(MPI_Recv(all + from * length, (int)length, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

NOINLINE void send(char *part) { OK(MPI_Send(part, LENGTH * scale, MPI_BYTE, 0, 0, MPI_COMM_WORLD)); }

NOINLINE void gather(char *part, char *all) {
    OK(MPI_Gather(part, LENGTH * scale, MPI_BYTE, all, LENGTH * scale, MPI_BYTE, 0, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 4);
    char *part = bytes(LENGTH), *all = bytes((long)LENGTH * size);
    for (int step = 0; step < STEPS; step++) {
        relax(10);
        part[0] = (char)(step + rank);
        if (is_fixed) gather(part, all);
        else if (rank == 0) receive_from_each(all);
        else send(part);
        CHECK(rank > 0 || all[(long)LENGTH * scale * (size - 1)] == (char)(step + size - 1));
    }
    free(part), free(all);
    end();
    return 0;
}
