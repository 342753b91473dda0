/* A product of matrices after Cannon: blocks of one matrix go round in one direction, those of the other in the other one.
 * RANKS: 6 */
#include "shape.h"

enum { CELLS = 64 };

static double rows[2][CELLS], columns[2][CELLS];

NOINLINE void shift(double *from, double *to, int destination, int source) {
    FRAME;
    CALL(MPI_Sendrecv, from, CELLS, MPI_DOUBLE, destination, 0, to, CELLS, MPI_DOUBLE, source, 0, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
}

NOINLINE void shift_rows(void) {
    FRAME;
    PLACE(1);
    shift(rows[0], rows[1], (rank + 1) % size, (rank + size - 1) % size);
}

NOINLINE void shift_columns(void) {
    FRAME;
    shift(columns[0], columns[1], (rank + size - 1) % size, (rank + 1) % size);
    PLACE(2);
}

NOINLINE void transpose(void) {
    FRAME;
    PLACE(3);
}

NOINLINE void multiply(void) {
    FRAME;
    base_work();
    PLACE(4);
}

NOINLINE void product(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        shift_rows();
        transpose();
        PLACE(5);
        shift_columns();
        multiply();
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    product();
    end();
    return 0;
}
