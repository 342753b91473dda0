/* Streams of ISO C. Each rank writes what its trace must say of each operation to promised.RANK; then there are streams that two
 * threads share, and that nobody closes. Any number of ranks. */
#define _GNU_SOURCE
#include "../check.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 4096, LINES = 1000, LINE = 13, THREAD_WRITES = 100000 };

static char name[32], other[32], bytes[20000], buffer[BUFFER];
static int promised;

/* Not by a stream. */
#define PROMISE(...) CHECK(dprintf(promised, __VA_ARGS__) > 0)

static FILE *opened(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    CHECK(file != NULL && setvbuf(file, buffer, _IOFBF, BUFFER) == 0);
    return file;
}

NOINLINE void writes(void) {
    FILE *file = opened(name, "w");

    PROMISE("fopen Create 1 3 0\nfopen Create 1 3 0\n");
    errno = ERANGE;
    for (int at = 0; at < 1000; at++) CHECK(fwrite(bytes, 4, 2, file) == 2 && errno == ERANGE);
    PROMISE("fwrite Begin 1 0 4096 Calls=512\nfwrite Complete 4096\n");
    CHECK(fputs("hello\n", file) >= 0 && fputc('a', file) == 'a' && putc('b', file) == 'b');
    CHECK(fprintf(file, "%d", 12345) == 5 && errno == ERANGE);
    CHECK(fflush(file) == 0 && fflush(file) == 0);
    PROMISE("fflush Begin 1 0 3917 Calls=492\nfflush Complete 3917\n");
    CHECK(fprintf(file, "%*d", 5000, rank) == 5000);
    PROMISE("fprintf Begin 1 0 4096 Calls=1\nfprintf Complete 4096\n");
    CHECK(fseek(file, 0, SEEK_SET) == 0);
    PROMISE("fseek Begin 1 0 904 Calls=0\nfseek Complete 904\nfseek Seek 0 0 0\n");
    CHECK(fwrite(bytes, 1, 100, file) == 100 && fseek(file, -10, SEEK_END) == 0);
    PROMISE("fseek Begin 1 0 100 Calls=1\nfseek Complete 100\nfseek Seek -10 2 13003 FileSize=13013\n");
    CHECK(fseek(file, -1, SEEK_SET) == -1 && errno == EINVAL);
    for (int at = 0; at < 20; at++) CHECK(putc_unlocked('y', file) == 'y');
    CHECK(fflush(file) == 0);
    PROMISE("fflush Begin 1 0 20 Calls=20\nfflush Complete 20\n");
    CHECK(fputs("ab", file) >= 0 && fflush(NULL) == 0);
    PROMISE("fflush Begin 1 0 2 Calls=1\nfflush Complete 2\n");
    CHECK(fputs("end", file) >= 0 && fclose(file) == 0);
    PROMISE("fclose Begin 1 0 3 Calls=1\nfclose Complete 3\nfclose Destroy\nfclose Destroy\n");
}

/* Line by line: what is written goes to the system at the end of each. */
NOINLINE void lines(void) {
    FILE *file = fopen(name, "w");

    CHECK(file != NULL && setvbuf(file, buffer, _IOLBF, BUFFER) == 0);
    PROMISE("fopen Create 1 3 0\nfopen Create 1 3 0\n");
    CHECK(fputs("ab", file) >= 0 && fputs("cd\n", file) >= 0);
    PROMISE("fputs Begin 1 0 5 Calls=2\nfputs Complete 5\n");
    CHECK(setvbuf(file, NULL, _IONBF, 0) == 0 && fputc('x', file) == 'x');
    PROMISE("fputc Begin 1 0 1 Calls=1\nfputc Complete 1\n");
    CHECK(fclose(file) == 0);
    PROMISE("fclose Destroy\nfclose Destroy\n");
}

NOINLINE void reads(void) {
    int number, first;
    char *line = NULL;
    size_t room = 0;
    FILE *file = opened(name, "w");

    PROMISE("fopen Create 1 3 0\nfopen Create 1 3 0\n");
    for (int at = 0; at < LINES; at++) CHECK(fprintf(file, "line %07d\n", at) == LINE);
    PROMISE("fprintf Begin 1 0 4096 Calls=316\nfprintf Complete 4096\n");
    PROMISE("fprintf Begin 1 0 4096 Calls=315\nfprintf Complete 4096\n");
    PROMISE("fprintf Begin 1 0 4096 Calls=315\nfprintf Complete 4096\n");
    CHECK(fclose(file) == 0);
    PROMISE("fclose Begin 1 0 712 Calls=54\nfclose Complete 712\nfclose Destroy\nfclose Destroy\n");

    file = opened(name, "r");
    PROMISE("fopen Create 0 0 0\nfopen Create 0 0 0\n");
    CHECK((first = getc(file)) == 'l');
    PROMISE("getc Begin 0 0 1 Calls=1\ngetc Complete 1\n");
    /* What is given back is read once. */
    CHECK(ungetc(first, file) == 'l' && getc(file) == 'l');
    CHECK(fgets(bytes, 100, file) == bytes && strcmp(bytes, "ine 0000000\n") == 0);
    CHECK(fscanf(file, "line %d", &number) == 1 && number == 1);
    CHECK(getline(&line, &room, file) == 1 && fread(bytes, LINE, 100, file) == 100);
    CHECK(fread(bytes, 1, BUFFER, file) == BUFFER);
    PROMISE("fread Begin 0 0 5421 Calls=6\nfread Complete 5421\n");
    CHECK(fseek(file, 0, SEEK_CUR) == 0);
    PROMISE("fseek Seek 0 1 5422\n");
    rewind(file);
    PROMISE("rewind Seek 0 0 0\n");
    CHECK(fread(bytes, 1, sizeof bytes, file) == LINES * LINE);
    PROMISE("fread Begin 0 0 20000 Calls=1\nfread Complete 13000\n");
    CHECK(getc(file) == EOF);
    PROMISE("getc Begin 0 0 1 Calls=1\ngetc Complete 0\n");
    CHECK(fseeko(file, 4090, SEEK_SET) == 0);
    PROMISE("fseeko Seek 4090 0 4090\n");
    CHECK(fscanf(file, "%d", &number) == 1 && number == 314 && fgetc(file) == '\n' && fclose(file) == 0);
    PROMISE("fclose Begin 0 0 1 Calls=1\nfclose Complete 1\nfclose Destroy\nfclose Destroy\n");
    free(line);
}

