// Functions that tell of their begin and end themselves. Prints how often each is called.
// FLAGS: -finstrument-functions -finstrument-functions-exclude-file-list=/usr/

#include <cstdio>
#include <mpi.h>

namespace solver {

__attribute__((noinline)) int small(int value) {
    return value * 3 % 7;
}

template <typename T> __attribute__((noinline)) T sum(T value, int terms) {
    T all = value;
    for (int term = 0; term < terms; term++) all += static_cast<T>(small(term));
    return all;
}

struct Step {
    int number;
    __attribute__((noinline)) int run() const {
        int mine = sum<int>(number, 10), all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        return all;
    }
};

} // namespace solver

// More active calls than the recorder keeps of regions.
__attribute__((noinline)) int deep(int depth) {
    return depth == 0 ? 0 : deep(depth - 1) + solver::small(depth) * 0 + 1;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, last = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int number = 0; number < 5; number++) last = solver::Step{number}.run();
    if (argc > 1) last += deep(2000) - 2000;
    if (rank == 0) std::printf("last sum %d\n", last);
    MPI_Finalize();
    return 0;
}
