/* Heat in a wall: Jacobi's method on 160 rows of cells, of which each rank has a part. One of five programs of the
 * tutorial (docs/tutorial.md), which compute the same and become faster one by one.
 * RANKS: 4 */
#include <math.h>
#include <mpi.h>
#include <replay.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 160, CELLS = 24, WIDTH = CELLS + 2, STEPS = 40, LINE = 6 * CELLS + 1, UP = 0, DOWN = 1 };

static int rank, size, neighbour[2];
static int first, rows;    /* of this rank */
static double *old, *next; /* rows + 2 rows: with those of the neighbours */

/* Milliseconds that a row takes. Rows 80 to 119 are wet. */
static double cost(int row) { return row >= 80 && row < 120 ? 1.2 : 0.25; }

/* Stands for work: sleeps, so that four ranks take as long on two cores as on four. */
static void pass(double milliseconds) {
    const long nanoseconds = (long)(milliseconds * 1e6);
    const struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&time, NULL);
}

/* Work that has a name in the trace. */
#define WORK(name, milliseconds) (REPLAY_REGION_BEGIN(name), pass(milliseconds), REPLAY_REGION_END(name))

/* New values of some rows. */
static void new_values(int from, int to) {
    double milliseconds = 0;
    for (int y = from; y <= to; y++) {
        const double *here = old + y * WIDTH;
        for (int x = 1; x <= CELLS; x++)
            next[y * WIDTH + x] = 0.25 * (here[x - WIDTH] + here[x + WIDTH] + here[x - 1] + here[x + 1]);
        milliseconds += cost(first + y - 1);
    }
    WORK("relax", milliseconds);
}

static void begin_exchange(MPI_Request *requests) {
    MPI_Irecv(old, WIDTH, MPI_DOUBLE, neighbour[UP], DOWN, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(old + (rows + 1) * WIDTH, WIDTH, MPI_DOUBLE, neighbour[DOWN], UP, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(old + WIDTH, WIDTH, MPI_DOUBLE, neighbour[UP], UP, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(old + rows * WIDTH, WIDTH, MPI_DOUBLE, neighbour[DOWN], DOWN, MPI_COMM_WORLD, &requests[3]);
}

static void end_exchange(MPI_Request *requests) {
    MPI_Status statuses[4];
    MPI_Waitall(4, requests, statuses);
}

/* The largest change of all cells. */
static double residual(void) {
    double mine = 0, all = 0;
    for (int y = 1; y <= rows; y++)
        for (int x = 1; x <= CELLS; x++) mine = fmax(mine, fabs(next[y * WIDTH + x] - old[y * WIDTH + x]));
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* Rows as lines of text. */
static void print_rows(char *text, const double *values, int count) {
    for (int y = 0; y < count; y++) {
        for (int x = 1; x <= CELLS; x++) text += sprintf(text, " %.3f", values[y * WIDTH + x]);
        *text++ = '\n';
    }
    WORK("print", 0.6 * count);
}

/* All rows come to rank 0, which writes them. */
static void output(void) {
    const int mine = rows * WIDTH, begin = first * WIDTH;
    int *counts = malloc(size * sizeof *counts), *begins = malloc(size * sizeof *begins);
    double *all = rank == 0 ? malloc(ROWS * WIDTH * sizeof *all) : NULL;
    MPI_Gather(&mine, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gather(&begin, 1, MPI_INT, begins, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gatherv(old + WIDTH, mine, MPI_DOUBLE, all, counts, begins, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        char *text = malloc(ROWS * LINE + 1);
        FILE *file = fopen("wall.txt", "w");
        print_rows(text, all, ROWS);
        fwrite(text, LINE, ROWS, file);
        fclose(file);
        free(text);
    }
    free(counts), free(begins), free(all);
}

/* One step. Rows at a border need those of the neighbours. On one rank, in turn, the rows are checked, and on another one a
 * copy of them is kept. */
static double step(int number) {
    MPI_Request requests[4];
    begin_exchange(requests);
    if (number % size == rank) {
        WORK("inspect", 15);
        WORK("weigh", 15);
    }
    new_values(2, rows - 1);
    end_exchange(requests);
    new_values(1, 1);
    new_values(rows, rows);
    if ((number + 1) % size == rank) WORK("keep", 30);
    return number % 10 == 9 ? residual() : 0;
}

/* Rows that take as long for each rank. */
static void share(void) {
    double all = 0, above = 0;
    for (int y = 0; y < ROWS; y++) all += cost(y);
    first = rows = 0;
    for (int y = 0; y < ROWS; y++) {
        const int owner = (int)(above / all * size);
        first += owner < rank;
        rows += owner == rank;
        above += cost(y);
    }
}

int main(int argc, char **argv) {
    double change = 0, begin;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    share();
    neighbour[UP] = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    neighbour[DOWN] = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    old = calloc((rows + 2) * WIDTH, sizeof *old);
    next = calloc((rows + 2) * WIDTH, sizeof *next);
    if (rank == 0) /* the upper edge is hot */
        for (int x = 0; x < WIDTH; x++) old[x] = next[x] = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int number = 0; number < STEPS; number++) {
        double *swap;
        change = step(number);
        swap = old, old = next, next = swap;
        if (number % 10 == 9) output();
    }
    if (rank == 0) printf("%d steps in %.2f s, last change %.6f\n", STEPS, MPI_Wtime() - begin, change);
    free(old), free(next);
    MPI_Finalize();
    return 0;
}
