/* `arrive RANK MICROSECONDS`: this rank comes later to each of 24 sums. Rank 0 prints how long all have waited for that rank,
 * by the clock that they share: for each sum in which it came last, the time since each other one had come. */
#include "../check.h"

#include <time.h>
#include <unistd.h>

enum { SUMS = 24, LARGEST = 16 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* How long all have waited in the sums in which this one came last. */
static double waited_for(int late, double arrivals[][SUMS]) {
    double waited = 0;
    for (int at = 0; at < SUMS; at++) {
        int last = 0;
        for (int other = 1; other < size; other++)
            if (arrivals[other][at] > arrivals[last][at]) last = other;
        for (int other = 0; other < size && last == late; other++) waited += arrivals[last][at] - arrivals[other][at];
    }
    return waited;
}

int main(int argc, char **argv) {
    double own[SUMS], all[LARGEST][SUMS], in = 1, out;
    int late, delay;

    go_first(0);
    start(&argc, &argv, 2);
    CHECK(argc == 3 && size <= LARGEST);
    late = atoi(argv[1]);
    delay = atoi(argv[2]);
    go_first(rank == late);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int at = 0; at < SUMS; at++) {
        usleep((unsigned)(2000 + (rank == late ? delay : 0)));
        own[at] = now();
        OK(MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    }
    OK(MPI_Gather(own, SUMS, MPI_DOUBLE, all, SUMS, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    if (rank == 0) printf("waited %.6f\n", waited_for(late, all));
    finish();
    return 0;
}
