/*
 * What a run uses of the machine.
 *
 *     usage memory            rank 1 has 64 MiB in use for a while, rank 0 has not
 *     usage energy FILE TEXT  rank 0 writes the text to the file, which stands for a meter
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    CHECK(argc >= 2);
    if (strcmp(argv[1], "memory") == 0 && rank == 1) {
        size_t bytes = (size_t)64 << 20;
        char *memory = malloc(bytes);
        CHECK(memory != NULL);
        memset(memory, 1, bytes);
        CHECK(((volatile char *)memory)[bytes - 1] == 1);
        free(memory);
    }
    if (strcmp(argv[1], "energy") == 0 && rank == 0) {
        CHECK(argc == 4);
        FILE *meter = fopen(argv[2], "w");
        CHECK(meter != NULL && fputs(argv[3], meter) >= 0 && fclose(meter) == 0);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    finish();
    return 0;
}
