/* Conjugate gradients, as far as they communicate: two sums over all ranks in each step. RANKS: 6 */
#include "shape.h"

NOINLINE double sum(double own) {
    FRAME;
    double all = 0;
    CALL(MPI_Allreduce, &own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

NOINLINE void multiply(void) {
    FRAME;
    base_work();
    PLACE(1);
}

NOINLINE double product(void) {
    FRAME;
    PLACE(2);
    return sum(1);
}

NOINLINE void update(void) {
    FRAME;
    PLACE(3);
}

NOINLINE double norm(void) {
    FRAME;
    const double all = sum(2);
    PLACE(4);
    return all;
}

NOINLINE void precondition(void) {
    FRAME;
    PLACE(5);
}

NOINLINE void solve(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        multiply();
        CHECK(product() == size);
        update();
        CHECK(norm() == 2 * size);
        precondition();
        PLACE(6);
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    solve();
    end();
    return 0;
}
