/* Asynchronous transfers of POSIX, and files that are mapped into memory. Each rank writes what its trace must say of each
 * operation on its own files to promised.RANK. Any number of ranks. */
#define _GNU_SOURCE
#include "../check.h"
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = 1 << 20, MANY = 16, PAGE = 4096 };

static char own[32], bytes[LARGE];
static FILE *promised;

#define PROMISE(...) fprintf(promised, __VA_ARGS__)

static struct aiocb block(int file, size_t length, off_t offset) {
    struct aiocb block;

    memset(&block, 0, sizeof block);
    block.aio_fildes = file;
    block.aio_buf = bytes;
    block.aio_nbytes = length;
    block.aio_offset = offset;
    block.aio_sigevent.sigev_notify = SIGEV_NONE;
    return block;
}

/* Waits until a request is not under way any more; returns its error. */
NOINLINE int wait_for(struct aiocb *request) {
    const struct aiocb *const list[2] = {NULL, request};
    int error;

    while ((error = aio_error(request)) == EINPROGRESS) {
        PROMISE("aio_error Test\n");
        CHECK(aio_suspend(list, 2, NULL) == 0);
    }
    return error;
}

NOINLINE void requests(int file) {
    struct aiocb write = block(file, 1000, 0), read = block(file, 5000, 400), flush = block(file, 0, 0);

    CHECK(aio_write(&write) == 0);
    PROMISE("aio_write Begin 1 1 1000 Offset=0\naio_write Issued\n");
    CHECK(wait_for(&write) == 0 && aio_return(&write) == 1000);
    PROMISE("aio_return Complete 1000\n");
    CHECK(aio_read(&read) == 0);
    PROMISE("aio_read Begin 0 1 5000 Offset=400\naio_read Issued\n");
    CHECK(wait_for(&read) == 0 && aio_return(&read) == 600);
    PROMISE("aio_return Complete 600\n");
    CHECK(aio_fsync(O_SYNC, &flush) == 0);
    PROMISE("aio_fsync Begin 2 1 -1\naio_fsync Issued\n");
    CHECK(wait_for(&flush) == 0 && aio_return(&flush) == 0);
    PROMISE("aio_return Complete -1\n");
    /* Nobody asks for this one: its block is used again. */
    read = block(file, 10, 0);
    CHECK(aio_read(&read) == 0);
    PROMISE("aio_read Begin 0 1 10 Offset=0\naio_read Issued\n");
    CHECK(wait_for(&read) == 0);
    read = block(file, 20, 0);
    CHECK(aio_read64((struct aiocb64 *)&read) == 0);
    PROMISE("aio_read64 Complete -1\naio_read64 Begin 0 1 20 Offset=0\naio_read64 Issued\n");
    CHECK(wait_for(&read) == 0 && aio_return(&read) == 20);
    PROMISE("aio_return Complete 20\n");
}

NOINLINE void lists(int file) {
    const int null = open("/dev/null", O_WRONLY);
    struct aiocb first = block(file, 100, 0), second = block(file, 50, 100), idle = block(file, 7, 0);
    struct aiocb elsewhere = block(null, 10, 0);
    struct aiocb *list[5] = {&first, NULL, &idle, &elsewhere, &second};

    first.aio_lio_opcode = elsewhere.aio_lio_opcode = LIO_WRITE;
    second.aio_lio_opcode = LIO_READ;
    idle.aio_lio_opcode = LIO_NOP;
    CHECK(null > 2 && lio_listio(LIO_WAIT, list, 5, NULL) == 0);
    PROMISE("lio_listio Begin 1 0 100 Offset=0\nlio_listio Begin 0 0 50 Offset=100\n");
    PROMISE("lio_listio Complete 100\nlio_listio Complete 50\n");
    CHECK(aio_error(&first) == 0 && aio_return(&first) == 100 && aio_return(&second) == 50);
    CHECK(lio_listio(LIO_NOWAIT, list, 5, NULL) == 0);
    PROMISE("lio_listio Begin 1 1 100 Offset=0\nlio_listio Begin 0 1 50 Offset=100\n");
    PROMISE("lio_listio Issued\nlio_listio Issued\n");
    CHECK(wait_for(&first) == 0 && aio_return(&first) == 100);
    PROMISE("aio_return Complete 100\n");
    CHECK(wait_for(&second) == 0 && aio_return(&second) == 50);
    PROMISE("aio_return Complete 50\n");
    while (aio_error(&elsewhere) == EINPROGRESS) CHECK(usleep(100) == 0);
    CHECK(aio_return(&elsewhere) == 10 && close(null) == 0);
}

