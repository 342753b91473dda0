/* A file system of known speed, to be preloaded: each pread, pwrite, preadv and pwritev of a regular file takes
 * SLOW_LATENCY microseconds, and SLOW_RATE bytes a second: it sleeps behind the call for what is left of that.
 * FLAGS: -shared -fPIC
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static ssize_t sleep_for(int file, ssize_t bytes, struct timespec end) {
    const char *latency = getenv("SLOW_LATENCY"), *rate = getenv("SLOW_RATE");
    struct stat status;

    if (bytes < 0 || !latency || !rate || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return bytes;
    end.tv_nsec += (long)(atof(latency) * 1e3 + (double)bytes / atof(rate) * 1e9);
    end.tv_sec += end.tv_nsec / 1000000000, end.tv_nsec %= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) continue;
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
