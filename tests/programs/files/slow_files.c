/* A file system of known speed, to be preloaded: each pread, pwrite, preadv and pwritev of a regular file takes
 * SLOW_LATENCY microseconds, and SLOW_RATE bytes a second: it sleeps behind the call for what is left of that. Opening a file
 * takes SLOW_HANDLING microseconds, and so does flushing it, which does not go to the disk.
 * FLAGS: -shared -fPIC
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int is_regular(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

/* Sleeps until so many nanoseconds after a time. */
static void sleep_until(struct timespec end, double nanoseconds) {
    end.tv_nsec += (long)nanoseconds;
    end.tv_sec += end.tv_nsec / 1000000000, end.tv_nsec %= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) continue;
}

static ssize_t sleep_for(int file, ssize_t bytes, struct timespec begin) {
    const char *latency = getenv("SLOW_LATENCY"), *rate = getenv("SLOW_RATE");

    if (bytes < 0 || !latency || !rate || !is_regular(file)) return bytes;
    sleep_until(begin, atof(latency) * 1e3 + (double)bytes / atof(rate) * 1e9);
    return bytes;
}

#define SLOW(name, type, count)                                                          \
    ssize_t name(int file, type what, count number, off_t place) {                       \
        static ssize_t (*next)(int, type, count, off_t);                                 \
        struct timespec begin;                                                           \
        if (!next) next = (ssize_t (*)(int, type, count, off_t))dlsym(RTLD_NEXT, #name); \
        clock_gettime(CLOCK_MONOTONIC, &begin);                                          \
        return sleep_for(file, next(file, what, number, place), begin);                  \
    }

SLOW(pread, void *, size_t)
SLOW(pread64, void *, size_t)
SLOW(pwrite, const void *, size_t)
SLOW(pwrite64, const void *, size_t)
SLOW(preadv, const struct iovec *, int)
SLOW(preadv64, const struct iovec *, int)
SLOW(pwritev, const struct iovec *, int)
SLOW(pwritev64, const struct iovec *, int)

#define SLOW_OPEN(name)                                                                          \
    int name(const char *path, int flags, ...) {                                                 \
        static int (*next)(const char *, int, mode_t);                                           \
        const char *handling = getenv("SLOW_HANDLING");                                          \
        struct timespec begin;                                                                   \
        va_list list;                                                                            \
        if (!next) next = (int (*)(const char *, int, mode_t))dlsym(RTLD_NEXT, #name);           \
        clock_gettime(CLOCK_MONOTONIC, &begin);                                                  \
        va_start(list, flags);                                                                   \
        const int has_mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;                \
        const int file = next(path, flags, has_mode ? va_arg(list, mode_t) : 0);                 \
        va_end(list);                                                                            \
        if (handling && file >= 0 && is_regular(file)) sleep_until(begin, atof(handling) * 1e3); \
        return file;                                                                             \
    }

SLOW_OPEN(open)
SLOW_OPEN(open64)

int fsync(int file) {
    static int (*next)(int);
    const char *handling = getenv("SLOW_HANDLING");
    struct timespec begin;

    if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    if (!handling || !is_regular(file)) return next(file);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    sleep_until(begin, atof(handling) * 1e3);
    return 0;
}
