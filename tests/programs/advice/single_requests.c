/* Each rank writes every N-th piece of 256 bytes of a file, each piece by itself.
 * FIRST ADVICE: io/not-collective.
 * FIXED: pieces of a rank lie together, and all write at once in a collective call. (With pieces where they were, through a
 * view of the file, that costs more than it saves where files are in memory.) What it saves hangs on the file system.
 * RANKS: 4; WHAT-IF: none, as calls for files are kept */
#include "files.h"

enum { STEPS = 10, PIECES = 6000, LENGTH = 256 };

WORK(relax)

NOINLINE void write_pieces(char *data) {
    for (long k = 0; k < PIECES; k++)
        OK(MPI_File_write_at(file, (k * size + rank) * LENGTH * scale, data + k * LENGTH * scale, LENGTH * scale, MPI_BYTE,
                             MPI_STATUS_IGNORE));
}

NOINLINE void write_together(char *data) {
    OK(MPI_File_write_at_all(file, (long)rank * PIECES * LENGTH * scale, data, PIECES * LENGTH * scale, MPI_BYTE, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *data = bytes((long)PIECES * LENGTH);
    open_file(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        relax(10);
        if (is_fixed) write_together(data);
        else write_pieces(data);
    }
    close_file();
    free(data);
    end();
    return 0;
}
