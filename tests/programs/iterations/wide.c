/* A loop of STEPS iterations, each of 20 exchanges with neighbours at places of their own, and a sum over all ranks. */
#include "exchange.h"

#define FIVE(step) exchange(step), exchange(step), exchange(step), exchange(step), exchange(step)

int main(int argc, char **argv) {
    start(&argc, &argv, 1);
    int steps = argc > 1 ? atoi(argv[1]) : 60;
    CHECK(steps < LONGEST);
    for (int step = 1; step <= steps; step++) {
        FIVE(step), FIVE(step), FIVE(step), FIVE(step);
        CHECK(sum(1) == size);
    }
    finish();
    return 0;
}
