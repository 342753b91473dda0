/* Ranks in a ring exchange borders; the first and the last one have half of the work.
 * FIRST ADVICE: work/static, with the shape that the border ranks have less.
 * FIXED: the same work, even. Of N ranks a step takes 30 (N - 1) / N milliseconds instead of 30.
 * RANKS: 8 or more; WHAT-IF: balance=relax */
#include "advice.h"

enum { STEPS = 40, BORDER = 1024 };

WORK(relax)

NOINLINE void exchange(char *in, char *out) {
    const int left = (rank + size - 1) % size, right = (rank + 1) % size, length = BORDER * scale;
    MPI_Request requests[4];
    OK(MPI_Irecv(in, length, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(in + length, length, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Isend(out, length, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Isend(out, length, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[3]));
    OK(MPI_Waitall(4, requests, no_statuses));
}

int main(int argc, char **argv) {
    begin(argc, argv, 3);
    char *in = bytes(2 * BORDER), *out = bytes(BORDER);
    for (int step = 0; step < STEPS; step++) {
        relax(is_fixed ? 30.0 * (size - 1) / size : rank == 0 || rank == size - 1 ? 15 : 30);
        out[0] = (char)step;
        exchange(in, out);
        CHECK(in[0] == (char)step && in[BORDER * scale] == (char)step);
    }
    free(in), free(out);
    end();
    return 0;
}
