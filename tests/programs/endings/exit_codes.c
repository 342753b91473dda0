/* Ends in a given way with a given code: endings/exit_codes finalize|abandon return|exit|_exit CODE. With `abandon` it
 * does not call MPI_Finalize, which Open MPI's mpirun takes for a failure. 1 to 4 ranks, which all do the same. */
#include "work.h"

#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int code;
    start(&argc, &argv, 1);
    CHECK(argc == 4);
    code = atoi(argv[3]);
    work(10);
    if (strcmp(argv[1], "finalize") == 0) finish();
    if (strcmp(argv[2], "exit") == 0) exit(code);
    if (strcmp(argv[2], "_exit") == 0) _exit(code);
    return code;
}
