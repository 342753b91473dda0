/* Accesses to files of 4 ranks with known phases:
 *
 *     random  each rank writes eight requests of its part, in another order than they lie
 *     steps   a file for each of six steps, to which all ranks write
 *     noise   rank 0 writes a header; five dumps of eight requests, each with a small one behind it
 *     pairs   each rank writes a request and reads it back, eight times */
#include "../check.h"
#include <string.h>

enum { REQUEST = 65536, REQUESTS = 8, SMALL = 96, HEADER = 512, STEPS = 6, DUMPS = 5, BARRIERS = 6 };

static const MPI_Offset FAR_AWAY = (MPI_Offset)1 << 30;
static const int MODE = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;

static char bytes[REQUEST];

NOINLINE void compute(void) {
    for (int at = 0; at < BARRIERS; at++) OK(MPI_Barrier(MPI_COMM_WORLD));
}

static MPI_File opened(const char *name) {
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MODE, MPI_INFO_NULL, &file));
    return file;
}

NOINLINE void put(MPI_File file, MPI_Offset place, int count) {
    OK(MPI_File_write_at(file, place, bytes, count, MPI_BYTE, MPI_STATUS_IGNORE));
}

NOINLINE void in_any_order(void) {
    const int order[REQUESTS] = {5, 2, 7, 0, 3, 6, 1, 4};
    MPI_File file = opened("random.out");
    for (int at = 0; at < REQUESTS; at++) put(file, ((MPI_Offset)rank * REQUESTS + order[at]) * REQUEST, REQUEST);
    OK(MPI_File_close(&file));
}

NOINLINE void file_for_each_step(void) {
    char name[32];
    for (int step = 0; step < STEPS; step++) {
        snprintf(name, sizeof name, "out.%04d.h5", step);
        MPI_File file = opened(name);
        put(file, (MPI_Offset)rank * REQUEST, REQUEST);
        OK(MPI_File_close(&file));
        compute();
    }
}

NOINLINE void with_noise(void) {
    MPI_File file = opened("noise.out");
    if (rank == 0) put(file, 0, HEADER);
    for (int dump = 0; dump < DUMPS; dump++) {
        compute();
        for (int at = 0; at < REQUESTS; at++) {
            put(file, HEADER + (((MPI_Offset)dump * size + rank) * REQUESTS + at) * REQUEST, REQUEST);
            put(file, FAR_AWAY, SMALL);
        }
    }
    OK(MPI_File_close(&file));
}

NOINLINE void in_turn(void) {
    MPI_File file = opened("pairs.out");
    for (int at = 0; at < REQUESTS; at++) {
        const MPI_Offset place = ((MPI_Offset)rank * REQUESTS + at) * REQUEST;
        put(file, place, REQUEST);
        OK(MPI_File_read_at(file, place, bytes, REQUEST, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    start(&argc, &argv, 4);
    CHECK(size == 4 && argc == 2);
    if (strcmp(argv[1], "random") == 0) in_any_order();
    else if (strcmp(argv[1], "steps") == 0) file_for_each_step();
    else if (strcmp(argv[1], "noise") == 0) with_noise();
    else if (strcmp(argv[1], "pairs") == 0) in_turn();
    else CHECK(!"a shape");
    finish();
    return 0;
}
