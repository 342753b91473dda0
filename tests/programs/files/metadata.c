/* Files that are named by their paths: looked at, renamed, linked, truncated and deleted, and directories. Each rank writes
 * what its trace must say of each call to promised.RANK: the function, and if it succeeds the name of the file. Any number
 * of ranks. */
#define _GNU_SOURCE
#include "../check.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static char own[32], other[32], fifo[32], folder[32], inner[64], missing[32];
static FILE *promised;
static struct stat status;

#define PROMISE(...) fprintf(promised, __VA_ARGS__)

/* A call that fails with this error. */
#define FAILS(call, error) \
    do { \
        errno = 0; \
        CHECK((call) && errno == (error)); \
    } while (0)

#if defined(__x86_64__) && defined(__GLIBC__)
/* What programs call that were compiled before glibc 2.33. */
int __xstat(int version, const char *path, struct stat *status);
int __fxstat(int version, int descriptor, struct stat *status);
#endif

NOINLINE void looks(void) {
    struct stat64 status64;
    struct statx extended;
    struct statfs system;
    struct statvfs view;
    const int file = open(own, O_RDWR | O_CREAT | O_TRUNC, 0640);

    CHECK(file > 2 && write(file, "12345678", 8) == 8);
    /* An error of another call before says nothing of these. */
    errno = EFAULT;
    CHECK(stat(own, &status) == 0 && status.st_size == 8 && errno == EFAULT);
    CHECK(lstat(own, &status) == 0 && stat64(own, &status64) == 0 && status64.st_size == 8);
    PROMISE("stat File=%s\nlstat File=%s\nstat64 File=%s\n", own, own, own);
    CHECK(fstat(file, &status) == 0 && status.st_size == 8 && fstat64(file, &status64) == 0);
    PROMISE("fstat Handle=%s\nfstat64 Handle=%s\n", own, own);
    CHECK(fstatat(AT_FDCWD, own, &status, 0) == 0 && fstatat(file, "", &status, AT_EMPTY_PATH) == 0);
    PROMISE("fstatat File=%s\nfstatat Handle=%s\n", own, own);
    CHECK(statx(AT_FDCWD, own, 0, STATX_SIZE, &extended) == 0 && extended.stx_size == 8);
    PROMISE("statx File=%s\n", own);
#if defined(__x86_64__) && defined(__GLIBC__)
    CHECK(__xstat(1, own, &status) == 0 && __fxstat(1, file, &status) == 0 && status.st_size == 8);
    PROMISE("__xstat File=%s\n__fxstat Handle=%s\n", own, own);
#endif
    CHECK(access(own, R_OK) == 0 && faccessat(AT_FDCWD, own, W_OK, 0) == 0);
    PROMISE("access File=%s\nfaccessat File=%s\n", own, own);
    CHECK(statfs(own, &system) == 0 && statvfs(own, &view) == 0 && view.f_bsize > 0);
    PROMISE("statfs File=%s\nstatvfs File=%s\n", own, own);
    CHECK(truncate(own, 5) == 0 && fstat(file, &status) == 0 && status.st_size == 5);
    PROMISE("truncate File=%s FileSize=5\nfstat Handle=%s\n", own, own);
    CHECK(close(file) == 0);
}

NOINLINE void names(void) {
    CHECK(link(own, other) == 0 && unlink(other) == 0);
    PROMISE("link File=%s\nunlink Delete=%s\n", own, other);
    CHECK(symlink(own, other) == 0 && lstat(other, &status) == 0 && remove(other) == 0);
    PROMISE("symlink File=%s\nlstat File=%s\nremove Delete=%s\n", other, other, other);
    CHECK(rename(own, other) == 0 && renameat(AT_FDCWD, other, AT_FDCWD, own) == 0);
    PROMISE("rename File=%s\nrenameat File=%s\n", own, other);
    CHECK(renameat2(AT_FDCWD, own, AT_FDCWD, other, RENAME_NOREPLACE) == 0 && rename(other, own) == 0);
    PROMISE("renameat2 File=%s\nrename File=%s\n", own, other);
}

