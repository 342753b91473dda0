/* Steps that write a part of each rank collectively, with communication in between, and reading all of it back one by one:
 * phases of file I/O whose sizes and places are known. 4 ranks. */
#include "../check.h"
#include <string.h>

enum { STEPS = 10, BYTES = 65536, BARRIERS = 6 };

static char part[BYTES];

NOINLINE void compute(void) {
    for (int at = 0; at < BARRIERS; at++) OK(MPI_Barrier(MPI_COMM_WORLD));
}

NOINLINE void dump(MPI_File file, int step) {
    const MPI_Offset place = ((MPI_Offset)step * size + rank) * BYTES;
    memset(part, step, sizeof part);
    OK(MPI_File_write_at_all(file, place, part, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
}

NOINLINE void read_back(MPI_File file) {
    OK(MPI_File_seek(file, (MPI_Offset)rank * STEPS * BYTES, MPI_SEEK_SET));
    for (int step = 0; step < STEPS; step++) {
        OK(MPI_File_read(file, part, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(part[0] == (rank * STEPS + step) / size);
    }
}

int main(int argc, char **argv) {
    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;

    start(&argc, &argv, 4);
    CHECK(size == 4);
    OK(MPI_File_open(MPI_COMM_WORLD, "phases.out", mode, MPI_INFO_NULL, &file));
    for (int step = 0; step < STEPS; step++) {
        compute();
        dump(file, step);
    }
    compute();
    read_back(file);
    OK(MPI_File_close(&file));
    finish();
    return 0;
}
