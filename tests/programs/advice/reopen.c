/* A file is opened and closed for each line that is written to it.
 * FIRST ADVICE: io/metadata.
 * FIXED: it is opened once. What that saves hangs on the file system, and on ranks that share processors.
 * RANKS: 4; WHAT-IF: none, as calls for files are kept */
#include "files.h"

enum { STEPS = 60, LENGTH = 128 };

WORK(relax)

NOINLINE void write_line(char *line, int step) {
    OK(MPI_File_write_at(file, ((long)step * size + rank) * LENGTH * scale, line, LENGTH * scale, MPI_BYTE,
                         MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *line = bytes(LENGTH);
    open_file(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        relax(5);
        if (!is_fixed && step > 0) {
            close_file();
            open_file(MPI_COMM_WORLD);
        }
        write_line(line, step);
    }
    close_file();
    free(line);
    end();
    return 0;
}
