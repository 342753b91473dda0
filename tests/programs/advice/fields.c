/* Rank 0 sends the eight fields of each of 100 cells to rank 1 by themselves, with another tag for each field.
 * FIRST ADVICE: size/repeated.
 * FIXED: one message of a cell. What that saves hangs on the network.
 * RANKS: 2, over TCP; WHAT-IF: none packs messages */
#include "advice.h"

enum { STEPS = 50, CELLS = 100, FIELDS = 8, LENGTH = 8 };

WORK(relax)

NOINLINE void give(char *cell) {
    const int count = is_fixed ? 1 : FIELDS, length = LENGTH * scale * FIELDS / count;
    for (int k = 0; k < count; k++) OK(MPI_Send(cell + k * length, length, MPI_BYTE, 1, k, MPI_COMM_WORLD));
}

NOINLINE void take(char *cell) {
    const int count = is_fixed ? 1 : FIELDS, length = LENGTH * scale * FIELDS / count;
    for (int k = 0; k < count; k++)
        OK(MPI_Recv(cell + k * length, length, MPI_BYTE, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *cell = bytes(LENGTH * FIELDS);
    for (int step = 0; step < STEPS; step++) {
        relax(5);
        for (int k = 0; k < CELLS; k++) {
            if (rank == 0) {
                memset(cell, step + k, (size_t)(LENGTH * FIELDS * scale));
                give(cell);
            } else if (rank == 1) {
                take(cell);
                CHECK(cell[LENGTH * FIELDS * scale - 1] == (char)(step + k));
            }
        }
    }
    free(cell);
    end();
    return 0;
}
