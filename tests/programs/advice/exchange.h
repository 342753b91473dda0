/* Partners in pairs of ranks, of which in each step another one gives and the other one takes. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "advice.h"

/* Whether this rank gives in this step. */
static inline int gives(int step) { return (step + rank) % 2 == 0; }

static inline int partner(void) { return rank ^ 1; }

#endif
