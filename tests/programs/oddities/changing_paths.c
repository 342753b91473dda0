/* Calls on paths of all kinds: through inlined functions, several on one line, deep in a recursion, and in regions that
 * begin or end while nothing is recorded. In between it computes, so that there are samples. */
#include "../check.h"

#define INLINED static inline __attribute__((always_inline))

static volatile double sum;

NOINLINE void compute(long steps) {
    for (long i = 1; i <= steps; i++) sum += 1.0 / (double)i;
}

INLINED void meet(void) { OK(MPI_Barrier(MPI_COMM_WORLD)); }

INLINED void meet_late(void) {
    compute(2000000);
    meet();
}

NOINLINE int descend(int depth) {
    int below = depth > 0 ? descend(depth - 1) : 0;
    if (depth % 5 == 0) meet();
    return below + 1;
}

int main(int argc, char **argv) {
    start(&argc, &argv, 1);
    for (int i = 0; i < 3; i++) {
        meet_late(), meet(), meet_late();
        compute(3000000);
    }
    CHECK(descend(20) == 21);
    REPLAY_REGION_BEGIN("left in secret");
    meet();
    REPLAY_RECORDING_OFF();
    REPLAY_REGION_END("left in secret");
    REPLAY_REGION_BEGIN("entered in secret");
    meet();
    REPLAY_RECORDING_ON();
    meet_late();
    REPLAY_REGION_END("entered in secret");
    meet();
    if (rank == 0) puts("it came back from everywhere");
    finish();
    return 0;
}
