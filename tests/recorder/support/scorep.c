/* Stands in for Score-P's library in tests: has its symbol, wraps MPI, says what its variables ask for, and leaves what SCOREP_STUB
   names as the experiment where tracing is on (site 4.3). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void SCOREP_InitMeasurement(void);

void SCOREP_InitMeasurement(void)
{
}

static const char *value(const char *name)
{
    const char *found = getenv(name);
    return found ? found : "unset";
}

int MPI_Init(int *count, char ***words)
{
    SCOREP_InitMeasurement();
    return PMPI_Init(count, words);
}

int MPI_Finalize(void)
{
    int rank;
    char command[4096];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("scorep: profiling %s tracing %s\n", value("SCOREP_ENABLE_PROFILING"), value("SCOREP_ENABLE_TRACING"));
        if (strcmp(value("SCOREP_ENABLE_TRACING"), "true") == 0 && getenv("SCOREP_STUB")) {
            snprintf(command, sizeof command, "cp -r '%s' '%s'", getenv("SCOREP_STUB"), value("SCOREP_EXPERIMENT_DIRECTORY"));
            if (system(command) != 0)
                puts("scorep: cannot write");
        }
    }
    return PMPI_Finalize();
}
