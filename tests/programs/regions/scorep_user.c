/* Regions that the program names by Score-P's macros, some of them while recording is off. */
#include "replay-scorep-user.h"
#include <mpi.h>
#include <stdio.h>

static void exchange(void) {
    int mine = 1, all;
    SCOREP_USER_FUNC_BEGIN()
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    SCOREP_USER_FUNC_END()
}

int main(int argc, char **argv) {
    SCOREP_USER_REGION_DEFINE(step_handle)
    SCOREP_USER_REGION_DEFINE(assembly_handle)
    SCOREP_USER_PARAMETER_DEFINE(size_handle)
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    SCOREP_USER_REGION_INIT(assembly_handle, "assembly", SCOREP_USER_REGION_TYPE_COMMON)
    for (int step = 0; step < 4; step++) {
        SCOREP_USER_REGION_BEGIN(step_handle, "step", SCOREP_USER_REGION_TYPE_PHASE)
        SCOREP_USER_REGION_ENTER(assembly_handle)
        SCOREP_USER_PARAMETER_INT64(size_handle, "size", step)
        SCOREP_USER_REGION_END(assembly_handle)
        SCOREP_USER_REGION_BY_NAME_BEGIN("named", SCOREP_USER_REGION_TYPE_LOOP)
        SCOREP_USER_REGION_BY_NAME_END("named")
#ifdef __cplusplus
        {
            SCOREP_USER_REGION("block", SCOREP_USER_REGION_TYPE_FUNCTION)
            exchange();
        }
#else
        exchange();
#endif
        SCOREP_USER_REGION_END(step_handle)
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SCOREP_RECORDING_OFF()
    for (int step = 0; step < 3; step++) exchange();
    MPI_Barrier(MPI_COMM_WORLD);
    SCOREP_RECORDING_ON()
    if (rank == 0) printf("%s\n", SCOREP_RECORDING_IS_ON() ? "recorded" : "not recorded");
    exchange();
    MPI_Finalize();
    return 0;
}
