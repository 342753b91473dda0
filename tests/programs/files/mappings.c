/* Mappings of files that are moved and change their sizes, and flushes of all files. Each rank writes what its trace must say of
 * each call to called.RANK, of each operation to promised.RANK, and how many bytes it has mapped to mapped.RANK. Any number of
 * ranks. */
#define _GNU_SOURCE
#include "../check.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char own[32], other[32];
static FILE *promised, *called;
static long mapped;

#define CALLED(function, file) fprintf(called, "%s Handle=%s\n", function, file)

static FILE *list(const char *what) {
    char name[32];
    FILE *file;

    snprintf(name, sizeof name, "%s.%d", what, rank);
    CHECK((file = fopen(name, "w")) != NULL);
    return file;
}

static int opened(const char *name) {
    const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

    CHECK(file > 2 && ftruncate(file, 8 * PAGE) == 0);
    return file;
}

/* Maps pages of a file, or without one of memory. */
static char *pages(int count, int file) {
    const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    char *const begin = mmap(NULL, (size_t)count * PAGE, PROT_READ | PROT_WRITE, flags, file, 0);

    CHECK(begin != MAP_FAILED);
    if (file >= 0) mapped += count;
    return begin;
}

static char *moved(char *from, int count, int wanted, int flags, char *to) {
    return mremap(from, (size_t)count * PAGE, (size_t)wanted * PAGE, flags, to);
}

static void synchronized(char *begin) {
    CHECK(msync(begin, PAGE, MS_SYNC) == 0);
    fprintf(promised, "msync Begin 2 0 -1\nmsync Complete -1\n");
}

static void unmapped(char *begin, int count, const char *name) {
    CHECK(munmap(begin, (size_t)count * PAGE) == 0);
    if (name != NULL) CALLED("munmap", name);
}

NOINLINE void mappings(void) {
    const int file = opened(own), second = opened(other);
    const int there = MREMAP_MAYMOVE | MREMAP_FIXED;
    char *const room = pages(16, -1);

    /* To another place, where it has more pages. */
    char *const begin = pages(4, file);
    CALLED("mmap", own);
    CHECK(moved(begin, 4, 6, there, room) == room);
    CALLED("mremap", own);
    mapped += 2;
    memset(room, 'x', 6 * PAGE);
    synchronized(room + 5 * PAGE);
    /* A part of it, in the middle; then what is left of both ends. */
    char *const part = room + 8 * PAGE;
    CHECK(moved(room + 2 * PAGE, 1, 1, there, part) == part);
    CALLED("mremap", own);
    /* A second one of the same pages: the first one stays. */
    char *const again = moved(room, 0, 2, MREMAP_MAYMOVE, NULL);
    CHECK(again != MAP_FAILED && again[0] == 'x');
    CALLED("mremap", own);
    mapped += 2;
    /* In the place of one of another file. */
    char *const taken = pages(2, second);
    CALLED("mmap", other);
    CHECK(moved(again, 2, 2, there, taken) == taken);
    CALLED("mremap", own);
    unmapped(taken, 2, own);
    /* The old one stays, if the system has that for files. */
    char *const twice = moved(part, 1, 1, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    if (twice != MAP_FAILED) {
        CALLED("mremap", own);
        mapped += 1;
        unmapped(twice, 1, own);
    } else {
        fprintf(called, "mremap\n");
    }
    synchronized(part);
    unmapped(part, 1, own);
    /* It fails: the mapping stays as it is. */
    errno = 0;
    CHECK(moved(room, 2, 2, MREMAP_FIXED, room + 8 * PAGE) == MAP_FAILED && errno == EINVAL);
    fprintf(called, "mremap\n");
    unmapped(room, 2, own);
    /* It shrinks. */
    CHECK(moved(room + 3 * PAGE, 3, 1, 0, NULL) == room + 3 * PAGE);
    CALLED("mremap", own);
    unmapped(room + 3 * PAGE, 1, own);
    unmapped(room + 4 * PAGE, 2, NULL);
    /* Memory that is of no file, in the place of a file. */
    char *const last = pages(1, second);
    CALLED("mmap", other);
    CHECK(moved(room + 12 * PAGE, 1, 1, there, last) == last);
    unmapped(last, 1, NULL);
    CHECK(close(file) == 0 && close(second) == 0);
}

/* What was written to all files goes to their devices: that is no flush of one of them. */
NOINLINE void everything(void) {
    const int file = opened(own);

    errno = EDOM;
    for (int i = 0; i < 2; i++) {
        CHECK(write(file, own, 10) == 10);
        sync();
        CHECK(errno == EDOM);
        fprintf(promised, "sync Begin 2 0 -1\nsync Complete -1\n");
        fprintf(called, "sync\n");
    }
    CHECK(close(file) == 0);
}

int main(int argc, char **argv) {
    start(&argc, &argv, 1);
    promised = list("promised");
    called = list("called");
    snprintf(own, sizeof own, "own.%d", rank);
    snprintf(other, sizeof other, "other.%d", rank);
    mappings();
    everything();
    FILE *const pages_mapped = list("mapped");
    fprintf(pages_mapped, "%ld", mapped * PAGE);
    CHECK(fclose(pages_mapped) == 0 && fclose(promised) == 0 && fclose(called) == 0);
    finish();
    return 0;
}
