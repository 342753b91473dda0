/* Starts processes in between, which have nothing to do with MPI: with system, popen, and fork with and without exec. A
 * recorder must not take them for ranks. 1 to 4 ranks; Open MPI warns of fork with some networks. */
#include "work.h"

#include <sys/wait.h>
#include <unistd.h>

static void wait_for(pid_t child, int code) {
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code);
}

int main(int argc, char **argv) {
    char line[64] = "";
    FILE *pipe;
    pid_t child;

    start(&argc, &argv, 1);
    work(10);
    CHECK(WEXITSTATUS(system("exit 5")) == 5);
    pipe = popen("echo from a shell", "r");
    CHECK(pipe != NULL && fgets(line, sizeof line, pipe) != NULL && pclose(pipe) == 0);
    if (rank == 0) fputs(line, stdout), fflush(stdout);
    OK(MPI_Barrier(MPI_COMM_WORLD));

    child = fork();
    if (child == 0) {
        execlp("sh", "sh", "-c", "exit 6", (char *)NULL);
        _exit(1);
    }
    wait_for(child, 6);
    /* One that ends as programs do, with what was registered for the end of its parent. */
    child = fork();
    if (child == 0) exit(7);
    wait_for(child, 7);
    child = fork();
    if (child == 0) _exit(8);
    wait_for(child, 8);
    work(20);
    finish();
    return 0;
}
