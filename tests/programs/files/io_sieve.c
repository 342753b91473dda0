/* Each rank writes pieces of 64 bytes with gaps of 448 bytes between them through a view, to a part of the file of its own. The first
 * argument says how: "sieve" lets the library read and write what lies between as well (ROMIO's data sieving), "plain" does not; "collected"
 * writes collectively, in parts that take turns, so that nothing lies between those of all. */
#include "../check.h"
#include <string.h>

enum { PIECE = 64, PIECES = 2048, TIMES = 4 };

static char bytes[PIECE * PIECES];

NOINLINE void put(MPI_File file, int together) {
    int count = PIECE * PIECES;
    if (together)
        OK(MPI_File_write_all(file, bytes, count, MPI_BYTE, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write(file, bytes, count, MPI_BYTE, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    MPI_Datatype pieces, apart;
    MPI_File file;
    MPI_Info hints;
    int together, gap;

    start(&argc, &argv, 1);
    together = argc > 1 && strcmp(argv[1], "collected") == 0;
    gap = together ? PIECE * size : PIECE * 8;
    OK(MPI_Type_vector(PIECES, PIECE, gap, MPI_BYTE, &pieces));
    OK(MPI_Type_create_resized(pieces, 0, (MPI_Aint)gap * PIECES, &apart));
    OK(MPI_Type_commit(&apart));
    OK(MPI_Info_create(&hints));
    OK(MPI_Info_set(hints, "romio_ds_write", argc > 1 && strcmp(argv[1], "sieve") == 0 ? "enable" : "disable"));
    OK(MPI_File_open(MPI_COMM_WORLD, "sieve.out", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, hints, &file));
    OK(MPI_File_set_view(file, together ? rank * PIECE : (MPI_Offset)rank * TIMES * gap * PIECES, MPI_BYTE, apart, "native", hints));
    for (int at = 0; at < TIMES; at++) put(file, together);
    OK(MPI_File_close(&file));
    OK(MPI_Info_free(&hints));
    OK(MPI_Type_free(&apart));
    OK(MPI_Type_free(&pieces));
    finish();
    return 0;
}
