/* A program without MPI: it must run under the recorder as if that were not there. Its arguments and its input come out
 * as they went in, and its code is the number of its arguments. 1 rank, or without mpirun. */
#include <replay.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int byte;
    REPLAY_REGION_BEGIN("copy");
    for (int i = 1; i < argc; i++) printf("%s\n", argv[i]);
    while ((byte = getchar()) != EOF) putchar(byte);
    REPLAY_REGION_END("copy");
    return argc - 1;
}
