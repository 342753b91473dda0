/* The root, rank 1, broadcasts late: ranks 0 and 2 wait in MPI_Bcast as long as the delay takes. */
#include "../provoke.h"

NOINLINE void give_late(int value) {
    DELAY(); /* HERE: delay */
    OK(MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD));
}

NOINLINE int take(void) {
    int value = 0;
    OK(MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD)); /* HERE: wait */
    return value;
}

int main(int argc, char **argv) {
    int value = 42;
    start(&argc, &argv, 3);
    meet(1);
    if (rank == 1) give_late(value);
    else value = take();
    CHECK(value == 42);
    if (rank == 0) printf("received %d\n", value);
    finish();
    return 0;
}
