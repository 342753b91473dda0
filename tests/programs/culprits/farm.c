/* A master hands out tasks and collects the results in the order in which they come. It has a task of its own.
 * RANKS: 4 */
#include "shape.h"

enum { TASK, RESULT };

NOINLINE void hand_out(void) {
    FRAME;
    PLACE(1); /* ONLY: 0 */
    for (int worker = 1; worker < size; worker++) CALL(MPI_Send, &worker, 1, MPI_INT, worker, TASK, MPI_COMM_WORLD);
}

NOINLINE void collect(void) {
    FRAME;
    int sum = 0;
    for (int worker = 1; worker < size; worker++) {
        int result;
        CALL(MPI_Recv, &result, 1, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += result;
    }
    CHECK(sum == size * (size - 1) / 2);
}

NOINLINE void merge(void) {
    FRAME;
    PLACE(2); /* ONLY: 0 */
}

NOINLINE void compute(void) {
    FRAME;
    base_work();
    PLACE(3);
}

NOINLINE void master(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        hand_out();
        compute();
        collect();
        merge();
    }
}

NOINLINE int get_task(void) {
    FRAME;
    int task;
    PLACE(4); /* NOT: 0 */
    CALL(MPI_Recv, &task, 1, MPI_INT, 0, TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return task;
}

NOINLINE void put_result(int result) {
    FRAME;
    PLACE(5); /* NOT: 0 */
    CALL(MPI_Send, &result, 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    PLACE(6); /* NOT: 0 */
}

NOINLINE void worker(void) {
    FRAME;
    for (int step = 0; step < STEPS; step++) {
        const int task = get_task();
        compute();
        PLACE(7); /* NOT: 0 */
        put_result(task);
    }
}

int main(int argc, char **argv) {
    FRAME;
    begin(&argc, &argv, 2);
    if (rank == 0) master();
    else worker();
    end();
    return 0;
}
