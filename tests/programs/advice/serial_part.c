/* One thread assembles while the others of its rank have nothing to do; then all relax.
 * FIRST ADVICE: omp/master-only.
 * FIXED: all assemble a third. A step takes 20 milliseconds instead of 32.
 * RANKS: 2
 * FLAGS: -fopenmp
 */
#include "threads.h"

enum { STEPS = 25 };

WORK(assemble)
WORK(relax)

int main(int argc, char **argv) {
    begin_threads(argc, argv);
    for (int step = 0; step < STEPS; step++) {
        if (!is_fixed) assemble(18);
#pragma omp parallel
        {
            if (is_fixed) assemble(6);
            relax(14);
        }
        sum_up(step);
    }
    end();
    return 0;
}
