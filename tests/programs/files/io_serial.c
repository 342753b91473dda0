/* Steps in which the first rank gathers 2 MiB of each and writes them in requests of 1 MiB, while the others wait in a barrier.
 * 4 ranks; with slow_files.c it is known how long they wait. */
#include "../check.h"
#include <fcntl.h>
#include <unistd.h>

enum { STEPS = 10, PART = 2 << 20, REQUEST = 1 << 20, RANKS = 4 };

static char part[PART], all[RANKS * PART];

NOINLINE void write_all(int file, int step) {
    for (off_t at = 0; at < RANKS * PART; at += REQUEST) {
        CHECK(pwrite(file, all + at, REQUEST, (off_t)step * RANKS * PART + at) == REQUEST);
    }
}

int main(int argc, char **argv) {
    int file = -1;

    start(&argc, &argv, RANKS);
    CHECK(size == RANKS);
    if (rank == 0) CHECK((file = open("serial.out", O_WRONLY | O_CREAT | O_TRUNC, 0600)) > 0);
    for (int step = 0; step < STEPS; step++) {
        OK(MPI_Gather(part, PART, MPI_BYTE, all, PART, MPI_BYTE, 0, MPI_COMM_WORLD));
        if (rank == 0) write_all(file, step);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (rank == 0) CHECK(close(file) == 0 && unlink("serial.out") == 0);
    finish();
    return 0;
}
