/* Each received message is in a region of its own, and its length is told to a file: whoever takes another send for its own
 * gives that region another length. */
#ifndef RECEIVED_H
#define RECEIVED_H

#include "../check.h"

static FILE *lengths;
static long receives;
static char region[32];

/* The next message is about to be received. */
static inline void begin_receive(void) {
    snprintf(region, sizeof region, "r%ld_%d", receives++, rank);
    REPLAY_REGION_BEGIN(region);
}

static inline void end_receive(const MPI_Status *status) {
    int bytes;
    REPLAY_REGION_END(region);
    OK(MPI_Get_count(status, MPI_BYTE, &bytes));
    if (lengths == NULL) {
        char name[32];
        snprintf(name, sizeof name, "received.%d", rank);
        lengths = fopen(name, "w");
        CHECK(lengths != NULL);
    }
    fprintf(lengths, "%s %d\n", region, bytes);
}

static inline void finish_receives(void) {
    if (lengths != NULL) CHECK(fclose(lengths) == 0);
}

#endif
