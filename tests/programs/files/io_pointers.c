/* Transfers with all kinds of pointers, each between barriers, so that it is a phase of its own. Each rank writes to log.RANK what it
 * has transferred, a line for each transfer: the file, whether it reads or writes, the first byte in the file, or ? where that
 * depends on who comes first, and the number of bytes. 2 ranks. */
#define _GNU_SOURCE
#include "../check.h"
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BARRIERS = 6, PART = 1000 };

static char bytes[1 << 16], own[32];
static FILE *told;

/* Ends a phase. */
NOINLINE void end_phase(void) {
    for (int at = 0; at < BARRIERS; at++) OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Tells of a transfer, which is the last one of its phase. */
static void tell(const char *file, const char *what, long long first, long count) {
    if (first < 0) fprintf(told, "%s %s ? %ld\n", file, what, count);
    else fprintf(told, "%s %s %lld %ld\n", file, what, first, count);
    end_phase();
}

NOINLINE void individual(MPI_File file) {
    const MPI_Offset begin = rank * 8 * PART;
    OK(MPI_File_write(file, bytes, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    tell("pointers.out", "write", 0, 100);
    OK(MPI_File_seek(file, begin, MPI_SEEK_SET));
    OK(MPI_File_write(file, bytes, PART, MPI_BYTE, MPI_STATUS_IGNORE));
    tell("pointers.out", "write", begin, PART);
    OK(MPI_File_seek(file, -10, MPI_SEEK_CUR));
    OK(MPI_File_write_all(file, bytes, 20, MPI_BYTE, MPI_STATUS_IGNORE));
    tell("pointers.out", "write", begin + PART - 10, 20);
    OK(MPI_File_seek(file, -100, MPI_SEEK_END));
    OK(MPI_File_read(file, bytes, 40, MPI_BYTE, MPI_STATUS_IGNORE));
    /* Rank 1 has written most. */
    tell("pointers.out", "read", 8 * PART + PART + 10 - 100, 40);
    /* An explicit offset leaves the pointer where it is. */
    OK(MPI_File_write_at(file, 20 * PART, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    tell("pointers.out", "write", 20 * PART, 8);
    OK(MPI_File_read(file, bytes, 60, MPI_BYTE, MPI_STATUS_IGNORE));
    tell("pointers.out", "read", 8 * PART + PART + 10 - 60, 60);
    MPI_Request request;
    OK(MPI_File_seek(file, begin, MPI_SEEK_SET));
    OK(MPI_File_iread(file, bytes, 70, MPI_BYTE, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    tell("pointers.out", "read", begin, 70);
    OK(MPI_File_read_all_begin(file, bytes, 30, MPI_BYTE));
    OK(MPI_File_read_all_end(file, bytes, MPI_STATUS_IGNORE));
    tell("pointers.out", "read", begin + 70, 30);
}

/* Each tile of a view has the doubles of all ranks; the second view begins elsewhere. */
NOINLINE void views(MPI_File file) {
    MPI_Datatype every;

    OK(MPI_Type_create_resized(MPI_DOUBLE, 0, 8 * size, &every));
    OK(MPI_Type_commit(&every));
    for (int time = 0; time < 2; time++) {
        const long long begin = (time ? 5 : 1) * PART + 8 * rank;
        OK(MPI_File_set_view(file, begin, MPI_DOUBLE, every, "native", MPI_INFO_NULL));
        OK(MPI_File_write_all(file, bytes, 10, MPI_DOUBLE, MPI_STATUS_IGNORE));
        tell("pointers.out", "write", begin, 80);
        OK(MPI_File_write_all(file, bytes, 10, MPI_DOUBLE, MPI_STATUS_IGNORE));
        tell("pointers.out", "write", begin + 10 * 8 * size, 80);
        OK(MPI_File_read_at_all(file, 3, bytes, 5, MPI_DOUBLE, MPI_STATUS_IGNORE));
        tell("pointers.out", "read", begin + 3 * 8 * size, 40);
        OK(MPI_File_seek(file, 2, MPI_SEEK_SET));
        OK(MPI_File_read(file, bytes, 5, MPI_DOUBLE, MPI_STATUS_IGNORE));
        tell("pointers.out", "read", begin + 2 * 8 * size, 40);
    }
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&every));
}

NOINLINE void together(MPI_File file) {
    OK(MPI_File_write_ordered(file, bytes, 100 + 20 * rank, MPI_BYTE, MPI_STATUS_IGNORE));
    tell("pointers.out", "write", 100 * rank, 100 + 20 * rank);
    OK(MPI_File_read_ordered(file, bytes, 50, MPI_BYTE, MPI_STATUS_IGNORE));
    tell("pointers.out", "read", 220 + 50 * rank, 50);
    OK(MPI_File_write_shared(file, bytes, 300, MPI_BYTE, MPI_STATUS_IGNORE));
    tell("pointers.out", "write", -1, 300);
    OK(MPI_File_write_ordered(file, bytes, 40, MPI_BYTE, MPI_STATUS_IGNORE));
    tell("pointers.out", "write", 320 + 600 + 40 * rank, 40);
    OK(MPI_File_seek_shared(file, 7, MPI_SEEK_SET));
    OK(MPI_File_read_ordered_begin(file, bytes, 30, MPI_BYTE));
    OK(MPI_File_read_ordered_end(file, bytes, MPI_STATUS_IGNORE));
    tell("pointers.out", "read", 7 + 30 * rank, 30);
}

NOINLINE void descriptors(void) {
    struct iovec parts[2] = {{bytes, 300}, {bytes + 1000, 400}};
    int file = open(own, O_RDWR | O_CREAT | O_TRUNC, 0600);

    CHECK(file > 0 && write(file, bytes, 5 * PART) == 5 * PART);
    tell(own, "write", 0, 5 * PART);
    CHECK(lseek(file, 2 * PART + rank, SEEK_SET) > 0 && read(file, bytes, 10) == 10);
    tell(own, "read", 2 * PART + rank, 10);
    CHECK(lseek(file, -100, SEEK_END) > 0 && readv(file, parts, 2) == 100);
    tell(own, "read", 5 * PART - 100, 100);
    CHECK(lseek(file, PART, SEEK_SET) == PART && readv(file, parts, 2) == 700);
    tell(own, "read", PART, 700);
    CHECK(preadv(file, parts, 2, 3 * PART) == 700);
    tell(own, "read", 3 * PART, 700);
    const int copy = dup(file);
    CHECK(copy > 0 && write(copy, bytes, 50) == 50);
    tell(own, "write", PART + 700, 50);
    CHECK(read(file, bytes, 60) == 60);
    tell(own, "read", PART + 750, 60);
    CHECK(close(copy) == 0 && close(file) == 0);
    CHECK((file = open(own, O_RDWR | O_APPEND)) > 0 && write(file, bytes, 80) == 80);
    tell(own, "write", 5 * PART, 80);
    CHECK(lseek(file, 0, SEEK_SET) == 0 && write(file, bytes, 90) == 90);
    tell(own, "write", 5 * PART + 80, 90);
    CHECK(close(file) == 0);
}

/* Between two files: a read of the one and a write of the other. Pages of a mapping move unseen. */
NOINLINE void between(void) {
    char other[64];
    off_t from = 30, to = 70;
    int file = open(own, O_RDWR);

    snprintf(other, sizeof other, "copy.%d", rank);
    const int copy = open(other, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(file > 0 && copy > 0);
    CHECK(copy_file_range(file, &from, copy, &to, 500, 0) == 500);
    fprintf(told, "%s read 30 500\n", own);
    tell(other, "write", 70, 500);
    CHECK(lseek(file, 40, SEEK_SET) == 40 && copy_file_range(file, NULL, copy, NULL, 600, 0) == 600);
    fprintf(told, "%s read 40 600\n", own);
    tell(other, "write", 0, 600);
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(page != MAP_FAILED);
    page[10] = page[20];
    CHECK(munmap(page, 4096) == 0 && close(copy) == 0 && close(file) == 0 && unlink(other) == 0);
    end_phase();
}

static int shared_file;

static void *write_part(void *number) {
    const long at = (long)number;
    CHECK(pwrite(shared_file, bytes, PART, (at + 2 * rank) * PART) == PART);
    return NULL;
}

/* Each of two threads writes a part, one behind the other. */
NOINLINE void threads(void) {
    CHECK((shared_file = open("threads.out", O_WRONLY | O_CREAT, 0600)) > 0);
    for (long number = 0; number < 2; number++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, write_part, (void *)number) == 0 && pthread_join(thread, NULL) == 0);
        tell("threads.out", "write", (number + 2 * rank) * PART, PART);
    }
    CHECK(close(shared_file) == 0);
}

int main(int argc, char **argv) {
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File file;
    int level;
    char name[32];

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size == 2);
    snprintf(name, sizeof name, "log.%d", rank);
    CHECK((told = fopen(name, "w")) != NULL);
    snprintf(own, sizeof own, "own.%d", rank);
    OK(MPI_File_open(MPI_COMM_WORLD, "pointers.out", mode, MPI_INFO_NULL, &file));
    individual(file);
    views(file);
    together(file);
    OK(MPI_File_close(&file));
    descriptors();
    between();
    threads();
    CHECK(fclose(told) == 0);
    finish();
    return 0;
}
