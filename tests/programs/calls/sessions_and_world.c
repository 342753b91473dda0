/* Both ways to start MPI in one program: a session before MPI_Init and until behind MPI_Finalize ("around"), one in between
 * ("inside"), or both. NEEDS: MPI-4. 2 to 4 ranks. */
#include "../check.h"

#include <string.h>

static MPI_Session open_session(void) {
    MPI_Session session;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    return session;
}

/* A barrier of all processes in a session. */
NOINLINE void meet(MPI_Session session, const char *tag) {
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
}

int main(int argc, char **argv) {
    const int around = argc > 1 && strcmp(argv[1], "inside") != 0, inside = argc > 1 && strcmp(argv[1], "around") != 0;
    MPI_Session outer, inner;
    int sum;

    if (around) {
        outer = open_session();
        meet(outer, "before");
    }
    start(&argc, &argv, 2);
    if (inside) {
        inner = open_session();
        meet(inner, "inside");
    }
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (rank == 0) printf("sum %d\n", sum);
    if (inside) OK(MPI_Session_finalize(&inner));
    if (around) meet(outer, "with the world");
    finish();
    if (around) {
        meet(outer, "behind");
        OK(MPI_Session_finalize(&outer));
    }
    return 0;
}
