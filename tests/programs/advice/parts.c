/* Ranks exchange long messages with those that hold neighbouring parts. The partition gives rank 1 three times as many
 * neighbours as others have, so that it is long in MPI and the others wait for it at the sum.
 * FIRST ADVICE: p2p/uneven-messages.
 * FIXED: as many messages in all, and equally many for each rank. What that saves hangs on the machine.
 * RANKS: 8; WHAT-IF: none moves messages */
#include "advice.h"

enum { STEPS = 20, LENGTH = 1 << 20 };

WORK(relax)

static MPI_Request requests[16];

/* Rank 1 is the neighbour of six others, the last of which begins a chain to the first: as many pairs as in a ring. */
static int is_near_one(int one, int other) { return one == 1 && other != 1 && other <= 6; }

static int is_in_chain(int one, int other) { return one >= 6 && other == (one + 1) % size; }

NOINLINE int find_neighbours(int *neighbours) {
    int count = 0;
    for (int other = 0; other < size; other++) {
        const int in_ring = (rank + 1) % size == other || (other + 1) % size == rank;
        const int in_parts = is_near_one(rank, other) || is_near_one(other, rank) || is_in_chain(rank, other)
            || is_in_chain(other, rank);
        if (is_fixed ? in_ring : in_parts) neighbours[count++] = other;
    }
    return count;
}

NOINLINE void exchange(char *in, char *out, int count, const int *neighbours) {
    for (int k = 0; k < count; k++) {
        char *place = in + (long)k * LENGTH * scale;
        OK(MPI_Irecv(place, LENGTH * scale, MPI_BYTE, neighbours[k], 0, MPI_COMM_WORLD, &requests[k]));
        OK(MPI_Isend(out, LENGTH * scale, MPI_BYTE, neighbours[k], 0, MPI_COMM_WORLD, &requests[count + k]));
    }
    OK(MPI_Waitall(2 * count, requests, no_statuses));
}

NOINLINE void sum_up(double *in, double *out) { OK(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)); }

int main(int argc, char **argv) {
    int neighbours[8];
    begin(argc, argv, 8);
    const int count = find_neighbours(neighbours);
    char *in = bytes((long)count * LENGTH), *out = bytes(LENGTH);
    for (int step = 0; step < STEPS; step++) {
        double mine = step, all;
        relax(10);
        out[0] = (char)step;
        exchange(in, out, count, neighbours);
        CHECK(in[0] == (char)step);
        sum_up(&mine, &all);
        CHECK(all == size * step);
    }
    free(in), free(out);
    end();
    return 0;
}
