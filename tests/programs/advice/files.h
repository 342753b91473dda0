/* A file that all ranks write, in the working directory; it is gone when they have closed it. */
#ifndef FILES_H
#define FILES_H

#include "advice.h"

static MPI_File file;

NOINLINE void open_file(MPI_Comm members) {
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    OK(MPI_File_open(members, "advice.tmp", mode, MPI_INFO_NULL, &file));
}

NOINLINE void close_file(void) { OK(MPI_File_close(&file)); }

#endif
