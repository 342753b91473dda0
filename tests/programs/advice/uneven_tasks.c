/* A master hands out tasks of growing length, the largest one last, so that most workers have nothing to do in the end.
 * FIRST ADVICE: master/tail.
 * FIXED: the same work by factoring: each task is a share of what is left, so that the last ones are small. With 5 workers the
 * run takes 680 milliseconds instead of 800 (computed by going through the tasks).
 * RANKS: 6; WHAT-IF: none divides work anew */
#include "tasks.h"

enum { TASKS = 20, UNITS = 81, UNIT = 40 };

int main(int argc, char **argv) {
    double tasks[UNITS];
    int count = 0;
    begin(argc, argv, 2);
    if (is_fixed) {
        for (int left = UNITS; left > 0; count++) {
            const int share = left / (2 * (size - 1)), units = share > 1 ? share : 1;
            tasks[count] = units * UNIT;
            left -= units;
        }
    } else {
        for (; count < TASKS; count++) tasks[count] = (1 + 7 * count / (TASKS - 1)) * UNIT;
    }
    if (rank == 0) be_master(tasks, count, 0);
    else be_worker();
    end();
    return 0;
}
