/* Each rank writes every N-th piece of 1 KiB of a file, each piece by itself.
 * FIRST ADVICE: io/not-collective.
 * FIXED: all write together through a view of the file, so that the library makes long requests. What that saves hangs on the
 * file system; in memory it may cost more than it saves.
 * RANKS: 4; WHAT-IF: none, as calls for files are kept */
#include "files.h"

enum { STEPS = 10, PIECES = 2000, LENGTH = 1024 };

WORK(relax)

NOINLINE void write_pieces(char *data) {
    for (long k = 0; k < PIECES; k++)
        OK(MPI_File_write_at(file, (k * size + rank) * LENGTH * scale, data + k * LENGTH * scale, LENGTH * scale, MPI_BYTE,
                             MPI_STATUS_IGNORE));
}

NOINLINE void write_together(char *data) {
    OK(MPI_File_write_at_all(file, 0, data, PIECES * LENGTH * scale, MPI_BYTE, MPI_STATUS_IGNORE));
}

/* Of the file the pieces of this rank. */
NOINLINE void look_at_own(void) {
    MPI_Datatype pieces;
    OK(MPI_Type_vector(PIECES, LENGTH * scale, size * LENGTH * scale, MPI_BYTE, &pieces));
    OK(MPI_Type_commit(&pieces));
    OK(MPI_File_set_view(file, (long)rank * LENGTH * scale, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&pieces));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *data = bytes((long)PIECES * LENGTH);
    open_file(MPI_COMM_WORLD);
    if (is_fixed) look_at_own();
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
