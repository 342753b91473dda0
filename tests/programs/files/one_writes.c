/* Steps in which the first rank writes what all have computed, while the others wait in a barrier: file I/O of one rank that all pay
 * for. 4 ranks. */
#include "../check.h"
#include <string.h>

enum { STEPS = 10, BYTES = 16 << 20 };

static char all[BYTES];

NOINLINE void dump(MPI_File file, int step) {
    memset(all, step, sizeof all);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) OK(MPI_File_write(file, all, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    MPI_File file = MPI_FILE_NULL;
    const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE;

    start(&argc, &argv, 4);
    if (rank == 0) OK(MPI_File_open(MPI_COMM_SELF, "one_writes.out", mode, MPI_INFO_NULL, &file));
    for (int step = 0; step < STEPS; step++) dump(file, step);
    if (rank == 0) OK(MPI_File_close(&file));
    finish();
    return 0;
}
