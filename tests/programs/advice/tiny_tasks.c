/* A recursion makes a task of each call, down to those that take nanoseconds.
 * FIRST ADVICE: omp/tasks.
 * FIXED: no tasks below a depth of 6. What that saves hangs on the processors. This work is no sleep.
 * RANKS: 2
 * FLAGS: -fopenmp
 */
#include "threads.h"

enum { STEPS = 5, NUMBER = 20, SUM = 6765 };

WORK(relax)

NOINLINE long fibonacci(int n, int depth) {
    long a, b;
    if (n < 2) return n;
    if (is_fixed && depth > 6) return fibonacci(n - 1, depth + 1) + fibonacci(n - 2, depth + 1);
#pragma omp task shared(a)
    a = fibonacci(n - 1, depth + 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2, depth + 1);
#pragma omp taskwait
    return a + b;
}

int main(int argc, char **argv) {
    begin_threads(argc, argv);
    for (int step = 0; step < STEPS; step++) {
        long number = 0;
#pragma omp parallel
        relax(40);
#pragma omp parallel
#pragma omp single
        number = fibonacci(NUMBER, 0);
        CHECK(number == SUM);
        sum_up(step);
    }
    end();
    return 0;
}
