/* Times of calls on files, of MPI and of the C library: for each kind a line as of calls.c, with the least of many batches and the
 * mean of all, in ns a call. What the system does of it differs from run to run: compare the least. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 200, CALLS = 2000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* A call returns 0 if it is right. */
#define MEASURE(name, call)                                                 \
    do {                                                                    \
        double least = 1e300, sum = 0;                                      \
        for (int batch = 0; batch < BATCHES; batch++) {                     \
            const double begin = now();                                     \
            for (int at = 0; at < CALLS; at++)                              \
                if ((call) != 0) abort();                                   \
            const double each = (now() - begin) / CALLS;                    \
            sum += each;                                                    \
            if (each < least) least = each;                                 \
        }                                                                   \
        printf("%s 1 1 %.1f %.1f\n", name, least, sum / BATCHES);           \
    } while (0)

static int descriptor;

static int open_and_close(void) {
    const int other = open("files.fd", O_RDONLY);
    return other < 0 || close(other);
}

int main(int argc, char **argv) {
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    static char bytes[8];
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_SELF, "files.mpi", mode, MPI_INFO_NULL, &file);
    MEASURE("MPI_File_write_at_of_0_bytes", MPI_File_write_at(file, 0, bytes, 0, MPI_BYTE, MPI_STATUS_IGNORE));
    MEASURE("MPI_File_write_at", MPI_File_write_at(file, 0, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    MEASURE("MPI_File_read_at", MPI_File_read_at(file, 0, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_File_close(&file);
    descriptor = open("files.fd", O_RDWR | O_CREAT | O_TRUNC, 0600);
    MEASURE("pwrite", pwrite(descriptor, bytes, 8, 0) != 8);
    MEASURE("pread", pread(descriptor, bytes, 8, 0) != 8);
    MEASURE("lseek", lseek(descriptor, 0, SEEK_SET) != 0);
    MEASURE("open_and_close", open_and_close());
    close(descriptor);
    unlink("files.fd");
    descriptor = open("/dev/null", O_WRONLY);
    MEASURE("write_to_dev_null", write(descriptor, bytes, 8) != 8);
    MPI_Finalize();
    return 0;
}
