/* Steps of a simulation, after each of which all write their part of a file together. RANKS: 4 */
#include "shape.h"

#include <stdlib.h>

enum { CELLS = 16 };

static double cells[CELLS];

NOINLINE void step(void) {
    FRAME;
    base_work();
    PLACE(1);
}

NOINLINE void pack(void) {
    FRAME;
    PLACE(2);
}

NOINLINE void save(MPI_File file, int number) {
    FRAME;
    const MPI_Offset at = (MPI_Offset)sizeof cells * (number * size + rank);
    pack();
    PLACE(3);
    CALL(MPI_File_write_at_all, file, at, cells, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE);
}

NOINLINE void simulate(MPI_File file) {
    FRAME;
    for (int number = 0; number < STEPS; number++) {
        step();
        save(file, number);
        PLACE(4);
    }
}

int main(int argc, char **argv) {
    FRAME;
    MPI_File file;
    char name[] = "checkpoint.data";
    begin(&argc, &argv, 2);
    CALL(MPI_File_open, MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
         &file);
    simulate(file);
    CALL(MPI_File_close, &file);
    end();
    return 0;
}
