/* A master needs 4 milliseconds to hand out a task of 10: it can feed three workers, and there are more.
 * FIRST ADVICE: master/bottleneck.
 * FIXED: it hands out four tasks at once, in the same time. With 5 workers the run takes 368 milliseconds instead of 650, with
 * 8 248 (computed by going through the tasks).
 * RANKS: 6, 9; WHAT-IF: cpu=0.25@serve comes close */
#include "tasks.h"

enum { TASKS = 160, BATCH = 4 };

int main(int argc, char **argv) {
    double tasks[TASKS];
    begin(argc, argv, 2);
    const int batch = is_fixed ? BATCH : 1, count = TASKS / batch;
    for (int k = 0; k < count; k++) tasks[k] = 10 * batch;
    if (rank == 0) be_master(tasks, count, 4);
    else be_worker();
    end();
    return 0;
}
