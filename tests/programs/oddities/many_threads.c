/* Many threads one after the other, each with one call: they leave no open files behind. */
#include "../check.h"
#include <dirent.h>
#include <pthread.h>

static void *call(void *nothing) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return nothing;
}

static int open_files(void) {
    int number = 0;
    DIR *list = opendir("/proc/self/fd");
    while (readdir(list)) number++;
    closedir(list);
    return number;
}

int main(int argc, char **argv) {
    int provided, before = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < 60; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, call, NULL);
        pthread_join(thread, NULL);
        if (i == 10) before = open_files();
    }
    printf("%d more files are open\n", open_files() - before);
    MPI_Finalize();
    return 0;
}
