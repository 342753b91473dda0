/* A method that starts its sums early and computes until it needs them. RANKS: 4 */
#include "shape.h"

static double local = 1, sum;

NOINLINE void precondition(void) {
    FRAME;
    PLACE(1);
}

NOINLINE void multiply(void) {
    FRAME;
    base_work();
    PLACE(2);
}

NOINLINE void start_sum(MPI_Request *request) {
    FRAME;
    PLACE(3);
    CALL(MPI_Iallreduce, &local, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

NOINLINE void update(MPI_Request *request) {
    FRAME;
    CALL(MPI_Wait, request, MPI_STATUS_IGNORE);
    PLACE(4);
}

NOINLINE void iterate(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        MPI_Request request;
        precondition();
        start_sum(&request);
        multiply();
        update(&request);
        PLACE(5);
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    iterate();
    end();
    return 0;
}
