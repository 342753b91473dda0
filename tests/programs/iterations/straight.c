/* No loop: a thousand calls, each in another place. */
#include "../check.h"

#define TEN(call) call; call; call; call; call; call; call; call; call; call

int main(int argc, char **argv) {
    start(&argc, &argv, 1);
    TEN(TEN(TEN(OK(MPI_Barrier(MPI_COMM_WORLD)))));
    finish();
    return 0;
}
