/* Makes communicators in all ways, and uses each for an MPI_Allreduce (MPI_Barrier between groups) to show that it is
 * known. Prints how many there are besides MPI_COMM_WORLD and MPI_COMM_SELF. 4 ranks. */
#include "../expect.h"

/* Over all processes; a communicator is counted by its first member. */
static int made;

static void use(MPI_Comm comm, int members) {
    int number, count, one = 1, sum = 0;
    if (comm == MPI_COMM_NULL) {
        CHECK(members == 0);
        return;
    }
    OK(MPI_Comm_rank(comm, &number));
    OK(MPI_Comm_size(comm, &count));
    CHECK(count == members);
    COLLECTIVE(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == members);
    made += number == 0;
}

static void use_and_free(MPI_Comm comm, int members) {
    use(comm, members);
    if (comm != MPI_COMM_NULL) OK(MPI_Comm_free(&comm));
}

NOINLINE void duplicates(void) {
    MPI_Comm comm;
    MPI_Request request;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME];
    int length;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_name(comm, "copy of the world"));
    OK(MPI_Comm_get_name(comm, name, &length));
    CHECK(length == 17);
    use_and_free(comm, size);

    OK(MPI_Info_create(&info));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    OK(MPI_Info_free(&info));
    use_and_free(comm, size);

    OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
    EXPECT(NonBlockingCollectiveRequest);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT(NonBlockingCollectiveComplete);
    use_and_free(comm, size);

    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    use_and_free(comm, 1);
}

NOINLINE void parts(void) {
    MPI_Comm comm, again;

    /* Two halves in reversed order; then one rank alone, and the others in none. */
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &comm));
    use(comm, 2);
    OK(MPI_Comm_dup(comm, &again));
    use_and_free(again, 2);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 3 ? 7 : MPI_UNDEFINED, 0, &comm));
    use_and_free(comm, rank == 3);
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    use_and_free(comm, size);
}

NOINLINE void groups(void) {
    static const int firsts[3] = {2, 0, 1}, pair[2] = {3, 1};
    MPI_Group world, some, two, all, none;
    MPI_Comm comm;
    int relation;

    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 3, firsts, &some));
    OK(MPI_Group_incl(world, 2, pair, &two));
    OK(MPI_Group_union(some, two, &all));
    OK(MPI_Group_difference(world, world, &none));
    CHECK(none == MPI_GROUP_EMPTY);
    OK(MPI_Group_compare(all, world, &relation));
    CHECK(relation == MPI_SIMILAR);

    OK(MPI_Comm_create(MPI_COMM_WORLD, some, &comm));
    use_and_free(comm, rank == 3 ? 0 : 3);
    /* Only the members make this one. */
    if (rank == 1 || rank == 3) {
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, two, 5, &comm));
        use_and_free(comm, 2);
    }
    /* The same members in another order are another communicator. */
    OK(MPI_Comm_create(MPI_COMM_WORLD, all, &comm));
    use_and_free(comm, 4);
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&two));
    OK(MPI_Group_free(&some));
    OK(MPI_Group_free(&world));
}

NOINLINE void topologies(void) {
    static const int sides[2] = {2, 2}, line[1] = {3}, open[2] = {0, 0}, rows[2] = {0, 1};
    static const int ends[4] = {1, 3, 4, 6}, edges[6] = {1, 0, 2, 1, 2, 3};
    MPI_Comm grid, comm;
    int left, right, one = 1, degrees[1] = {1};

    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, sides, open, 0, &grid));
    use(grid, 4);
    OK(MPI_Cart_sub(grid, rows, &comm));
    use_and_free(comm, 2);
    OK(MPI_Comm_free(&grid));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, line, open, 0, &comm));
    use_and_free(comm, rank == 3 ? 0 : 3);
    OK(MPI_Graph_create(MPI_COMM_WORLD, 4, ends, edges, 0, &comm));
    use_and_free(comm, 4);

    left = (rank + 3) % 4, right = (rank + 1) % 4;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, degrees, &right, &one, MPI_INFO_NULL, 0, &comm));
    use_and_free(comm, 4);
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &one, 1, &right, &one, MPI_INFO_NULL, 0, &comm));
    use_and_free(comm, 4);
}

/* Rank 0 and the other three, joined, copied, merged. */
NOINLINE void between_groups(void) {
    MPI_Comm half, between, again, merged;
    int number, remote;

    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half));
    use(half, rank == 0 ? 1 : 3);
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 9, &between));
    OK(MPI_Comm_remote_size(between, &remote));
    CHECK(remote == (rank == 0 ? 3 : 1));
    COLLECTIVE(MPI_Barrier(between));
    OK(MPI_Comm_dup(between, &again));
    COLLECTIVE(MPI_Barrier(again));
    made += rank == 0 ? 2 : 0;
    if (rank < 2) {
        int value = rank;
        OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 4, 0, 4, again, MPI_STATUS_IGNORE));
        EXPECT(MpiSend), EXPECT(MpiRecv);
        CHECK(value == 1 - rank);
    }
    OK(MPI_Comm_free(&again));
    /* Rank 0's group comes last. */
    OK(MPI_Intercomm_merge(between, rank == 0, &merged));
    OK(MPI_Comm_rank(merged, &number));
    CHECK(number == (rank + 3) % 4);
    use_and_free(merged, 4);
    OK(MPI_Comm_free(&between));
    OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv) {
    int all = 0;
    start(&argc, &argv, 4);
    CHECK(size == 4);
    duplicates();
    parts();
    groups();
    topologies();
    between_groups();
    COLLECTIVE(MPI_Reduce(&made, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0) printf("communicators %d\n", all);
    finish_expecting();
    return 0;
}
