/* Closes all descriptors that it did not open, as daemons do, and opens files of its own in their place. */
#include "../check.h"
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { files = 10 };

/* Those of the recorder only: MPI needs its own. */
static void close_recorder(void) {
    DIR *list = opendir("/proc/self/fd");
    struct dirent *entry;
    while ((entry = readdir(list))) {
        char link[64], path[512];
        snprintf(link, sizeof link, "/proc/self/fd/%.20s", entry->d_name);
        ssize_t length = readlink(link, path, sizeof path - 1);
        if (length <= 0) continue;
        path[length] = 0;
        if (strstr(path, ".evt") || strstr(path, ".journal") || strstr(path, ".paths")) {
            FILE *own = tmpfile();
            dup2(fileno(own), atoi(entry->d_name));
        }
    }
    closedir(list);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    close_recorder();
    for (int i = 0; i < 200000; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long bytes = 0;
    for (int descriptor = 3; descriptor < 4096; descriptor++) {
        struct stat status;
        if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0) bytes += status.st_size;
    }
    MPI_Finalize();
    printf("%ld bytes in files of its own\n", bytes);
    return 0;
}
