/* A Jacobi solver of Laplace's equation on a long strip, for the demonstration: each rank has a part of the rows, and sends
 * its border rows to its neighbours in every step.
 *
 *     jacobi [late|early] [STEPS] [ROWS]
 *
 * In each step one rank, in turn, also looks for the largest change in its part, so that it takes longer. `late` (the
 * default) sends the new borders when all that is done: the neighbours wait for them. `early` computes and sends the
 * borders first and does everything else while they are on their way, so that a neighbour has its own part to compute
 * before it would have to wait. Both compute the same, and print the same residual on any number of ranks. */
#include "check.h"

#include <math.h>
#include <string.h>

enum { UP, DOWN };

/* In a row. Rows are so short that MPI libraries send them at once: longer ones they send when both sides are in MPI
 * calls, and then it does not help to begin early. */
enum { cells = 400 };

static int all_rows;       /* without the edges */
static int rows;           /* of this rank */
static double *old, *next; /* rows + 2 rows of cells + 2 values: with the neighbours' borders and the edge */
static int neighbour[2];

static double *row(double *grid, int number) { return grid + (size_t)number * (cells + 2); }

/* New values of some rows. */
NOINLINE void relax(int first, int last) {
    for (int y = first; y <= last; y++) {
        const double *above = row(old, y - 1), *here = row(old, y), *below = row(old, y + 1);
        double *result = row(next, y);
        for (int x = 1; x <= cells; x++) result[x] = 0.25 * (above[x] + below[x] + here[x - 1] + here[x + 1]);
    }
}

/* Begins to send this rank's new borders, and to receive the neighbours'. */
NOINLINE void begin_exchange(MPI_Request *requests) {
    const int n = cells + 2;
    OK(MPI_Irecv(row(next, 0), n, MPI_DOUBLE, neighbour[UP], DOWN, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(row(next, rows + 1), n, MPI_DOUBLE, neighbour[DOWN], UP, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Isend(row(next, 1), n, MPI_DOUBLE, neighbour[UP], UP, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Isend(row(next, rows), n, MPI_DOUBLE, neighbour[DOWN], DOWN, MPI_COMM_WORLD, &requests[3]));
}

NOINLINE void end_exchange(MPI_Request *requests) {
    MPI_Status statuses[4];
    OK(MPI_Waitall(4, requests, statuses)); /* HERE: wait */
}

/* The largest change of this step, looked for in every second row. */
NOINLINE void inspect(void) {
    double largest = 0;
    for (int y = 1; y <= rows; y += 2)
        for (int x = 1; x <= cells; x++) largest = fmax(largest, fabs(row(next, y)[x] - row(old, y)[x]));
    CHECK(largest <= 0.25);
}

NOINLINE void step_late(int inspected) {
    MPI_Request requests[4];
    relax(1, rows);
    if (inspected) inspect();
    begin_exchange(requests); /* HERE: late */
    end_exchange(requests);
}

NOINLINE void step_early(int inspected) {
    MPI_Request requests[4];
    relax(1, 1);
    relax(rows, rows);
    begin_exchange(requests);
    relax(2, rows - 1);
    if (inspected) inspect();
    end_exchange(requests);
}

/* How far the values are from being each the mean of its neighbours. The sum is of integers, so that it does not depend
 * on how the rows are distributed. */
NOINLINE double residual(void) {
    long long sum = 0, all = 0;
    for (int y = 1; y <= rows; y++)
        for (int x = 1; x <= cells; x++) {
            const double mean = 0.25 * (row(old, y - 1)[x] + row(old, y + 1)[x] + row(old, y)[x - 1] + row(old, y)[x + 1]);
            sum += llround(fabs(mean - row(old, y)[x]) * 1e9);
        }
    OK(MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    return all * 1e-9 / ((double)cells * all_rows);
}

/* Parts of the same height, or of one row more. */
static void distribute(void) {
    rows = all_rows / size + (rank < all_rows % size);
    CHECK(rows >= 2);
    neighbour[UP] = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    neighbour[DOWN] = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    old = (double *)calloc((size_t)(rows + 2) * (cells + 2), sizeof *old);
    next = (double *)calloc((size_t)(rows + 2) * (cells + 2), sizeof *next);
    CHECK(old != NULL && next != NULL);
    /* The upper edge is hot; it is the first rank's. */
    for (int x = 0; x < cells + 2 && rank == 0; x++) row(old, 0)[x] = row(next, 0)[x] = 1;
}

int main(int argc, char **argv) {
    int early, steps;
    double left;

    start(&argc, &argv, 1);
    early = argc > 1 && strcmp(argv[1], "early") == 0;
    steps = argc > 2 ? atoi(argv[2]) : 50;
    all_rows = argc > 3 ? atoi(argv[3]) : 16000;
    CHECK(early || argc < 2 || strcmp(argv[1], "late") == 0);
    distribute();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int step = 0; step < steps; step++) {
        double *swap;
        REPLAY_PHASE_BEGIN("step");
        if (early) step_early(step % size == rank);
        else step_late(step % size == rank);
        REPLAY_PHASE_END("step");
        swap = old, old = next, next = swap;
    }
    left = residual();
    if (rank == 0) printf("%d steps of %d x %d cells: residual %.9f\n", steps, all_rows, cells, left);
    free(old);
    free(next);
    finish();
    return 0;
}
