/* Calls that fail and return: what they would have filled in is not to be looked at. */
#include "../check.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    int completed = 1000000000, indices[2] = {1000000, 1000000};
    int failed = MPI_Waitsome(-1, requests, &completed, indices, statuses) != MPI_SUCCESS;
    failed += MPI_Testsome(-1, requests, &completed, indices, statuses) != MPI_SUCCESS;
    failed += MPI_Waitany(-1, requests, indices, statuses) != MPI_SUCCESS;
    failed += MPI_Waitall(-1, requests, statuses) != MPI_SUCCESS;
    printf("%d calls failed\n", failed);
    MPI_Finalize();
    return 0;
}
