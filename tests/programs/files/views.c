/* Views of all kinds of types, hints, sizes and pointers of files. Each rank writes what its trace must say of each call to
 * promised.RANK, a line for each event. 2 ranks. */
#include "../check.h"
#include <string.h>

/* The view that a file has when it is opened. */
#define BYTES "MPI_File_set_view Leave View=0 ViewEtype=1 ViewSize=1 ViewExtent=1 ViewPieces=1 ViewType=b1"

static MPI_File file;
static FILE *promised;

/* Sets a view, and promises what the trace says of it; pieces < 0 and no text where it does not say so. */
NOINLINE void view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype, long pieces, const char *text) {
    MPI_Count extent, lower;
    int unit, bytes;

    OK(MPI_Type_commit(&filetype));
    OK(MPI_File_set_view(file, displacement, etype, filetype, "native", MPI_INFO_NULL));
    OK(MPI_Type_size(etype, &unit));
    OK(MPI_Type_size(filetype, &bytes));
    OK(MPI_Type_get_extent_x(filetype, &lower, &extent));
    fprintf(promised, "MPI_File_set_view Leave View=%lld ViewEtype=%d ViewSize=%d ViewExtent=%lld", (long long)displacement, unit,
            bytes, (long long)extent);
    if (pieces >= 0) fprintf(promised, " ViewPieces=%ld", pieces);
    if (text) fprintf(promised, " ViewType=%s", text);
    fprintf(promised, "\n");
    OK(MPI_Type_free(&filetype));
}

NOINLINE void simple(void) {
    MPI_Datatype type, other;
    int lengths[3] = {1, 0, 2}, places[3] = {3, 1, 5};
    MPI_Aint addresses[3] = {24, 5, 40};

    OK(MPI_Type_contiguous(5, MPI_DOUBLE, &type));
    view(16, MPI_BYTE, type, 1, "b40");
    OK(MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &type));
    view(0, MPI_DOUBLE, type, 3, "v(3,2,40,b8)");
    OK(MPI_Type_create_hvector(3, 2, 16, MPI_DOUBLE, &type));
    view(0, MPI_DOUBLE, type, 1, "b48");
    OK(MPI_Type_indexed(3, lengths, places, MPI_DOUBLE, &type));
    view(0, MPI_DOUBLE, type, 2, "r(24,32,x(1@24,2@40;b8))");
    OK(MPI_Type_create_hindexed(3, lengths, addresses, MPI_DOUBLE, &type));
    view(8, MPI_DOUBLE, type, 2, "r(24,32,x(1@24,2@40;b8))");
    OK(MPI_Type_create_indexed_block(2, 7, ((int[]){0, 10}), MPI_DOUBLE, &type));
    view(0, MPI_DOUBLE, type, 2, "x(7@0,7@80;b8)");
    OK(MPI_Type_create_hindexed_block(2, 1, ((MPI_Aint[]){0, 8}), MPI_DOUBLE, &type));
    view(0, MPI_DOUBLE, type, 1, "b16");
    OK(MPI_Type_create_resized(MPI_DOUBLE, 0, 64, &type));
    view(0, MPI_DOUBLE, type, 1, "r(0,64,b8)");
    OK(MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &other));
    OK(MPI_Type_dup(other, &type));
    view(0, MPI_DOUBLE, type, 1, "r(0,16,b8)");
    OK(MPI_Type_contiguous(3, other, &type));
    view(0, MPI_DOUBLE, type, 3, "c(3,r(0,16,b8))");
    OK(MPI_Type_free(&other));
}

