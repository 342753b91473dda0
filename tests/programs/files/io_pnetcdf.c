/* All ranks write a variable of PARTS planes for each of them through PnetCDF, three times: with "blocking" each plane by a
 * collective call of its own, with "waiting" all of them by one that completes them. NEEDS: PnetCDF, of Open MPI. */
#include "../check.h"
#include <pnetcdf.h>
#include <string.h>

enum { DUMPS = 3, PARTS = 4, PLANE = 65536, BARRIERS = 6 };

static double plane[PARTS][PLANE];

#define NC(call) CHECK((call) == NC_NOERR)

static void put(int file, int variable, int dump, int is_blocking) {
    int requests[PARTS], statuses[PARTS];
    for (int at = 0; at < PARTS; at++) {
        const MPI_Offset start[3] = {dump, at * size + rank, 0}, count[3] = {1, 1, PLANE};
        if (is_blocking) {
            NC(ncmpi_put_vara_double_all(file, variable, start, count, plane[at]));
        } else {
            NC(ncmpi_iput_vara_double(file, variable, start, count, plane[at], &requests[at]));
        }
    }
    if (!is_blocking) NC(ncmpi_wait_all(file, PARTS, requests, statuses));
}

int main(int argc, char **argv) {
    int file, dimensions[3], variable;

    start(&argc, &argv, 2);
    CHECK(argc == 2);
    const int is_blocking = strcmp(argv[1], "blocking") == 0;
    NC(ncmpi_create(MPI_COMM_WORLD, "data.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
    NC(ncmpi_def_dim(file, "time", DUMPS, &dimensions[0]));
    NC(ncmpi_def_dim(file, "part", PARTS * size, &dimensions[1]));
    NC(ncmpi_def_dim(file, "place", PLANE, &dimensions[2]));
    NC(ncmpi_def_var(file, "all", NC_DOUBLE, 3, dimensions, &variable));
    NC(ncmpi_enddef(file));
    for (int dump = 0; dump < DUMPS; dump++) {
        for (int at = 0; at < BARRIERS; at++) OK(MPI_Barrier(MPI_COMM_WORLD));
        put(file, variable, dump, is_blocking);
    }
    NC(ncmpi_close(file));
    finish();
    return 0;
}
