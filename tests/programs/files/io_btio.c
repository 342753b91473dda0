/* The file access of BT-IO, a benchmark of NAS: a cube of POINTS³ elements of 40 bytes, of which each rank has cells along
 * diagonals, is written every five steps, and all of it is read back at the end with an all-reduce behind each.
 *
 *     io_btio full|simple|epio [POINTS [STEPS]]
 *
 * full: a collective request through a view for all cells; simple: a request for each row; epio: a file for each rank, to
 * which the C library writes each cell with a mark of 4 bytes in front and behind, as Fortran does. A square number of
 * ranks. Class W, the default, is 24 points and 200 steps. */
#include "../check.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { INTERVAL = 5, EXCHANGES = 6, ELEMENT = 40, MARKS = 8, MOST_CELLS = 16 };

static int points = 24, cells;
static struct {
    int low[3], size[3]; /* in x, y and z */
} cell[MOST_CELLS];
static char *bytes;
static long mine;
static MPI_File file;
static MPI_Datatype element;
static int own;

/* The cells of this rank: as BT-IO divides the cube. */
static void divide(void) {
    for (cells = 1; cells * cells < size; cells++) continue;
    CHECK(cells * cells == size && cells <= MOST_CELLS);
    for (int c = 0; c < cells; c++) {
        const int place[3] = {(rank % cells + c) % cells, (rank / cells - c + cells) % cells, c};
        long amount = ELEMENT;
        for (int d = 0; d < 3; d++) {
            const int more = points % cells, at = place[d];
            cell[c].size[d] = points / cells + (at < more);
            cell[c].low[d] = at * (points / cells) + (at < more ? at : more);
            amount *= cell[c].size[d];
        }
        mine += amount;
    }
    CHECK((bytes = calloc(1, (size_t)mine + MARKS)) != NULL);
}

static void set_view(void) {
    const int sizes[3] = {points, points, points};
    MPI_Datatype parts[MOST_CELLS], view;
    int ones[MOST_CELLS];
    MPI_Aint zeros[MOST_CELLS];

    for (int c = 0; c < cells; c++) {
        ones[c] = 1, zeros[c] = 0;
        OK(MPI_Type_create_subarray(3, sizes, cell[c].size, cell[c].low, MPI_ORDER_FORTRAN, element, &parts[c]));
    }
    OK(MPI_Type_create_struct(cells, ones, zeros, parts, &view));
    OK(MPI_Type_commit(&view));
    OK(MPI_File_set_view(file, 0, element, view, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&view));
    for (int c = 0; c < cells; c++) OK(MPI_Type_free(&parts[c]));
}

NOINLINE void open_file(int is_full) {
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    OK(MPI_Type_contiguous(5, MPI_DOUBLE, &element));
    OK(MPI_Type_commit(&element));
    OK(MPI_File_open(MPI_COMM_WORLD, "btio.out", mode, MPI_INFO_NULL, &file));
    if (is_full) set_view();
}

/* The exchanges of a step with the neighbours in a ring. */
NOINLINE void compute(int step) {
    double out = step, in;
    for (int at = 0; at < EXCHANGES; at++) {
        OK(MPI_Sendrecv(&out, 1, MPI_DOUBLE, (rank + 1) % size, at, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, at,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(in == out);
    }
}

NOINLINE void full(int is_read, int dump) {
    const MPI_Offset place = dump * (MPI_Offset)(mine / ELEMENT);
    const int count = (int)(mine / ELEMENT);
    if (is_read) {
        OK(MPI_File_read_at_all(file, place, bytes, count, element, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_File_write_at_all(file, place, bytes, count, element, MPI_STATUS_IGNORE));
    }
}

NOINLINE void simple(int is_read, int dump) {
    const char *from = bytes;
    for (int c = 0; c < cells; c++) {
        const int *low = cell[c].low, *extent = cell[c].size;
        for (int row = 0; row < extent[1] * extent[2]; row++) {
            const MPI_Offset z = low[2] + row / extent[1] + (MPI_Offset)points * dump, y = low[1] + row % extent[1];
            const MPI_Offset place = ELEMENT * (low[0] + points * (y + points * z));
            if (is_read) {
                OK(MPI_File_read_at(file, place, (char *)from, extent[0], element, MPI_STATUS_IGNORE));
            } else {
                OK(MPI_File_write_at(file, place, from, extent[0], element, MPI_STATUS_IGNORE));
            }
            from += ELEMENT * extent[0];
        }
    }
}

NOINLINE void epio(int is_read) {
    for (int c = 0; c < cells; c++) {
        const size_t record = (size_t)ELEMENT * (size_t)cell[c].size[0] * cell[c].size[1] * cell[c].size[2] + MARKS;
        CHECK((size_t)(is_read ? read(own, bytes, record) : write(own, bytes, record)) == record);
    }
}

NOINLINE void dump_or_read(const char *how, int is_read, int dump) {
    memset(bytes, dump, is_read ? 0 : (size_t)mine);
    if (strcmp(how, "full") == 0) full(is_read, dump);
    else if (strcmp(how, "simple") == 0) simple(is_read, dump);
    else epio(is_read);
    CHECK(!is_read || bytes[0] == dump);
}

int main(int argc, char **argv) {
    char name[32];
    double norm = 0, all;

    start(&argc, &argv, 1);
    CHECK(argc > 1);
    const int is_epio = strcmp(argv[1], "epio") == 0, steps = argc > 3 ? atoi(argv[3]) : 200;
    if (argc > 2) points = atoi(argv[2]);
    divide();
    snprintf(name, sizeof name, "btio.%04d", rank);
    if (is_epio) CHECK((own = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600)) > 0);
    else open_file(strcmp(argv[1], "full") == 0);
    for (int step = 1; step <= steps; step++) {
        compute(step);
        if (step % INTERVAL == 0) dump_or_read(argv[1], 0, step / INTERVAL - 1);
    }
    compute(0);
    if (is_epio) CHECK(lseek(own, 0, SEEK_SET) == 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int dump = 0; dump < steps / INTERVAL; dump++) {
        dump_or_read(argv[1], 1, dump);
        OK(MPI_Allreduce(&norm, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    }
    if (is_epio) CHECK(close(own) == 0 && unlink(name) == 0);
    else OK(MPI_File_close(&file));
    finish();
    return 0;
}
