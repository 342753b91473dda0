/* The functions with large counts that MPI 4 has beside the others. NEEDS: MPI-4. 2 to 4 ranks. */
#include "../expect.h"

int main(int argc, char **argv) {
    static int values[4] = {1, 2, 3, 4}, got[4 * 8];
    static char buffer[1 << 12];
    MPI_Count ones[8], elements;
    MPI_Aint places[8];
    MPI_Request requests[2];
    MPI_Status status, statuses[2];
    MPI_Message message;
    MPI_Win window;
    int left, right;

    start(&argc, &argv, 2);
    CHECK(size <= 8);
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < size; i++) ones[i] = 1, places[i] = i;

    OK(MPI_Buffer_attach_c(buffer, sizeof buffer));
    OK(MPI_Irecv_c(got, 4, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]));
    EXPECT(MpiIrecvRequest);
    OK(MPI_Isend_c(values, 4, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]));
    EXPECT(MpiIsend);
    OK(MPI_Waitall(2, requests, statuses));
    EXPECT(MpiIrecv), EXPECT(MpiIsendComplete);
    OK(MPI_Get_count_c(&statuses[0], MPI_INT, &elements));
    CHECK(elements == 4 && got[3] == 4);
    OK(MPI_Bsend_c(values, 2, MPI_INT, right, 2, MPI_COMM_WORLD));
    EXPECT(MpiSend);
    OK(MPI_Mprobe(left, 2, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Mrecv_c(got, 2, MPI_INT, &message, MPI_STATUS_IGNORE));
    EXPECT(MpiRecv);
    OK(MPI_Irecv_c(got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[0]));
    EXPECT(MpiIrecvRequest);
    OK(MPI_Send_c(values, 1, MPI_INT, right, 3, MPI_COMM_WORLD));
    EXPECT(MpiSend);
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    EXPECT(MpiIrecv);
    OK(MPI_Sendrecv_c(values, 1, MPI_INT, right, 4, got, 1, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EXPECT(MpiSend), EXPECT(MpiRecv);

    COLLECTIVE(MPI_Bcast_c(values, 4, MPI_INT, 0, MPI_COMM_WORLD));
    COLLECTIVE(MPI_Allreduce_c(&rank, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(got[0] == size * (size - 1) / 2);
    COLLECTIVE(MPI_Gatherv_c(&rank, 1, MPI_INT, got, ones, places, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK(rank != 0 || got[size - 1] == size - 1);
    COLLECTIVE(MPI_Allgather_c(&rank, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK(got[size - 1] == size - 1);
    COLLECTIVE(MPI_Alltoallv_c(got, ones, places, MPI_INT, got + 8, ones, places, MPI_INT, MPI_COMM_WORLD));
    CHECK(got[8] == rank);
    OK(MPI_Iallreduce_c(&rank, got, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[0]));
    EXPECT(NonBlockingCollectiveRequest);
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    EXPECT(NonBlockingCollectiveComplete);
    CHECK(got[0] == size - 1);

    OK(MPI_Win_create_c(got, sizeof got, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    EXPECT(RmaWinCreate);
    OK(MPI_Win_fence(0, window));
    OK(MPI_Put_c(&rank, 1, MPI_INT, right, 5, 1, MPI_INT, window));
    EXPECT(RmaPut);
    OK(MPI_Win_fence(0, window));
    CHECK(got[5] == left);
    OK(MPI_Win_free(&window));
    EXPECT(RmaWinDestroy);
    finish_expecting();
    return 0;
}
