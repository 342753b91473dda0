/* MPI without MPI_Init: two sessions at the same time, and in each a communicator made from the group of all processes; in
 * the first one also a communicator of all but the last rank, which sends messages, and one of this process alone.
 * (One session behind the other is more than MPICH 4.0 can do.) NEEDS: MPI-4. 2 to 4 ranks. */
#include "../check.h"

#define SESSIONS 2

static MPI_Comm from(MPI_Group group, const char *tag) {
    MPI_Comm comm;
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    return comm;
}

/* Rank 0 sends a message around those that are not the last. */
NOINLINE void some(MPI_Group everybody) {
    const int last = size - 1;
    int value = rank;
    MPI_Group group;
    MPI_Comm comm;

    OK(MPI_Group_excl(everybody, 1, &last, &group));
    if (rank != last) {
        comm = from(group, "some");
        OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % last, 5, (rank + last - 1) % last, 5, comm, MPI_STATUS_IGNORE));
        CHECK(value == (rank + last - 1) % last);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_free(&group));
}

NOINLINE void alone(MPI_Session session) {
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    comm = from(group, "alone");
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
}

int main(void) {
    static const char *const names[SESSIONS] = {"first", "second"};
    MPI_Session sessions[SESSIONS];

    for (int i = 0; i < SESSIONS; i++) OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &sessions[i]));
    for (int i = 0; i < SESSIONS; i++) {
        MPI_Group group;
        MPI_Comm comm;
        int sum = 0;

        OK(MPI_Group_from_session_pset(sessions[i], "mpi://WORLD", &group));
        comm = from(group, names[i]);
        OK(MPI_Comm_rank(comm, &rank));
        OK(MPI_Comm_size(comm, &size));
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == size * (size - 1) / 2);
        if (rank == 0) printf("%s session: %d ranks, sum %d\n", names[i], size, sum);
        if (i == 0) {
            some(group);
            alone(sessions[i]);
        }
        OK(MPI_Comm_free(&comm));
        OK(MPI_Group_free(&group));
    }
    for (int i = 0; i < SESSIONS; i++) OK(MPI_Session_finalize(&sessions[i]));
    return 0;
}
