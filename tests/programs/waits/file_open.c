/* Rank 1 comes late to the opening of a file: ranks 0 and 2 wait there as long as the delay takes. */
#include "../provoke.h"

#include <unistd.h>

static MPI_File file;
static char name[64];

NOINLINE void open_late(void) {
    DELAY(); /* HERE: delay */
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
}

NOINLINE void open_file(void) {
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    OK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file)); /* HERE: wait */
}

int main(int argc, char **argv) {
    int number = (int)getpid();
    start(&argc, &argv, 3);
    OK(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD));
    snprintf(name, sizeof name, "file_open.%d.data", number);
    meet(1);
    if (rank == 1) open_late();
    else open_file();
    OK(MPI_File_close(&file));
    if (rank == 0) printf("opened by %d ranks\n", size);
    finish();
    return 0;
}
