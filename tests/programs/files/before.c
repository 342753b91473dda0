/* Uses files in MPI that it has opened, and begun to write and to read, before MPI_Init; each rank its own.
   "raw": 10 bytes before, 10 x 1000 and 5 by a duplicate behind them. "buffered": 3 x 100 bytes before, 1000 x 100 behind them.
   "read": 100 bytes before, 50 behind them. "ends": 7 bytes that are appended to 8. "unused": nothing. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char bytes[1000];

static void moved(long got, long wanted) {
    if (got != wanted) {
        perror("before");
        exit(3);
    }
}

/* Names of files have the number of the rank, which is that of the process here. */
static const char *named(const char *name) {
    static char path[64];
    const char *rank = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    snprintf(path, sizeof path, "%s.%s", name, rank ? rank : "0");
    return path;
}

int main(int argc, char **argv) {
    const int flags = O_CREAT | O_TRUNC | O_WRONLY;
    int raw = open(named("raw"), flags, 0644), unused = open(named("unused"), flags, 0644);
    int made = open(named("read"), flags, 0644), ends = open(named("ends"), flags, 0644);
    moved(write(made, bytes, 1000), 1000);
    moved(write(ends, bytes, 8), 8);
    close(made);
    close(ends);
    ends = open(named("ends"), O_WRONLY | O_APPEND);
    FILE *buffered = fopen(named("buffered"), "w"), *reads = fopen(named("read"), "r");
    moved(write(raw, bytes, 10), 10);
    for (int at = 0; at < 3; at++) moved(fwrite(bytes, 1, 100, buffered), 100);
    moved(fread(bytes, 1, 100, reads), 100);
    MPI_Init(&argc, &argv);
    for (int at = 0; at < 10; at++) moved(write(raw, bytes, 1000), 1000);
    int copy = dup(raw);
    close(raw);
    moved(write(copy, bytes, 5), 5);
    close(copy);
    for (int at = 0; at < 1000; at++) moved(fwrite(bytes, 1, 100, buffered), 100);
    fclose(buffered);
    moved(fread(bytes, 1, 50, reads), 50);
    fclose(reads);
    moved(write(ends, bytes, 7), 7);
    close(ends);
    close(unused);
    MPI_Finalize();
    return 0;
}
