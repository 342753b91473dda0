/* Regions and phases that the program names, some of them while recording is off. */
#include "replay.h"
#include <mpi.h>
#include <stdio.h>

static void exchange(void) {
    int mine = 1, all;
    REPLAY_REGION_BEGIN("exchange");
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    REPLAY_REGION_END("exchange");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 4; step++) {
        REPLAY_PHASE_BEGIN("step");
        REPLAY_REGION_BEGIN("assembly");
        REPLAY_REGION_END("assembly");
        exchange();
        REPLAY_PHASE_END("step");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    REPLAY_RECORDING_OFF();
    for (int step = 0; step < 3; step++) exchange();
    MPI_Barrier(MPI_COMM_WORLD);
    REPLAY_RECORDING_ON();
    exchange();
    if (rank == 0) printf("8 exchanges\n");
    MPI_Finalize();
    return 0;
}