/* What scanf reads beyond the end of the buffer, and all lines. */
NOINLINE void scans(void) {
    int count = 0, number;
    char *line = NULL;
    size_t room = 0;
    FILE *file = opened(name, "r");

    while (fscanf(file, "line %d\n", &number) == 1) count++;
    CHECK(count == LINES && fclose(file) == 0);
    file = opened(name, "r");
    for (count = 0; fgets(bytes, sizeof bytes, file) != NULL; count++) continue;
    CHECK(count == LINES && fclose(file) == 0);
    file = opened(name, "r");
    for (count = 0; getline(&line, &room, file) == LINE; count++) continue;
    CHECK(count == LINES && fclose(file) == 0);
    free(line);
}

NOINLINE void appends(void) {
    FILE *file = opened(name, "a");

    PROMISE("fopen Create 1 1 2 FileSize=13000\nfopen Create 1 1 2 FileSize=13000\n");
    CHECK(fwrite(bytes, 1, 5000, file) == 5000);
    PROMISE("fwrite Begin 1 0 4096 Calls=1 Offset=13000\nfwrite Complete 4096\n");
    CHECK(fwrite(bytes, 1, 10, file) == 10 && fclose(file) == 0);
    PROMISE("fclose Begin 1 0 914 Calls=1 Offset=17096\nfclose Complete 914\nfclose Destroy\nfclose Destroy\n");
}

/* Streams that are made of descriptors and of others, and what fails. */
NOINLINE void others(void) {
    const int descriptor = open(name, O_RDWR);
    CHECK(descriptor > 0 && lseek(descriptor, 100, SEEK_SET) == 100);
    FILE *file = fdopen(descriptor, "r+");
    PROMISE("fdopen Create 2 0 0\nfdopen Seek 100 0 100\n");
    CHECK(file != NULL && setvbuf(file, buffer, _IOFBF, BUFFER) == 0);
    CHECK(fwrite(bytes, 8, 1, file) == 1 && fclose(file) == 0);
    PROMISE("fclose Begin 1 0 8 Calls=1\nfclose Complete 8\nfclose Destroy\nfclose Destroy\n");

    file = opened(name, "w");
    PROMISE("fopen Create 1 3 0\nfopen Create 1 3 0\n");
    CHECK(fwrite(bytes, 8, 1, file) == 1 && freopen(other, "wx", file) == file);
    PROMISE("freopen Begin 1 0 8 Calls=1\nfreopen Complete 8\nfreopen Destroy\nfreopen Destroy\n");
    PROMISE("freopen Create 1 11 0\nfreopen Create 1 11 0\n");
    CHECK(fclose(file) == 0);
    PROMISE("fclose Destroy\nfclose Destroy\n");

    errno = 0;
    CHECK(fopen("missing/file", "r") == NULL && errno == ENOENT);
    file = fopen("/dev/null", "w");
    CHECK(file != NULL && fputs("nothing", file) >= 0 && fclose(file) == 0);

    CHECK(freopen(other, "w", stdout) == stdout);
    PROMISE("freopen Create 1 3 0\nfreopen Create 1 3 0\n");
    CHECK(setvbuf(stdout, buffer, _IOFBF, BUFFER) == 0);
    CHECK(printf("%d\n", 12345) == 6 && puts("six") >= 0 && putchar('!') == '!' && fclose(stdout) == 0);
    PROMISE("fclose Begin 1 0 11 Calls=3\nfclose Complete 11\nfclose Destroy\nfclose Destroy\n");
    CHECK(unlink(other) == 0);
}

static void *write_many(void *file) {
    for (int at = 0; at < THREAD_WRITES; at++) CHECK(fwrite(bytes, 8, 1, file) == 1);
    return NULL;
}

NOINLINE void shared(void) {
    pthread_t thread;
    char path[32];

    snprintf(path, sizeof path, "threads.%d", rank);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && pthread_create(&thread, NULL, write_many, file) == 0);
    write_many(file);
    CHECK(pthread_join(thread, NULL) == 0 && fclose(file) == 0);
}

int main(int argc, char **argv) {
    FILE *early = fopen("/tmp", "r");

    start(&argc, &argv, 1);
    CHECK(early != NULL && fclose(early) == 0);
    snprintf(name, sizeof name, "promised.%d", rank);
    promised = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    snprintf(name, sizeof name, "own.%d", rank);
    snprintf(other, sizeof other, "other.%d", rank);
    (void)unlink(other);
    writes();
    lines();
    reads();
    appends();
    others();
    CHECK(close(promised) == 0);
    shared();
    FILE *again = fopen(name, "w");
    CHECK(again != NULL);
    for (int at = 0; at < LINES; at++) CHECK(fprintf(again, "line %07d\n", at) == LINE);
    CHECK(fclose(again) == 0);
    scans();
    snprintf(other, sizeof other, "open.%d", rank);
    FILE *open = fopen(other, "w");
    for (int at = 0; at < 3; at++) CHECK(open != NULL && fwrite(bytes, 8, 1, open) == 1);
    finish();
    return fputs("late", open) < 0;
}
