/* Files accessed by functions of the C library, and by MPI above them. Each rank writes what its trace must say of each
 * operation on its own file to promised.RANK. Any number of ranks. */
#define _GNU_SOURCE
#include "../check.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char name[32], bytes[1 << 16];
static FILE *promised;

#define PROMISE(...) fprintf(promised, __VA_ARGS__)

NOINLINE void transfers(void) {
    struct iovec parts[2] = {{bytes, 100}, {bytes + 1000, 200}};
    const int file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

    CHECK(file > 2);
    PROMISE("open Create 2 3 1\n");
    CHECK(write(file, bytes, 1000) == 1000);
    PROMISE("write Begin 1 0 1000\nwrite Complete 1000\n");
    CHECK(writev(file, parts, 2) == 300);
    PROMISE("writev Begin 1 0 300\nwritev Complete 300\n");
    CHECK(pwrite(file, bytes, 8, 5000) == 8);
    PROMISE("pwrite Begin 1 0 8 Offset=5000\npwrite Complete 8\n");
    CHECK(lseek(file, -8, SEEK_END) == 5000);
    PROMISE("lseek Seek -8 2 5000 FileSize=5008\n");
    CHECK(read(file, bytes, 100) == 8);
    PROMISE("read Begin 0 0 100\nread Complete 8\n");
    CHECK(pread(file, bytes, 100, 4) == 100);
    PROMISE("pread Begin 0 0 100 Offset=4\npread Complete 100\n");
    CHECK(ftruncate(file, 300) == 0);
    PROMISE("ftruncate Leave FileSize=300\n");
    CHECK(fsync(file) == 0);
    PROMISE("fsync Begin 2 0 -1\nfsync Complete -1\n");
    const int copy = dup(file);
    CHECK(copy > file);
    PROMISE("dup Duplicate 0\n");
    CHECK(close(file) == 0);
    PROMISE("close Destroy\n");
    CHECK(fcntl(copy, F_SETFL, O_APPEND) == 0);
    PROMISE("fcntl Change 2\n");
    CHECK(lseek(copy, 0, SEEK_SET) == 0);
    PROMISE("lseek Seek 0 0 0\n");
    CHECK(write(copy, bytes, 50) == 50);
    PROMISE("write Begin 1 0 50 Offset=300\nwrite Complete 50\n");
    CHECK(close(copy) == 0);
    PROMISE("close Destroy\n");
}

/* Locks of two kinds of descriptors of one file. */
NOINLINE void locks(void) {
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
    const int file = open(name, O_RDWR), other = open(name, O_RDWR);

    CHECK(file > 0 && other > 0);
    PROMISE("open Create 2 0 0\nopen Create 2 0 0\n");
    CHECK(flock(file, LOCK_SH) == 0 && flock(other, LOCK_EX | LOCK_NB) == -1 && flock(file, LOCK_UN) == 0);
    PROMISE("flock Acquire 1\nflock Try 0\nflock Release 1\n");
    CHECK(fcntl(file, F_SETLK, &range) == 0);
    PROMISE("fcntl Acquire 0\n");
    range.l_type = F_UNLCK;
    CHECK(fcntl(file, F_SETLK, &range) == 0 && fcntl(file, F_GETFD) == 0);
    PROMISE("fcntl Release 0\n");
    CHECK(lockf(file, F_LOCK, 5) == 0 && lockf(file, F_TEST, 5) == 0);
    PROMISE("lockf Acquire 0\n");
    CHECK(close(file) == 0 && close(other) == 0);
    PROMISE("close Destroy\nclose Destroy\n");
}

/* Modes of new files, errors, and what is not recorded. */
NOINLINE void others(void) {
    const char *volatile nowhere = (const char *)8;
    char other[64];
    int ends[2];

    snprintf(other, sizeof other, "missing/%s", name);
    errno = 0;
    CHECK(open(other, O_RDONLY) == -1 && errno == ENOENT);
    CHECK(open(nowhere, O_RDONLY) == -1 && errno == EFAULT && unlink(nowhere) == -1 && errno == EFAULT);
    CHECK(pipe(ends) == 0);
    CHECK(write(ends[1], bytes, 10) == 10 && read(ends[0], bytes, 10) == 10);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    const int null = open("/dev/null", O_WRONLY);
    CHECK(null > 0 && write(null, bytes, 10) == 10 && close(null) == 0);
    const int file = openat(AT_FDCWD, name, O_RDONLY);
    CHECK(file > 0);
    PROMISE("openat Create 0 0 0\n");
    errno = 0;
    CHECK(write(file, bytes, 10) == -1 && errno == EBADF);
    const int child = fork();
    if (child == 0) {
        /* Not recorded, and the parent's file stays open. */
        if (read(file, bytes, 10) != 10 || close(file) != 0) _exit(1);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(system("exec 3>&-; true") == 0);
    snprintf(other, sizeof other, "copy.%d", rank);
    const int to = open(other, O_WRONLY | O_CREAT | O_EXCL, 0600);
    CHECK(to > 0);
    PROMISE("open Create 1 9 0\n");
    off_t place = 40;
    CHECK(sendfile(to, file, &place, 100) == 100);
    PROMISE("sendfile Begin 0 0 100 Offset=40\nsendfile Complete 100\nsendfile Begin 1 0 100\nsendfile Complete 100\n");
    CHECK(dup2(file, to) == to);
    PROMISE("dup2 Destroy\ndup2 Duplicate 0\n");
    CHECK(close(to) == 0 && close(file) == 0);
    PROMISE("close Destroy\nclose Destroy\n");
    CHECK(unlink(other) == 0 && unlink(name) == 0);
    PROMISE("unlink Delete\nunlink Delete\n");
    errno = 0;
    CHECK(unlink(name) == -1 && errno == ENOENT);
}

/* A file of MPI, written by all ranks together and read by each. */
NOINLINE void shared_file(void) {
    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;

    OK(MPI_File_open(MPI_COMM_WORLD, "shared.out", mode, MPI_INFO_NULL, &file));
    for (int step = 0; step < 4; step++) {
        const MPI_Offset place = ((MPI_Offset)step * size + rank) * (MPI_Offset)sizeof bytes;
        OK(MPI_File_write_at_all(file, place, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_read_at(file, rank * (MPI_Offset)sizeof bytes, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    const int early = open("/tmp", O_RDONLY);

    start(&argc, &argv, 1);
    CHECK(early > 0 && close(early) == 0);
    snprintf(name, sizeof name, "promised.%d", rank);
    CHECK((promised = fopen(name, "w")) != NULL);
    snprintf(name, sizeof name, "own.%d", rank);
    transfers();
    locks();
    others();
    shared_file();
    CHECK(fclose(promised) == 0);
    finish();
    snprintf(name, sizeof name, "late.%d", rank);
    const int late = open(name, O_WRONLY | O_CREAT, 0600);
    if (late < 0 || write(late, bytes, 10) != 10 || close(late) != 0 || unlink(name) != 0) return 1;
    return 0;
}
