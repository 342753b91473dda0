/* Rank 0 reads what it then sends to all.
 * FIRST ADVICE: work/one-rank; io/one-rank if reading were a call that is known as such.
 * FIXED: each reads a part, and all gather. Of N ranks a step takes 20 + 30 / N milliseconds instead of 50.
 * RANKS: 4; WHAT-IF: level=read_input@0 */
#include "advice.h"

enum { STEPS = 15, LENGTH = 4096 };

WORK(read_input)
WORK(relax)

NOINLINE void tell_all(char *data) { OK(MPI_Bcast(data, size * LENGTH * scale, MPI_BYTE, 0, MPI_COMM_WORLD)); }

NOINLINE void gather_all(char *data) {
    OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, data, LENGTH * scale, MPI_BYTE, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *data = bytes((long)size * LENGTH);
    for (int step = 0; step < STEPS; step++) {
        if (is_fixed) read_input(30.0 / size);
        else if (rank == 0) read_input(30);
        if (rank == 0) data[0] = (char)step;
        if (is_fixed) gather_all(data);
        else tell_all(data);
        CHECK(data[0] == (char)step);
        relax(20);
    }
    free(data);
    end();
    return 0;
}
