/* Files on two file systems, opened by MPI and by functions of the C library, or only looked at. The argument is a folder on the
 * second one. Each rank writes what is known of its files to promised.RANK: the file, a property, and its value. Any number of
 * ranks. */
#define _GNU_SOURCE
#include "../check.h"
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *promised;

/* Whether a path is at or below another one. */
static int is_below(const char *path, const char *above) {
    const size_t length = strcmp(above, "/") == 0 ? 0 : strlen(above);

    return strncmp(path, above, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Writes down what the system says of a file. */
static void promise(const char *path, const char *name) {
    char real[PATH_MAX], point[PATH_MAX] = "", source[PATH_MAX] = "", kind[256] = "";
    FILE *const list = setmntent("/proc/self/mounts", "r");
    struct mntent *entry;
    struct stat status;

    CHECK(list != NULL && realpath(path, real) != NULL && stat(path, &status) == 0);
    while ((entry = getmntent(list)) != NULL) {
        if (is_below(real, entry->mnt_dir) && strlen(entry->mnt_dir) >= strlen(point)) {
            snprintf(point, sizeof point, "%s", entry->mnt_dir);
            snprintf(source, sizeof source, "%s", entry->mnt_fsname);
            snprintf(kind, sizeof kind, "%s", entry->mnt_type);
        }
    }
    endmntent(list);
    fprintf(promised, "%s Mount Point %s\n%s Mount Source %s\n", name, point, name, source);
    fprintf(promised, "%s File system %s\n%s Block Size %ld\n", name, kind, name, (long)status.st_blksize);
}

/* A file that all ranks write together. */
NOINLINE void together(const char *path) {
    MPI_File file;
    char bytes[8] = "1234567";

    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    OK(MPI_File_write_at_all(file, (MPI_Offset)rank * 8, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

/* A file of the rank. */
NOINLINE void alone(const char *path) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    CHECK(file > 2 && pwrite(file, path, 1, 100) == 1 && close(file) == 0);
}

int main(int argc, char **argv) {
    char name[32], behind[PATH_MAX], path[PATH_MAX + 64];
    struct stat status;

    if (argc != 2) return 2;
    /* One of the ranks makes it. */
    (void)!symlink(argv[1], "other");
    start(&argc, &argv, 1);
    snprintf(name, sizeof name, "promised.%d", rank);
    CHECK((promised = fopen(name, "w")) != NULL);
    together("shared.out");
    promise("shared.out", "shared.out");
    /* Behind a link. */
    together("other/behind.out");
    promise("other/behind.out", "behind.out");
    snprintf(name, sizeof name, "own.%d", rank);
    alone(name);
    promise(name, name);
    CHECK(realpath("other", behind) != NULL);
    snprintf(name, sizeof name, "their.%d", rank);
    snprintf(path, sizeof path, "%s/%s", behind, name);
    alone(path);
    promise(path, name);
    /* It is looked at, and nothing else. */
    snprintf(name, sizeof name, "folder.%d", rank);
    CHECK(mkdir(name, 0700) == 0);
    promise(name, name);
    snprintf(name, sizeof name, "missing.%d", rank);
    CHECK(stat(name, &status) == -1 && symlink("nowhere", name) == 0 && unlink(name) == 0);
    CHECK(fclose(promised) == 0);
    finish();
    return 0;
}
