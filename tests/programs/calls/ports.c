/* Processes of one program that connect as if they belonged to several: by a port, and by a socket. 2 ranks.
 * NEEDS: Open MPI; Debian's MPICH has no ports. */
#include "../expect.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A message each way. */
static void exchange(MPI_Comm comm) {
    int value = rank;
    OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 3, 0, 3, comm, MPI_STATUS_IGNORE));
    EXPECT(MpiSend);
    EXPECT(MpiRecv);
    CHECK(value == 1 - rank);
}

NOINLINE void by_port(void) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm comm;

    if (rank == 0) OK(MPI_Open_port(MPI_INFO_NULL, port));
    COLLECTIVE(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (rank == 0) OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm));
    else OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm));
    exchange(comm);
    OK(MPI_Comm_disconnect(&comm));
    if (rank == 0) OK(MPI_Close_port(port));
}

NOINLINE void by_socket(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "ports.socket"};
    int listening = socket(AF_UNIX, SOCK_STREAM, 0), connected = listening;
    MPI_Comm comm;

    if (rank == 0) {
        (void)unlink(address.sun_path);
        CHECK(bind(listening, (struct sockaddr *)&address, sizeof address) == 0 && listen(listening, 1) == 0);
    }
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) connected = accept(listening, NULL, NULL);
    else CHECK(connect(listening, (struct sockaddr *)&address, sizeof address) == 0);
    OK(MPI_Comm_join(connected, &comm));
    exchange(comm);
    OK(MPI_Comm_disconnect(&comm));
}

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    CHECK(size == 2);
    by_port();
    by_socket();
    finish_expecting();
    return 0;
}
