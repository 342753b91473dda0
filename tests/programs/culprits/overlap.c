/* An exchange in a ring, then a sum; a barrier that does not block tells all that the step is over. RANKS: 4 */
#include "shape.h"

static double in, out = 1;

NOINLINE void exchange(int from, int to) {
    FRAME;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    CALL(MPI_Irecv, &in, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &requests[0]);
    CALL(MPI_Isend, &out, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &requests[1]);
    CALL(MPI_Waitall, 2, requests, statuses);
    PLACE(1);
}

NOINLINE void forces(void) {
    FRAME;
    base_work();
    PLACE(2);
}

NOINLINE void energy(void) {
    FRAME;
    double all = 0;
    PLACE(3);
    CALL(MPI_Allreduce, &in, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

NOINLINE void move(void) {
    FRAME;
    PLACE(4);
}

NOINLINE void end_step(MPI_Request *barrier) {
    FRAME;
    CALL(MPI_Wait, barrier, MPI_STATUS_IGNORE);
    PLACE(5);
}

NOINLINE void simulate(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        MPI_Request barrier;
        forces();
        exchange((rank + size - 1) % size, (rank + 1) % size);
        energy();
        PLACE(6);
        CALL(MPI_Ibarrier, MPI_COMM_WORLD, &barrier);
        move();
        end_step(&barrier);
        PLACE(7);
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    simulate();
    end();
    return 0;
}
