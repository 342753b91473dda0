/* As a conjugate gradient benchmark: a solve of 25 iterations, and then OUTER times another one with norms behind it. */
#include "exchange.h"

NOINLINE double solve(int number) {
    double rho = sum(1);
    for (int iteration = 0; iteration < 25; iteration++) {
        exchange(number);
        rho = sum(rho) / size;
        exchange(number);
        rho = sum(rho) / size;
    }
    exchange(number);
    return rho;
}

int main(int argc, char **argv) {
    start(&argc, &argv, 1);
    int outer = argc > 1 ? atoi(argv[1]) : 40;
    CHECK(outer < LONGEST - 1);
    solve(LONGEST - 1);
    sum(1), sum(2);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int step = 1; step <= outer; step++) {
        double rho = solve(step);
        CHECK(rho == size);
        sum(rho), sum(rho);
    }
    finish();
    return 0;
}
