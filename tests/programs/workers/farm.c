/* A master hands out tasks that sleep, one at a time, to whoever is free; it needs some time for each. Rank 0 prints the seconds
 * from before the first service to the last result.
 * RANKS: 2-16; ARGUMENTS: [tasks [least and most milliseconds of a task [microseconds of service]]] */
#include "../check.h"

#include <errno.h>
#include <time.h>

enum { TASK, RESULT };

NOINLINE void sleep_for(long microseconds) {
    struct timespec left = {microseconds / 1000000, microseconds % 1000000 * 1000};
    while (nanosleep(&left, &left) && errno == EINTR) {}
}

NOINLINE void hand_out(int next, int tasks, int worker, long service, long least, long most) {
    long length = -1;
    if (next < tasks) {
        sleep_for(service);
        length = least + (most - least) * (next * 7919L % 101) / 100;
    }
    OK(MPI_Send(&length, 1, MPI_LONG, worker, TASK, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    OK(MPI_Init(&argc, &argv));
    const int tasks = argc > 1 ? atoi(argv[1]) : 120;
    const long least = 1000 * (argc > 2 ? atol(argv[2]) : 8), most = 1000 * (argc > 3 ? atol(argv[3]) : 32);
    const long service = argc > 4 ? atol(argv[4]) : 2000;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        const double begin = MPI_Wtime();
        int next = 0, done = 0;
        CHECK(size < tasks + 2);
        for (int worker = 1; worker < size; worker++) hand_out(next++, tasks, worker, service, least, most);
        double end = begin;
        while (done < tasks) {
            long result;
            MPI_Status status;
            OK(MPI_Recv(&result, 1, MPI_LONG, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status));
            end = MPI_Wtime();
            done++;
            hand_out(next++, tasks, status.MPI_SOURCE, service, least, most);
        }
        printf("%.6f\n", end - begin);
    } else {
        for (;;) {
            long length;
            OK(MPI_Recv(&length, 1, MPI_LONG, 0, TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (length < 0) break;
            sleep_for(length);
            OK(MPI_Send(&length, 1, MPI_LONG, 0, RESULT, MPI_COMM_WORLD));
        }
    }
    OK(MPI_Finalize());
    return 0;
}
