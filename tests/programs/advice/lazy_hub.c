/* A master that does nothing but wait for results occupies one of few ranks.
 * FIRST ADVICE: master/idle-master.
 * FIXED: there is a worker in its place: as tasks are equal, each rank knows its own. Of N ranks the run takes 20 times 96 / N
 * milliseconds, rounded up to whole tasks, instead of 20 times 96 / (N - 1).
 * RANKS: 4; WHAT-IF: cpu=0.75@do_task, as much as one worker more would save */
#include "tasks.h"

enum { TASKS = 96 };

NOINLINE void collect(char *data, char *all) {
    OK(MPI_Gather(data, RESULT * scale, MPI_BYTE, all, RESULT * scale, MPI_BYTE, 0, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    double tasks[TASKS];
    begin(argc, argv, 2);
    for (int k = 0; k < TASKS; k++) tasks[k] = 20;
    if (is_fixed) {
        char *data = bytes(RESULT), *all = bytes((long)RESULT * size);
        for (int k = rank; k < TASKS; k += size) do_task(tasks[k]);
        collect(data, all);
        free(data), free(all);
    } else if (rank == 0) {
        be_master(tasks, TASKS, 0);
    } else {
        be_worker();
    }
    end();
    return 0;
}
