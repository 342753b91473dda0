/* Collective calls on files that move no data: views, sizes and space, of a file of both ranks and of one of rank 1 alone,
 * which has opened its own one first. 2 ranks. */
#include "../expect.h"

static MPI_File opened(MPI_Comm comm, const char *path) {
    MPI_File file;
    OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    EXPECT(IoCreateHandle);
    return file;
}

static void resize(MPI_File file) {
    OK(MPI_File_set_view(file, 16, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_set_size(file, 100));
    OK(MPI_File_preallocate(file, 200));
}

static void close(MPI_File file) {
    OK(MPI_File_close(&file));
    EXPECT(IoDestroyHandle);
}

int main(int argc, char **argv) {
    MPI_File common, own = MPI_FILE_NULL;

    start(&argc, &argv, 2);
    CHECK(size == 2);
    if (rank == 1) own = opened(MPI_COMM_SELF, "own_file");
    common = opened(MPI_COMM_WORLD, "common_file");
    resize(common);
    if (rank == 1) {
        resize(own);
        close(own);
    }
    close(common);
    finish_expecting();
    return 0;
}
