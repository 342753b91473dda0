/* Forks inside of a call of MPI: in the callback that copies an attribute. The child leaves the call when its parent has
 * gone on for a while, and must not touch what is recorded of that. It leaves with an error: completing the call takes
 * threads of the MPI library that a child does not have, and it may wait for them without end. 1 to 4 ranks; Open MPI
 * warns of fork with some networks. */
#include "work.h"

#include <sys/wait.h>
#include <unistd.h>

static int go_on[2];
static pid_t child;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    child = fork();
    if (child == 0) {
        char byte;
        CHECK(read(go_on[0], &byte, 1) == 1);
        return MPI_ERR_OTHER;
    }
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    MPI_Comm duplicate;
    int key, error, status = 0;

    start(&argc, &argv, 1);
    work(10);
    CHECK(pipe(go_on) == 0);
    OK(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    error = MPI_Comm_dup(MPI_COMM_SELF, &duplicate);
    if (child == 0) _exit(3);
    OK(error);
    work(20);
    CHECK(write(go_on[1], "", 1) == 1);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    work(30);
    finish();
    return 0;
}