NOINLINE void folders(void) {
    const char *const sub = strrchr(inner, '/') + 1;

    CHECK(mkdir(folder, 0700) == 0 && mkdirat(AT_FDCWD, inner, 0700) == 0 && stat(inner, &status) == 0);
    PROMISE("mkdir File=%s\nmkdirat File=%s\nstat File=%s\n", folder, sub, sub);
    const int opened = open(folder, O_RDONLY | O_DIRECTORY);
    CHECK(opened > 2 && fstatat(opened, sub, &status, 0) == 0 && faccessat(opened, sub, R_OK, 0) == 0);
    PROMISE("fstatat File=%s\nfaccessat File=%s\n", sub, sub);
    CHECK(unlinkat(opened, sub, AT_REMOVEDIR) == 0 && close(opened) == 0);
    PROMISE("unlinkat Delete=%s\n", sub);
    DIR *const list = opendir(folder);
    CHECK(list != NULL && readdir(list) != NULL && closedir(list) == 0);
    PROMISE("opendir File=%s\nclosedir File=%s\n", folder, folder);
    CHECK(chdir(folder) == 0 && access(".", X_OK) == 0 && chdir("..") == 0);
    PROMISE("access File=%s\n", folder);
    CHECK(rmdir(folder) == 0);
    PROMISE("rmdir File=%s\n", folder);
}

NOINLINE void failures(void) {
    FAILS(stat(missing, &status) == -1, ENOENT);
    FAILS(access(missing, R_OK) == -1, ENOENT);
    FAILS(rename(missing, own) == -1, ENOENT);
    FAILS(mkdir(own, 0700) == -1, EEXIST);
    FAILS(opendir(own) == NULL, ENOTDIR);
    FAILS(unlink(missing) == -1, ENOENT);
    FAILS(truncate(missing, 1) == -1, ENOENT);
    FAILS(stat("", &status) == -1, ENOENT);
    PROMISE("stat\naccess\nrename\nmkdir\nopendir\nunlink\ntruncate\nstat\n");
}

static void *look_elsewhere(void *unused) {
    CHECK(stat("/etc/passwd", &status) == 0 && access("/proc/self/stat", R_OK) == 0);
    return unused;
}

/* What is not recorded: nothing of it is promised. */
NOINLINE void others(void) {
    const char *volatile nowhere = (const char *)8;
    char longest[5000];
    struct statfs system;
    pthread_t thread;
    int ends[2];

    CHECK(stat("/etc/passwd", &status) == 0 && stat("//etc/./passwd", &status) == 0);
    CHECK(access("/proc/self/stat", R_OK) == 0 && statfs("/proc", &system) == 0);
    DIR *const list = opendir("/proc/self");
    CHECK(list != NULL && closedir(list) == 0);
    FAILS(stat(nowhere, &status) == -1, EFAULT);
    FAILS(mkdir("/proc/replay", 0700) == -1, ENOENT);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    FAILS(stat(longest, &status) == -1, ENAMETOOLONG);
    CHECK(mkfifo(fifo, 0600) == 0 && stat(fifo, &status) == 0 && S_ISFIFO(status.st_mode));
    CHECK(pipe(ends) == 0 && fstat(ends[0], &status) == 0 && fstatat(ends[0], "", &status, AT_EMPTY_PATH) == 0);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    /* A thread that does nothing else has no events. */
    CHECK(pthread_create(&thread, NULL, look_elsewhere, NULL) == 0 && pthread_join(thread, NULL) == 0);
    const pid_t child = vfork();
    if (child == 0) _exit(access(own, R_OK) == 0 ? 0 : 1);
    int ended;
    CHECK(waitpid(child, &ended, 0) == child && ended == 0);
}

/* A file of MPI, which asks for it under its name, too. */
NOINLINE void shared_file(void) {
    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;

    OK(MPI_File_open(MPI_COMM_WORLD, "shared.out", mode, MPI_INFO_NULL, &file));
    OK(MPI_File_write_at_all(file, (MPI_Offset)rank * 8, "12345678", 8, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) OK(MPI_File_delete("shared.out", MPI_INFO_NULL));
}

int main(int argc, char **argv) {
    CHECK(stat(".", &status) == 0);
    start(&argc, &argv, 1);
    snprintf(own, sizeof own, "promised.%d", rank);
    CHECK((promised = fopen(own, "w")) != NULL);
    snprintf(own, sizeof own, "own.%d", rank);
    snprintf(other, sizeof other, "other.%d", rank);
    snprintf(fifo, sizeof fifo, "fifo.%d", rank);
    snprintf(folder, sizeof folder, "folder.%d", rank);
    snprintf(inner, sizeof inner, "folder.%d/./inner.%d", rank, rank);
    snprintf(missing, sizeof missing, "missing.%d", rank);
    looks();
    names();
    folders();
    failures();
    others();
    shared_file();
    CHECK(unlink(own) == 0 && unlink(fifo) == 0);
    PROMISE("unlink Delete=%s\nunlink Delete=%s\n", own, fifo);
    CHECK(fclose(promised) == 0);
    finish();
    return stat(".", &status) == 0 ? 0 : 1;
}
