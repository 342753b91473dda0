/* Sleeps until it is killed, after as many messages as the argument says (default 1,000) from each rank to itself. Rank 0
 * has said so when it is time. 1 to 4 ranks. */
#include "work.h"

#include <unistd.h>

int main(int argc, char **argv) {
    start(&argc, &argv, 1);
    work(argc > 1 ? atol(argv[1]) : 1000);
    for (;;) pause();
}
