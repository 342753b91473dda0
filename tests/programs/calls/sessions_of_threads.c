/* Four threads of each process open and close sessions at once, without MPI_Init; each has a communicator of its own with
 * those of the same number in other processes. NEEDS: MPI-4. 2 ranks. */
#include "../check.h"

#include <pthread.h>

#define THREADS 4

static pthread_barrier_t all_are_open;

static void *use(void *number) {
    static const char *const tags[THREADS] = {"first", "second", "third", "fourth"};
    const int which = *(const int *)number;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int value = which, sum;

    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    /* MPICH 4.0 can end and start MPI only once. */
    pthread_barrier_wait(&all_are_open);
    OK(MPI_Comm_create_from_group(group, tags[which], MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == 2 * which);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int numbers[THREADS];

    pthread_barrier_init(&all_are_open, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, use, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
