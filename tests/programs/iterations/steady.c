/* A loop: STEPS exchanges with neighbours, each with a sum over all ranks unless there are `messages` only. The last
 * rank kills itself in step KILL, if there is one. */
#include "exchange.h"

#include <signal.h>
#include <string.h>

int main(int argc, char **argv) {
    start(&argc, &argv, 1);
    int steps = argc > 1 ? atoi(argv[1]) : 300, has_sums = argc < 3 || strcmp(argv[2], "messages") != 0;
    int kill = argc > 3 ? atoi(argv[3]) : 0;
    CHECK(steps < LONGEST);
    for (int step = 1; step <= steps; step++) {
        if (step == kill && rank == size - 1) raise(SIGKILL);
        exchange(step);
        if (has_sums) CHECK(sum(1) == size);
    }
    sum(1);
    finish();
    return 0;
}
