/* Rank 0 asks rank 1, and looks for the answer every 50 milliseconds, though it is there after 22.
 * FIRST ADVICE: sync/polling.
 * FIXED: it looks every 5 milliseconds, so that a round takes 25 instead of 50.
 * RANKS: 2; WHAT-IF: none; cpu=0.1@back_off comes close, but looks once only: 22 */
#include "advice.h"

enum { ROUNDS = 20, LENGTH = 256 };

WORK(back_off)
WORK(serve)

NOINLINE void ask(char *data, MPI_Request *answer) {
    OK(MPI_Irecv(data, LENGTH * scale, MPI_BYTE, 1, 1, MPI_COMM_WORLD, answer));
    OK(MPI_Send(data + LENGTH * scale, LENGTH * scale, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
}

NOINLINE int look(MPI_Request *answer) {
    int is_there;
    OK(MPI_Test(answer, &is_there, MPI_STATUS_IGNORE));
    return is_there;
}

NOINLINE void answer(char *data) {
    OK(MPI_Recv(data, LENGTH * scale, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    serve(22);
    OK(MPI_Send(data, LENGTH * scale, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(argc, argv, 2);
    char *data = bytes(2 * LENGTH);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0) {
            MPI_Request request;
            data[LENGTH * scale] = (char)(round + 1);
            ask(data, &request);
            do back_off(is_fixed ? 5 : 50);
            while (!look(&request));
            CHECK(data[0] == (char)(round + 1));
        } else if (rank == 1) {
            answer(data);
        }
    }
    free(data);
    end();
    return 0;
}
