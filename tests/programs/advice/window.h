/* Windows with a place for what a rank gets from others. */
#ifndef WINDOW_H
#define WINDOW_H

#include "advice.h"

enum { COUNT = 128 };

static MPI_Win window;
static double *memory, *own;

NOINLINE void create_window(void) {
    OK(MPI_Win_allocate(8L * COUNT * scale, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
}

NOINLINE void free_window(void) { OK(MPI_Win_free(&window)); }

#endif
