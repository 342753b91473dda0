/* Writes of 8 bytes each to a stream, which its buffer makes some thousand of: what the trace must have of them. It prints how
 * long one takes. Any number of ranks. */
#include "../check.h"
#include <string.h>
#include <time.h>

enum { WRITES = 5000000 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

NOINLINE void write_all(FILE *file) {
    const double begin = seconds();
    for (long at = 0; at < WRITES; at++) CHECK(fwrite(&at, sizeof at, 1, file) == 1);
    printf("%.2f ns a write\n", 1e9 * (seconds() - begin) / WRITES);
}

int main(int argc, char **argv) {
    char name[32];

    start(&argc, &argv, 1);
    snprintf(name, sizeof name, "io_stdio.%d", rank);
    FILE *file = fopen(name, "w");
    CHECK(file != NULL);
    write_all(file);
    CHECK(fclose(file) == 0);
    CHECK(remove(name) == 0);
    finish();
    return 0;
}
