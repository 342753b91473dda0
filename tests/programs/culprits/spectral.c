/* A transform along rows, then along columns: all to all in between, and once more on the way back. RANKS: 4 */
#include "shape.h"

enum { CELLS = 16, LARGEST = 64 };

static double from[CELLS * LARGEST], to[CELLS * LARGEST];

NOINLINE void transpose(void) {
    FRAME;
    CALL(MPI_Alltoall, from, CELLS, MPI_DOUBLE, to, CELLS, MPI_DOUBLE, MPI_COMM_WORLD);
}

NOINLINE void rows(void) {
    FRAME;
    base_work();
    PLACE(1);
}

NOINLINE void columns(void) {
    FRAME;
    PLACE(2);
}

NOINLINE void forward(void) {
    FRAME;
    rows();
    PLACE(3);
    transpose();
    columns();
}

NOINLINE void multiply(void) {
    FRAME;
    PLACE(4);
}

NOINLINE void backward(void) {
    FRAME;
    transpose();
    PLACE(5);
}

NOINLINE void advance(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        forward();
        multiply();
        backward();
        PLACE(6);
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    CHECK(size <= LARGEST);
    advance();
    end();
    return 0;
}