/* Requests that fail, and such that are cancelled, if they have not begun. */
NOINLINE void failures(int file) {
    const int reading = open(own, O_RDONLY);
    struct aiocb wrong = block(file, 10, 0), refused = block(reading, 10, 0), many[MANY];

    wrong.aio_reqprio = -1;
    errno = 0;
    CHECK(aio_read(&wrong) == -1 && errno == EINVAL && reading > 2);
    CHECK(aio_write(&refused) == 0);
    PROMISE("aio_write Begin 1 1 10 Offset=0\naio_write Issued\n");
    CHECK(wait_for(&refused) == EBADF && aio_return(&refused) == -1);
    PROMISE("aio_return Cancelled\n");
    for (int at = 0; at < MANY; at++) {
        many[at] = block(file, LARGE, 0);
        CHECK(aio_write(&many[at]) == 0);
        PROMISE("aio_write Begin 1 1 %d Offset=0\naio_write Issued\n", LARGE);
    }
    const int fate = aio_cancel(file, &many[MANY - 1]);
    CHECK(fate != -1);
    if (fate == AIO_CANCELED) PROMISE("aio_cancel Cancelled\n");
    const int others = aio_cancel(file, NULL);
    CHECK(others != -1);
    for (int at = 0; at < MANY; at++) {
        const int is_gone = fate == AIO_CANCELED && at == MANY - 1;
        int error;
        /* Of one that is cancelled already nothing is recorded any more. */
        if (is_gone) {
            CHECK(aio_error(&many[at]) == ECANCELED && aio_return(&many[at]) == -1);
            continue;
        }
        error = wait_for(&many[at]);
        if (error == ECANCELED) PROMISE("aio_error Cancelled\n");
        CHECK(aio_return(&many[at]) == (error == 0 ? LARGE : -1));
        if (error == 0) PROMISE("aio_return Complete %d\n", LARGE);
    }
    CHECK(close(reading) == 0);
}

/* Writes behind the end have no offset before. */
NOINLINE void appended(void) {
    const int file = open(own, O_WRONLY | O_APPEND);
    struct aiocb write = block(file, 30, 7);

    CHECK(file > 2 && aio_write(&write) == 0);
    PROMISE("aio_write Begin 1 1 30\naio_write Issued\n");
    CHECK(wait_for(&write) == 0 && aio_return(&write) == 30);
    PROMISE("aio_return Complete 30\n");
    CHECK(close(file) == 0);
}

/* Two mappings, one of which ends in two steps; and such of something else. */
NOINLINE void mappings(int file) {
    CHECK(ftruncate(file, 4 * PAGE) == 0);
    char *const whole = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char *const part = mmap64(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, PAGE);
    CHECK(whole != MAP_FAILED && part != MAP_FAILED);
    memset(whole, 'x', 4 * PAGE);
    CHECK(msync(whole + PAGE, PAGE, MS_SYNC) == 0);
    PROMISE("msync Begin 2 0 -1\nmsync Complete -1\n");
    CHECK(munmap(whole, PAGE) == 0 && munmap(whole + PAGE, 3 * PAGE) == 0 && munmap(part, PAGE) == 0);
    errno = 0;
    CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 1) == MAP_FAILED && errno == EINVAL);
    char *const memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && msync(memory, PAGE, MS_SYNC) == 0 && munmap(memory, PAGE) == 0);
}

/* What MPI issues may be complete in any of its calls. */
NOINLINE void shared_file(void) {
    MPI_File file;
    MPI_Request request;

    OK(MPI_File_open(MPI_COMM_WORLD, "shared.out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    for (int step = 0; step < 4; step++) {
        const MPI_Offset place = ((MPI_Offset)step * size + rank) * PAGE;
        OK(MPI_File_iwrite_at(file, place, bytes, PAGE, MPI_BYTE, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    start(&argc, &argv, 1);
    snprintf(own, sizeof own, "promised.%d", rank);
    CHECK((promised = fopen(own, "w")) != NULL);
    snprintf(own, sizeof own, "own.%d", rank);
    const int file = open(own, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(file > 2);
    requests(file);
    lists(file);
    failures(file);
    appended();
    mappings(file);
    CHECK(close(file) == 0);
    shared_file();
    CHECK(fclose(promised) == 0);
    finish();
    return 0;
}