NOINLINE void arrays(void) {
    const int sizes[3] = {24, 24, 24}, parts[3] = {12, 12, 12}, starts[3] = {0, 0, 0}, ends[3] = {12, 12, 12};
    MPI_Datatype cells[2], unit, type;

    OK(MPI_Type_contiguous(5, MPI_DOUBLE, &unit));
    OK(MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, unit, &cells[0]));
    OK(MPI_Type_create_subarray(3, sizes, parts, ends, MPI_ORDER_C, unit, &cells[1]));
    OK(MPI_Type_create_struct(2, ((int[]){1, 1}), ((MPI_Aint[]){0, 0}), cells, &type));
    OK(MPI_Type_free(&cells[0]));
    OK(MPI_Type_free(&cells[1]));
    view(0, MPI_DOUBLE, type, 288, "t(1@0:s[24,24,24;12,12,12;0,0,0](b40),1@0:s[24,24,24;12,12,12;12,12,12](b40))");
    OK(MPI_Type_create_subarray(2, ((int[]){10, 8}), ((int[]){2, 4}), ((int[]){3, 1}), MPI_ORDER_FORTRAN, MPI_INT, &type));
    view(0, MPI_INT, type, 4, "s[8,10;4,2;1,3](b4)");
    OK(MPI_Type_create_darray(2, 0, 2, ((int[]){10, 8}), ((int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE}),
                              ((int[]){MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}), ((int[]){2, 1}), MPI_ORDER_C, MPI_INT,
                              &type));
    view(0, MPI_INT, type, 1, "s[10,8;5,8;0,0](b4)");
    OK(MPI_Type_create_darray(2, 0, 1, ((int[]){10}), ((int[]){MPI_DISTRIBUTE_CYCLIC}), ((int[]){1}), ((int[]){2}), MPI_ORDER_C,
                              MPI_INT, &type));
    view(0, MPI_INT, type, -1, NULL);
    OK(MPI_Type_free(&unit));
}

/* More numbers than are looked at, and a text that is too long. */
NOINLINE void large(void) {
    static int places[3000];
    MPI_Datatype type;

    for (int at = 0; at < 3000; at++) places[at] = 1000 * at;
    OK(MPI_Type_create_indexed_block(3000, 1, places, MPI_INT, &type));
    view(0, MPI_INT, type, 3000, NULL);
    static int lengths[3000];
    for (int at = 0; at < 3000; at++) lengths[at] = 1;
    OK(MPI_Type_indexed(3000, lengths, places, MPI_INT, &type));
    view(0, MPI_INT, type, -1, NULL);
}

NOINLINE void sizes_and_pointers(void) {
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_set_size(file, 5000));
    OK(MPI_File_preallocate(file, 3000));
    OK(MPI_File_set_atomicity(file, 0));
    OK(MPI_File_seek(file, -8, MPI_SEEK_END));
    fprintf(promised, BYTES "\n");
    fprintf(promised, "MPI_File_set_size Leave FileSize=5000\nMPI_File_preallocate Leave FileSize=5000\n");
    fprintf(promised, "MPI_File_seek IoSeek FileSize=5000\n");
}

/* Promises the hints of the open file, in the order of their keys. */
NOINLINE void promise_hints(void) {
    char pairs[128][600], key[MPI_MAX_INFO_KEY + 1], value[300];
    MPI_Info used;
    int count, is_known;

    OK(MPI_File_get_info(file, &used));
    OK(MPI_Info_get_nkeys(used, &count));
    CHECK(count <= 128);
    for (int at = 0; at < count; at++) {
        OK(MPI_Info_get_nthkey(used, at, key));
        OK(MPI_Info_get(used, key, 299, value, &is_known));
        snprintf(pairs[at], sizeof pairs[at], "%s=%s", key, value);
    }
    qsort(pairs, (size_t)count, sizeof pairs[0], (int (*)(const void *, const void *))strcmp);
    fprintf(promised, " Hints=");
    for (int at = 0; at < count; at++) fprintf(promised, "%s%s", at > 0 ? ";" : "", pairs[at]);
    OK(MPI_Info_free(&used));
}

NOINLINE void hints(void) {
    MPI_Info info;

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_nodes", "1"));
    OK(MPI_Info_set(info, "access_style", "write_once"));
    OK(MPI_File_set_info(file, info));
    fprintf(promised, "MPI_File_set_info Leave");
    promise_hints();
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info));
    fprintf(promised, "\n" BYTES);
    promise_hints();
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, "views.out", MPI_MODE_RDWR | MPI_MODE_APPEND | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    fprintf(promised, "\nMPI_File_open IoCreateHandle");
    promise_hints();
    fprintf(promised, " FileSize=5000\n");
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv) {
    char name[32];

    start(&argc, &argv, 2);
    CHECK(size == 2);
    snprintf(name, sizeof name, "promised.%d", rank);
    CHECK((promised = fopen(name, "w")) != NULL);
    OK(MPI_File_open(MPI_COMM_WORLD, "views.out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    simple();
    arrays();
    large();
    sizes_and_pointers();
    hints();
    OK(MPI_File_close(&file));
    CHECK(fclose(promised) == 0);
    finish();
    return 0;
}
