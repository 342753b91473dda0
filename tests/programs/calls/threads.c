/* Four threads of each process send to, and receive from, the same thread of the next process, while the main thread
 * waits for them. 2 to 4 ranks. */
#include "../expect.h"

#include <pthread.h>

#define THREADS 4
#define MESSAGES 200

static int left, right;

/* Every thread has a tag of its own. */
static void *exchange(void *number) {
    const int tag = *(const int *)number;
    for (int i = 0; i < MESSAGES; i++) {
        int got = -1, value = 1000 * tag + i;
        MPI_Request request;
        OK(MPI_Irecv(&got, 1, MPI_INT, left, tag, MPI_COMM_WORLD, &request));
        EXPECT(MpiIrecvRequest);
        OK(MPI_Send(&value, 1, MPI_INT, right, tag, MPI_COMM_WORLD));
        EXPECT(MpiSend);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        EXPECT(MpiIrecv);
        CHECK(got == value);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int numbers[THREADS], provided;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size >= 2 && provided == MPI_THREAD_MULTIPLE);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, exchange, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    finish_expecting();
    return 0;
}
