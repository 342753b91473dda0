/* Halo exchange in a ring: all receive the borders of both neighbours while they compute their interior, then add up how
 * much has changed. RANKS: 4 */
#include "shape.h"

enum { CELLS = 64 };

static double borders[4][CELLS];
static MPI_Request requests[4];

NOINLINE void receive_border(int side, int from) {
    FRAME;
    CALL(MPI_Irecv, borders[side], CELLS, MPI_DOUBLE, from, side, MPI_COMM_WORLD, &requests[side]);
}

NOINLINE void send_border(int side, int to) {
    FRAME;
    CALL(MPI_Isend, borders[2 + side], CELLS, MPI_DOUBLE, to, side, MPI_COMM_WORLD, &requests[2 + side]);
}

NOINLINE void begin_exchange(int before, int behind) {
    FRAME;
    PLACE(1);
    receive_border(0, before);
    receive_border(1, behind);
    PLACE(2);
    send_border(0, behind);
    send_border(1, before);
}

NOINLINE void interior(void) {
    FRAME;
    base_work();
    PLACE(3);
}

NOINLINE void end_exchange(void) {
    FRAME;
    MPI_Status statuses[4];
    CALL(MPI_Waitall, 4, requests, statuses);
    PLACE(4);
}

NOINLINE void edges(void) {
    FRAME;
    PLACE(5);
}

NOINLINE double change(void) {
    FRAME;
    double own = 1, all = 0;
    PLACE(6);
    CALL(MPI_Allreduce, &own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

NOINLINE void solve(int before, int behind) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        begin_exchange(before, behind);
        interior();
        end_exchange();
        edges();
        CHECK(change() == 1);
        PLACE(7);
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    solve((rank + size - 1) % size, (rank + 1) % size);
    end();
    return 0;
}
