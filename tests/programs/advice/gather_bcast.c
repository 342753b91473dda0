/* All data are gathered on rank 0, which sends them to all.
 * FIRST ADVICE: size/gather-bcast.
 * FIXED: MPI_Allgather. What that saves hangs on the network, and on ranks that share processors.
 * RANKS: 8; WHAT-IF: remove=MPI_Bcast, which leaves half of it */
#include "advice.h"

enum { STEPS = 60, LENGTH = 4096 };

WORK(relax)

NOINLINE void gather(char *part, char *all) {
    const int length = LENGTH * scale;
    OK(MPI_Gather(part, length, MPI_BYTE, all, length, MPI_BYTE, 0, MPI_COMM_WORLD));
}

NOINLINE void tell_all(char *all) { OK(MPI_Bcast(all, LENGTH * scale * size, MPI_BYTE, 0, MPI_COMM_WORLD)); }

NOINLINE void gather_at_all(char *part, char *all) {
    const int length = LENGTH * scale;
    OK(MPI_Allgather(part, length, MPI_BYTE, all, length, MPI_BYTE, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *part = bytes(LENGTH), *all = bytes((long)LENGTH * size);
    for (int step = 0; step < STEPS; step++) {
        relax(5);
        part[0] = (char)(step + rank);
        if (is_fixed) gather_at_all(part, all);
        else gather(part, all), tell_all(all);
        CHECK(all[LENGTH * scale * (size - 1)] == (char)(step + size - 1));
    }
    free(part), free(all);
    end();
    return 0;
}
