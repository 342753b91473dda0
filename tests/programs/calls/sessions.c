/* MPI without MPI_Init: two sessions at the same time, and in each a communicator made from the group of all processes.
 * (One behind the other is more than MPICH 4.0 can do.) NEEDS: MPI-4. 2 to 4 ranks. */
#include "../check.h"

#define SESSIONS 2

int main(void) {
    static const char *const names[SESSIONS] = {"first", "second"};
    MPI_Session sessions[SESSIONS];

    for (int i = 0; i < SESSIONS; i++) OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &sessions[i]));
    for (int i = 0; i < SESSIONS; i++) {
        MPI_Group group;
        MPI_Comm comm;
        int sum = 0;

        OK(MPI_Group_from_session_pset(sessions[i], "mpi://WORLD", &group));
        OK(MPI_Comm_create_from_group(group, names[i], MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
        OK(MPI_Comm_rank(comm, &rank));
        OK(MPI_Comm_size(comm, &size));
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == size * (size - 1) / 2);
        if (rank == 0) printf("%s session: %d ranks, sum %d\n", names[i], size, sum);
        OK(MPI_Comm_free(&comm));
        OK(MPI_Group_free(&group));
    }
    for (int i = 0; i < SESSIONS; i++) OK(MPI_Session_finalize(&sessions[i]));
    return 0;
}
