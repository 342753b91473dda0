/* Rank r comes r · 20 ms late to each collective transfer of a file, of several kinds, and to each call that handles the
 * file. 4 ranks. Each tells how long it has waited for the last one in all transfers and in all other calls, which is more if other
 * programs delay them, in seconds. */
#include "../check.h"
#include <time.h>

enum { LATE = 20 * 1000 * 1000, BYTES = 4096, MOST = 8 };

static char part[BYTES];

/* Calls of one kind, and when this rank came to each. */
struct calls {
    int count;
    double begin[MOST];
};

static struct calls transfers, others;

/* Seconds of a clock that all ranks of a machine share, unlike MPI_Wtime of Open MPI. */
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* All are here; then each waits longer than the one before. */
NOINLINE void come_late(struct calls *to) {
    const struct timespec pause = {0, (long)rank * LATE};
    OK(MPI_Barrier(MPI_COMM_WORLD));
    nanosleep(&pause, NULL);
    to->begin[to->count++] = now();
}

NOINLINE void transfer(MPI_File file) {
    const MPI_Offset place = rank * BYTES;
    MPI_Datatype block, rows;

    come_late(&transfers);
    OK(MPI_File_write_at_all(file, place, part, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    come_late(&transfers);
    OK(MPI_File_write_at_all(file, place, part, rank == 1 ? 0 : BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    come_late(&transfers);
    OK(MPI_File_write_ordered(file, part, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_Type_vector(4, 256, 1024, MPI_BYTE, &block));
    OK(MPI_Type_create_resized(block, 0, 4096, &rows));
    OK(MPI_Type_commit(&rows));
    come_late(&others);
    OK(MPI_File_set_view(file, 256 * rank, MPI_BYTE, rows, "native", MPI_INFO_NULL));
    come_late(&transfers);
    OK(MPI_File_write_all(file, part, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    come_late(&transfers);
    OK(MPI_File_read_at_all(file, 0, part, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&block));
    OK(MPI_Type_free(&rows));
}

/* How long this rank has waited in all calls of a kind. */
static double waited(const struct calls *in) {
    double last[MOST], all = 0;
    OK(MPI_Allreduce(in->begin, last, in->count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    for (int at = 0; at < in->count; at++) all += last[at] - in->begin[at];
    return all;
}

int main(int argc, char **argv) {
    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;

    start(&argc, &argv, 4);
    CHECK(size == 4);
    come_late(&others);
    OK(MPI_File_open(MPI_COMM_WORLD, "late.out", mode, MPI_INFO_NULL, &file));
    transfer(file);
    come_late(&others);
    OK(MPI_File_set_size(file, 100000));
    come_late(&others);
    OK(MPI_File_close(&file));
    printf("waits %d %d %.6f %d %.6f\n", rank, transfers.count, waited(&transfers), others.count, waited(&others));
    finish();
    return 0;
}
