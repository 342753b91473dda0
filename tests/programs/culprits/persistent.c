/* An exchange in a ring by persistent requests, which are started in each step; then the time step is agreed on. RANKS: 4 */
#include "shape.h"

enum { CELLS = 64 };

static double received[CELLS], sent[CELLS];
static MPI_Request requests[2];

NOINLINE void set_up(int from, int to) {
    FRAME;
    CALL(MPI_Recv_init, received, CELLS, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &requests[0]);
    CALL(MPI_Send_init, sent, CELLS, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &requests[1]);
}

NOINLINE void begin_exchange(void) {
    FRAME;
    PLACE(1);
    CALL(MPI_Startall, 2, requests);
}

NOINLINE void interior(void) {
    FRAME;
    base_work();
    PLACE(2);
}

NOINLINE void end_exchange(void) {
    FRAME;
    MPI_Status statuses[2];
    CALL(MPI_Waitall, 2, requests, statuses);
    PLACE(3);
}

NOINLINE void exchange(void) {
    FRAME;
    begin_exchange();
    interior();
    end_exchange();
}

NOINLINE void fluxes(void) {
    FRAME;
    PLACE(4);
}

NOINLINE void agree(void) {
    FRAME;
    double own = 1, least = 0;
    CALL(MPI_Allreduce, &own, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    PLACE(5);
}

NOINLINE void advance(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        exchange();
        fluxes();
        agree();
        PLACE(6);
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    set_up((rank + size - 1) % size, (rank + 1) % size);
    advance();
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    end();
    return 0;
}
