/* Writes or reads a file as IOR does with these options of its command line, and prints how long that took:
 *
 *     -a MPIIO|POSIX -N RANKS -b BYTES -t BYTES -s SEGMENTS -o FILE [-c] [-F] [-z] [-w] [-r] [-C] [-k]
 *
 * Request j of segment i of rank p is at i·N·b + p·b + j·t, with -F at i·b + j·t of a file of its own; with -z the requests
 * of a rank come in any order, with -C a rank reads what the next one has written. What is read without being written
 * is made before MPI starts, and so is not recorded. Without -k the file is gone afterwards. */
#include "../check.h"
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    long ranks, block, request, segments;
    int posix, collective, own, random, write, read, shift, keep;
    const char *name;
} options;

static struct {
    MPI_File mpi;
    int posix;
} file;

static char *bytes;

static void parse(int count, char **words) {
    for (int letter; (letter = getopt(count, words, "a:N:b:t:s:o:cFzwrCk")) != -1;) {
        switch (letter) {
        case 'a': options.posix = strcmp(optarg, "POSIX") == 0; break;
        case 'N': options.ranks = atol(optarg); break;
        case 'b': options.block = atol(optarg); break;
        case 't': options.request = atol(optarg); break;
        case 's': options.segments = atol(optarg); break;
        case 'o': options.name = optarg; break;
        case 'c': options.collective = 1; break;
        case 'F': options.own = 1; break;
        case 'z': options.random = 1; break;
        case 'w': options.write = 1; break;
        case 'r': options.read = 1; break;
        case 'C': options.shift = 1; break;
        case 'k': options.keep = 1; break;
        default: exit(2);
        }
    }
    if (!options.name || options.request <= 0 || options.block % options.request) exit(2);
}

static const char *path(long owner) {
    static char own[4096];
    if (!options.own) return options.name;
    snprintf(own, sizeof own, "%s.%08ld", options.name, owner);
    return own;
}

/* Makes what is read, without data: all ranks make the same. */
static void make(void) {
    const long size = options.segments * options.block * (options.own ? 1 : options.ranks);
    for (long owner = 0; owner < (options.own ? options.ranks : 1); owner++) {
        const int made = open(path(owner), O_RDWR | O_CREAT, 0600);
        if (made < 0 || ftruncate(made, size) != 0 || close(made) != 0) exit(3);
    }
}

NOINLINE void open_file(int owner) {
    const int mode = options.write ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
    if (options.posix) {
        file.posix = open(path(owner), options.write ? O_RDWR | O_CREAT : O_RDONLY, 0600);
        CHECK(file.posix >= 0);
        return;
    }
    OK(MPI_File_open(options.own ? MPI_COMM_SELF : MPI_COMM_WORLD, path(owner), mode, MPI_INFO_NULL, &file.mpi));
}

NOINLINE void close_file(void) {
    if (options.posix) {
        CHECK(close(file.posix) == 0);
    } else {
        OK(MPI_File_close(&file.mpi));
    }
}

NOINLINE void request(int is_read, MPI_Offset place) {
    const int count = (int)options.request;
    if (options.posix) {
        CHECK((is_read ? pread(file.posix, bytes, count, place) : pwrite(file.posix, bytes, count, place)) == count);
    } else if (options.collective && is_read) {
        OK(MPI_File_read_at_all(file.mpi, place, bytes, count, MPI_BYTE, MPI_STATUS_IGNORE));
    } else if (options.collective) {
        OK(MPI_File_write_at_all(file.mpi, place, bytes, count, MPI_BYTE, MPI_STATUS_IGNORE));
    } else if (is_read) {
        OK(MPI_File_read_at(file.mpi, place, bytes, count, MPI_BYTE, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_File_write_at(file.mpi, place, bytes, count, MPI_BYTE, MPI_STATUS_IGNORE));
    }
}

/* The places of all requests, in their order. */
static MPI_Offset *places(int owner, long count) {
    MPI_Offset *all = malloc(sizeof *all * (size_t)count);
    const long width = options.own ? 1 : options.ranks, part = options.own ? 0 : owner, each = options.block / options.request;
    for (long at = 0; at < count; at++) {
        all[at] = (at / each * width + part) * options.block + at % each * options.request;
    }
    unsigned state = 1 + (unsigned)owner;
    for (long at = count - 1; options.random && at > 0; at--) {
        state = state * 1103515245u + 12345u;
        const long other = (state >> 16) % (at + 1);
        const MPI_Offset moved = all[at];
        all[at] = all[other], all[other] = moved;
    }
    return all;
}

/* Seconds of a clock that all ranks of a machine share, unlike MPI_Wtime of Open MPI. */
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void access_file(int is_read) {
    const long count = options.block / options.request * options.segments;
    const int owner = is_read && options.shift ? (rank + 1) % size : rank;
    MPI_Offset *all = places(owner, count);
    double times[2], ends[2];

    open_file(owner);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    times[0] = -now();
    for (long at = 0; at < count; at++) request(is_read, all[at]);
    times[1] = now();
    close_file();
    /* From the first begin to the last end. */
    OK(MPI_Reduce(times, ends, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD));
    if (rank == 0) printf("%s %.6f\n", is_read ? "read" : "write", ends[1] + ends[0]);
    free(all);
}

int main(int argc, char **argv) {
    parse(argc, argv);
    if (!options.write) make();
    start(&argc, &argv, 1);
    CHECK(size == options.ranks && (bytes = calloc(1, (size_t)options.request)) != NULL);
    if (options.write) access_file(0);
    if (options.read) access_file(1);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    finish();
    if (!options.keep && (rank == 0 || options.own)) unlink(path(rank));
    return 0;
}
