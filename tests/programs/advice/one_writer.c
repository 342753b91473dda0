/* Rank 0 gathers 32 MiB from all in each step, and writes them.
 * FIRST ADVICE: io/one-rank, or work/one-rank where calls for files are not known as such.
 * FIXED: each writes its part: by itself, as parts are long. What that saves hangs on the file system and the processors.
 * RANKS: 4; WHAT-IF: none, as calls for files are kept */
#include "files.h"

enum { STEPS = 8, LENGTH = 8 << 20 };

WORK(relax)

NOINLINE void gather(char *all, char *part) {
    OK(MPI_Gather(part, LENGTH * scale, MPI_BYTE, all, LENGTH * scale, MPI_BYTE, 0, MPI_COMM_WORLD));
}

NOINLINE void write_all(char *all) {
    for (int k = 0; k < size; k++) {
        const long place = (long)k * LENGTH * scale;
        OK(MPI_File_write_at(file, place, all + place, LENGTH * scale, MPI_BYTE, MPI_STATUS_IGNORE));
    }
}

NOINLINE void write_part(char *part) {
    OK(MPI_File_write_at(file, (long)rank * LENGTH * scale, part, LENGTH * scale, MPI_BYTE, MPI_STATUS_IGNORE));
}

NOINLINE void come_together(void) { OK(MPI_Barrier(MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *part = bytes(LENGTH), *all = rank == 0 ? bytes((long)size * LENGTH) : NULL;
    memset(part, rank, (size_t)LENGTH * (size_t)scale);
    open_file(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        relax(10);
        if (is_fixed) {
            write_part(part);
        } else {
            gather(all, part);
            if (rank == 0) write_all(all);
        }
        come_together();
    }
    close_file();
    free(part), free(all);
    end();
    return 0;
}
