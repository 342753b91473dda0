// Rank 0 sends late because what it computes fails the first time: rank 1 waits in MPI_Recv as long as the delay takes.
// The calls are in templates and members, and an exception leaves the region of the delay.
#include "../provoke.h"

#include <stdexcept>

namespace solver {

struct Diverged : std::runtime_error {
    explicit Diverged(int code) : std::runtime_error("diverged"), code(code) {}
    int code;
};

template <typename T> MPI_Datatype type_of();
template <> MPI_Datatype type_of<double>() { return MPI_DOUBLE; }

template <typename T> class Channel {
public:
    explicit Channel(int partner) : partner_(partner) {}

    __attribute__((noinline)) void send(const T &value) const {
        OK(MPI_Send(&value, 1, type_of<T>(), partner_, 7, MPI_COMM_WORLD));
    }

    __attribute__((noinline)) T receive() const {
        T value = T();
        OK(MPI_Recv(&value, 1, type_of<T>(), partner_, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* HERE: wait */
        return value;
    }

private:
    int partner_;
};

NOINLINE double iterate() {
    REPLAY_REGION("delay"); /* HERE: delay */
    sleep_until(now() + DELAY_TIME);
    throw Diverged(42);
}

NOINLINE double solve() {
    try {
        return iterate();
    } catch (const Diverged &diverged) {
        return diverged.code;
    }
}

} // namespace solver

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    meet(0);
    if (rank == 0) {
        const solver::Channel<double> channel(1);
        channel.send(solver::solve());
    } else if (rank == 1) {
        const solver::Channel<double> channel(0);
        std::printf("received %g\n", channel.receive());
    }
    finish();
    return 0;
}
