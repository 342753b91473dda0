/* What is inefficient in file I/O, one flaw at a time, or with "mended" behind its name the same without it. 4 ranks; with slow_files.c
 * it is known how long requests, opening and flushing take. */
#define _GNU_SOURCE
#include "../check.h"
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 20, BYTES = 65536, PART = 16 << 20, RANKS = 4 };

static char part[PART];
static int is_mended;

/* A request takes so many microseconds, and opening or flushing a file. */
static void take(const char *request, const char *handling) {
    CHECK(setenv("SLOW_LATENCY", request, 1) == 0 && setenv("SLOW_HANDLING", handling, 1) == 0);
}

NOINLINE void compute(long milliseconds) {
    const struct timespec pause = {0, milliseconds * 1000000};
    nanosleep(&pause, NULL);
}

static MPI_File open_together(void) {
    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    OK(MPI_File_open(MPI_COMM_WORLD, "flaws.out", mode, MPI_INFO_NULL, &file));
    return file;
}

/* Each writes so many requests of its own. */
static void write_alone(MPI_File file, int requests) {
    for (int step = 0; step < requests; step++) {
        const MPI_Offset place = ((MPI_Offset)rank * 4 * STEPS + step) * BYTES;
        OK(MPI_File_write_at(file, place, part, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    }
}

/* The requests of one rank take three times as long. */
NOINLINE void straggler(void) {
    MPI_File file = open_together();
    take(rank == 2 && !is_mended ? "9000" : "3000", "0");
    write_alone(file, STEPS);
    OK(MPI_File_close(&file));
}

/* One rank writes three times as much. */
NOINLINE void unequal_amounts(void) {
    MPI_File file = open_together();
    take("3000", "0");
    write_alone(file, rank == 1 && !is_mended ? 3 * STEPS : STEPS);
    OK(MPI_File_close(&file));
}

/* One rank comes late to each collective write. Behind it all wait until the one that writes to the disk is done. */
NOINLINE void late(void) {
    MPI_File file = open_together();
    for (int step = 0; step < STEPS; step++) {
        compute(20);
        if (rank == 3 && !is_mended) compute(20);
        const MPI_Offset place = ((MPI_Offset)step * RANKS + rank) * BYTES;
        OK(MPI_File_write_at_all(file, place, part, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_File_close(&file));
}

static int open_own(void) {
    char name[32];
    snprintf(name, sizeof name, "flaws.%d", rank);
    const int file = open(name, O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0);
    return file;
}

/* A file is opened for each request. */
NOINLINE void handling_storm(void) {
    int file = open_own();
    take("0", "1000");
    for (int step = 0; step < 5 * STEPS; step++) {
        if (!is_mended) CHECK(close(file) == 0), file = open_own();
        CHECK(pwrite(file, part, 8, 8 * step) == 8);
    }
    CHECK(close(file) == 0);
}

/* A file is opened often, and hardly used. */
NOINLINE void unused(void) {
    take("0", "1000");
    for (int step = 0; step < 3 * STEPS; step++) {
        const int file = open_own();
        if (is_mended || step == 0) CHECK(pwrite(file, part, 8, 8 * step) == 8);
        CHECK(close(file) == 0);
    }
}

/* The file is flushed behind each request. */
NOINLINE void syncs(void) {
    MPI_File file = open_together();
    take("1000", "3000");
    for (int step = 0; step < STEPS; step++) {
        write_alone(file, 1);
        if (!is_mended) OK(MPI_File_sync(file));
    }
    if (is_mended) OK(MPI_File_sync(file));
    OK(MPI_File_close(&file));
}

/* A stream writes out its buffer of 4096 bytes again and again. */
NOINLINE void buffered(void) {
    static char buffer[4 << 20];
    char name[32];
    snprintf(name, sizeof name, "flaws.%d", rank);
    FILE *file = fopen(name, "w");
    CHECK(file != NULL);
    /* Without a buffer the C library takes one of its own, however many bytes are asked for. */
    if (is_mended) CHECK(setvbuf(file, buffer, _IOFBF, sizeof buffer) == 0);
    for (int at = 0; at < PART; at += 1024) CHECK(fwrite(part + at, 1024, 1, file) == 1);
    CHECK(fclose(file) == 0);
}

/* Non-blocking writes are completed as soon as they have begun. */
NOINLINE void nothing_overlaps(void) {
    MPI_File file = open_together();
    MPI_Request request;
    for (int step = 0; step < 3; step++) {
        const MPI_Offset place = ((MPI_Offset)step * RANKS + rank) * PART;
        OK(MPI_File_iwrite_at(file, place, part, PART, MPI_BYTE, &request));
        if (is_mended) compute(200);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } flaws[] = {
        {"straggler", straggler}, {"unequal_amounts", unequal_amounts}, {"late", late}, {"handling_storm", handling_storm},
        {"unused", unused}, {"syncs", syncs}, {"buffered", buffered}, {"nothing_overlaps", nothing_overlaps},
    };
    char name[32];

    start(&argc, &argv, RANKS);
    CHECK(size == RANKS && argc >= 2);
    is_mended = argc > 2 && strcmp(argv[2], "mended") == 0;
    for (size_t at = 0; at < sizeof flaws / sizeof *flaws; at++) {
        if (strcmp(argv[1], flaws[at].name) == 0) flaws[at].run();
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    snprintf(name, sizeof name, "flaws.%d", rank);
    (void)unlink(name);
    finish();
    return 0;
}
