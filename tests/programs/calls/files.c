/* MPI-IO: all ways to open, place, read and write. The argument is a folder for the file (default: the current one),
 * which is deleted at the end. 2 to 4 ranks. */
#include "../expect.h"

#include <string.h>

#define CELLS 4

static char name[4096];
static int data[CELLS], got[CELLS];

static void fill(int base) {
    for (int i = 0; i < CELLS; i++) data[i] = base + 10 * rank + i, got[i] = -1;
}

static void check_own(int base) {
    for (int i = 0; i < CELLS; i++) CHECK(got[i] == base + 10 * rank + i);
}

/* A blocking operation on the file, which is complete when it returns. */
#define OPERATION(call) (OK(call), EXPECT(IoOperationBegin), EXPECT(IoOperationComplete))

/* One with a request. */
#define NONBLOCKING(call) \
    do { \
        MPI_Request request; \
        OK(call); \
        EXPECT(IoOperationBegin); \
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
        EXPECT(IoOperationComplete); \
    } while (0)

/* One that begins and ends with calls of its own. */
#define SPLIT(begin, end) \
    do { \
        OK(begin); \
        EXPECT(IoOperationBegin); \
        OK(end); \
        EXPECT(IoOperationComplete); \
    } while (0)

static MPI_File open_file(int mode) {
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file));
    EXPECT(IoCreateHandle);
    return file;
}

static void close_file(MPI_File *file) {
    OK(MPI_File_close(file));
    EXPECT(IoDestroyHandle);
}

static void seek(MPI_File file, MPI_Offset offset) {
    OK(MPI_File_seek(file, offset, MPI_SEEK_SET));
    EXPECT(IoSeek);
}

