/* Each rank writes 4000 times 64 bytes in a row in each step.
 * FIRST ADVICE: io/small-io.
 * FIXED: once, all of them. What that saves hangs on the file system.
 * RANKS: 4; WHAT-IF: none, as calls for files are kept */
#include "files.h"

enum { STEPS = 15, PIECES = 4000, LENGTH = 64 };

WORK(relax)

NOINLINE void write_part(char *data) {
    const int count = is_fixed ? 1 : PIECES, length = PIECES * LENGTH * scale / count;
    const long begin_of_rank = (long)rank * PIECES * LENGTH * scale;
    for (int k = 0; k < count; k++)
        OK(MPI_File_write_at(file, begin_of_rank + k * length, data + k * length, length, MPI_BYTE, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *data = bytes((long)PIECES * LENGTH);
    open_file(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        relax(10);
        write_part(data);
    }
    close_file();
    free(data);
    end();
    return 0;
}
