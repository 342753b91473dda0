/* Ranks in a row send their borders when they have relaxed all, and one of them in turn has inspected; then they wait for those
 * of their neighbours.
 * FIRST ADVICE: p2p/late-send, at MPI_Isend.
 * FIXED: the border is relaxed first and sent at once; meanwhile MPI_Testall is called now and then, as libraries do not
 * deliver without that. What is saved is computed by going through the steps: 300 milliseconds for 4 ranks, 420 for 8 and
 * more.
 * RANKS: 4, 8, 16; WHAT-IF: early-send=MPI_Isend */
#include "advice.h"

enum { STEPS = 8, BORDER = 3200 };

WORK(relax_border)
WORK(relax)
WORK(inspect)

static MPI_Request requests[4];

NOINLINE void receive_early(char *in) {
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    OK(MPI_Irecv(in, BORDER * scale, MPI_BYTE, below, 0, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(in + BORDER * scale, BORDER * scale, MPI_BYTE, above, 1, MPI_COMM_WORLD, &requests[1]));
}

NOINLINE void send_borders(char *out) {
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    OK(MPI_Isend(out, BORDER * scale, MPI_BYTE, above, 0, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Isend(out, BORDER * scale, MPI_BYTE, below, 1, MPI_COMM_WORLD, &requests[3]));
}

NOINLINE void look_after_borders(void) {
    int all;
    OK(MPI_Testall(4, requests, &all, no_statuses));
}

NOINLINE void await_borders(void) { OK(MPI_Waitall(4, requests, no_statuses)); }

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    /* Between two parts of the work is time to look after the borders. */
    const int parts = is_fixed ? 9 : 1;
    char *in = bytes(2 * BORDER), *out = bytes(BORDER);
    for (int step = 0; step < STEPS; step++) {
        const int inspects = rank == step % size;
        out[0] = (char)(step + 1);
        receive_early(in);
        relax_border(10);
        if (is_fixed) send_borders(out);
        for (int part = 0; part < parts; part++) {
            relax(90.0 / parts);
            if (is_fixed) look_after_borders();
        }
        for (int part = 0; inspects && part < parts; part++) {
            inspect(60.0 / parts);
            if (is_fixed) look_after_borders();
        }
        if (!is_fixed) send_borders(out);
        await_borders();
        CHECK(rank == 0 || in[0] == (char)(step + 1));
    }
    free(in), free(out);
    end();
    return 0;
}