/* At places that the call gives. */
NOINLINE void explicit_places(MPI_File file) {
    const MPI_Offset at = rank * (MPI_Offset)sizeof data;

    fill(100);
    OPERATION(MPI_File_write_at(file, at, data, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    OPERATION(MPI_File_read_at(file, at, got, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    check_own(100);
    fill(200);
    OPERATION(MPI_File_write_at_all(file, at, data, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    OPERATION(MPI_File_read_at_all(file, at, got, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    check_own(200);
    fill(300);
    NONBLOCKING(MPI_File_iwrite_at(file, at, data, CELLS, MPI_INT, &request));
    NONBLOCKING(MPI_File_iread_at(file, at, got, CELLS, MPI_INT, &request));
    check_own(300);
    fill(400);
    NONBLOCKING(MPI_File_iwrite_at_all(file, at, data, CELLS, MPI_INT, &request));
    NONBLOCKING(MPI_File_iread_at_all(file, at, got, CELLS, MPI_INT, &request));
    check_own(400);
    fill(500);
    SPLIT(MPI_File_write_at_all_begin(file, at, data, CELLS, MPI_INT), MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE));
    SPLIT(MPI_File_read_at_all_begin(file, at, got, CELLS, MPI_INT), MPI_File_read_at_all_end(file, got, MPI_STATUS_IGNORE));
    check_own(500);
}

/* At the place where the process is, in a view where ranks alternate. */
NOINLINE void own_pointer(MPI_File file) {
    MPI_Datatype mine;
    MPI_Offset place;

    OK(MPI_Type_create_resized(MPI_INT, 0, size * (MPI_Aint)sizeof(int), &mine));
    OK(MPI_Type_commit(&mine));
    OK(MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, mine, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&mine));
    fill(600);
    seek(file, 0);
    OPERATION(MPI_File_write(file, data, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_get_position(file, &place));
    CHECK(place == CELLS);
    seek(file, 0);
    OPERATION(MPI_File_read(file, got, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    check_own(600);
    fill(700);
    seek(file, 0);
    OPERATION(MPI_File_write_all(file, data, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    seek(file, 0);
    OPERATION(MPI_File_read_all(file, got, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    check_own(700);
    fill(800);
    seek(file, 0);
    NONBLOCKING(MPI_File_iwrite(file, data, CELLS, MPI_INT, &request));
    seek(file, 0);
    NONBLOCKING(MPI_File_iread(file, got, CELLS, MPI_INT, &request));
    check_own(800);
    fill(900);
    seek(file, 0);
    NONBLOCKING(MPI_File_iwrite_all(file, data, CELLS, MPI_INT, &request));
    seek(file, 0);
    NONBLOCKING(MPI_File_iread_all(file, got, CELLS, MPI_INT, &request));
    check_own(900);
    fill(1000);
    seek(file, 0);
    SPLIT(MPI_File_write_all_begin(file, data, CELLS, MPI_INT), MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE));
    seek(file, 0);
    SPLIT(MPI_File_read_all_begin(file, got, CELLS, MPI_INT), MPI_File_read_all_end(file, got, MPI_STATUS_IGNORE));
    check_own(1000);
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
}

/* At the place where all processes are: in the order of ranks, or in any. */
NOINLINE void shared_pointer(MPI_File file) {
    MPI_Offset place;

    fill(1100);
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    EXPECT(IoSeek);
    OPERATION(MPI_File_write_ordered(file, data, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    EXPECT(IoSeek);
    OPERATION(MPI_File_read_ordered(file, got, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    check_own(1100);
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    EXPECT(IoSeek);
    SPLIT(MPI_File_write_ordered_begin(file, data, CELLS, MPI_INT), MPI_File_write_ordered_end(file, data, MPI_STATUS_IGNORE));
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    EXPECT(IoSeek);
    SPLIT(MPI_File_read_ordered_begin(file, got, CELLS, MPI_INT), MPI_File_read_ordered_end(file, got, MPI_STATUS_IGNORE));
    check_own(1100);
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));

    OPERATION(MPI_File_write_shared(file, data, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    NONBLOCKING(MPI_File_iwrite_shared(file, data, CELLS, MPI_INT, &request));
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_get_position_shared(file, &place));
    CHECK(place == 3 * CELLS * size);
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    EXPECT(IoSeek);
    OPERATION(MPI_File_read_shared(file, got, CELLS, MPI_INT, MPI_STATUS_IGNORE));
    NONBLOCKING(MPI_File_iread_shared(file, got, CELLS, MPI_INT, &request));
    CHECK(got[CELLS - 1] % 10 == CELLS - 1);
}

NOINLINE void about_the_file(MPI_File file) {
    MPI_Offset bytes;
    MPI_Info info;
    MPI_Group group;
    MPI_Datatype unit, type;
    MPI_Aint extent;
    char representation[MPI_MAX_DATAREP_STRING];
    int mode, atomic;

    OPERATION(MPI_File_sync(file));
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == (MPI_Offset)(3 * CELLS * sizeof(int)) * size);
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_set_size(file, 1 << 12));
    OK(MPI_File_preallocate(file, 1 << 13));
    OK(MPI_File_get_amode(file, &mode));
    CHECK(mode & MPI_MODE_RDWR);
    OK(MPI_File_get_group(file, &group));
    OK(MPI_Group_free(&group));
    OK(MPI_File_get_info(file, &info));
    OK(MPI_Info_free(&info));
    OK(MPI_File_get_view(file, &bytes, &unit, &type, representation));
    CHECK(strcmp(representation, "native") == 0);
    OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
    OK(MPI_File_set_atomicity(file, 0));
    OK(MPI_File_get_atomicity(file, &atomic));
    CHECK(!atomic);
    OK(MPI_File_get_byte_offset(file, 1, &bytes));
}

int main(int argc, char **argv) {
    MPI_File file;
    int error;

    start(&argc, &argv, 2);
    snprintf(name, sizeof name, "%s/replay_files.dat", argc > 1 ? argv[1] : ".");
    file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    OK(MPI_File_set_size(file, 0)); /* left by a run that failed */
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    explicit_places(file);
    own_pointer(file);
    shared_pointer(file);
    about_the_file(file);
    close_file(&file);

    /* Of one process alone, and closed without having been used. */
    if (rank == 0) {
        OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
        EXPECT(IoCreateHandle);
        close_file(&file);
    }
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    file = open_file(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    close_file(&file);
    EXPECT(IoDeleteFile);
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));

    /* A file that is not there cannot be opened, and leaves no handle. */
    error = MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    calls++;
    CHECK(error != MPI_SUCCESS);
    COLLECTIVE(MPI_Barrier(MPI_COMM_WORLD));
    /* A file that is there can be deleted. */
    if (rank == 0) {
        OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
        EXPECT(IoCreateHandle);
        close_file(&file);
        OK(MPI_File_delete(name, MPI_INFO_NULL));
        EXPECT(IoDeleteFile);
    }
    finish_expecting();
    return 0;
}
