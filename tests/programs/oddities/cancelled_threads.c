/* Threads that poll are cancelled while they do, also while the recorder writes what they have left. */
#include "../check.h"
#include <pthread.h>
#include <unistd.h>

static void *poll(void *nothing) {
    for (;;) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        pthread_testcancel();
    }
    return nothing;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, poll, NULL);
        usleep(8000 + i * 97);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    MPI_Finalize();
    puts("twenty threads");
    return 0;
}
