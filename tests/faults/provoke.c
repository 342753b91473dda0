/* To be preloaded: provokes faults at calls of the C library, which are counted.
 *
 *   REPLAY_TEST_FAULTS="fsync:2:error 28,write:1:signal 15"
 *
 * At the second fsync of a file the call fails with this number, at the first write to one a signal comes. The form of
 * each fault: a call, its number (0: each), and
 *
 *   error NUMBER    the call fails with this errno
 *   signal NUMBER   the process gets this signal, and waits for its end
 *   passing NUMBER  the process gets this signal, and goes on
 *
 * The calls are write, pwrite, fsync, rename and tmpfile, which is the creation of a file without a name. What goes to a
 * pipe, a terminal or a socket does not count. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Counts a call; whether it has to fail. */
static int provoke(const char *call, int *count) {
    const char *faults = getenv("REPLAY_TEST_FAULTS");
    int number = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    size_t length = strlen(call);
    for (; faults && *faults; faults = strchr(faults, ','), faults += faults ? 1 : 0) {
        char kind[16];
        int at, argument;
        if (strncmp(faults, call, length) != 0) continue;
        if (sscanf(faults + length, ":%d:%15s %d", &at, kind, &argument) != 3) continue;
        if (at != 0 && at != number) continue;
        if (strcmp(kind, "error") == 0) {
            errno = argument;
            return 1;
        }
        kill(getpid(), argument);
        while (strcmp(kind, "signal") == 0) pause();
    }
    return 0;
}

static int is_file(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

ssize_t write(int fd, const void *bytes, size_t size) {
    static int count;
    if (is_file(fd) && fd > 2 && provoke("write", &count)) return -1;
    return NEXT(write)(fd, bytes, size);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset) {
    static int count;
    if (is_file(fd) && provoke("pwrite", &count)) return -1;
    return NEXT(pwrite64)(fd, bytes, size, offset);
}

int fsync(int fd) {
    static int count;
    if (is_file(fd) && provoke("fsync", &count)) return -1;
    return NEXT(fsync)(fd);
}

int rename(const char *from, const char *to) {
    static int count;
    if (provoke("rename", &count)) return -1;
    return NEXT(rename)(from, to);
}

int open64(const char *path, int flags, ...) {
    static int count;
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if ((flags & O_TMPFILE) == O_TMPFILE && provoke("tmpfile", &count)) return -1;
    return NEXT(open64)(path, flags, mode);
}
