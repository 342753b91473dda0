/* Sends and receives in all ways, as the number SEED decides, and switches recording off and on wherever it likes, each rank
 * by itself. Requests stay under way over several rounds and complete in any order. 2 to 4 ranks.
 */
#include "received.h"

#include <string.h>

enum { ROUNDS = 60, MOST = 12, LONGEST = 8192, PENDING = 512, TAGS = 3, ANY_FROM = 2, KEPT = 4 };

/* xorshift: one sequence that all ranks have, one of each. */
static unsigned long common, own;

static unsigned next(unsigned long *state, unsigned bound) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned)(*state >> 20) % bound;
}

static char out[LONGEST], in[PENDING][LONGEST];
static MPI_Request pending[PENDING];
static int are_receives[PENDING], count;
static MPI_Comm other;

/* Persistent receives, one for each rank as source, with tag 0 of the world: started again and again. */
static MPI_Request persistent[KEPT];
static char kept[KEPT][LONGEST];
static int is_active[KEPT], started_in[KEPT];

static void complete_persistent(int from) {
    MPI_Status status;
    begin_receive();
    OK(MPI_Wait(&persistent[from], &status));
    end_receive(&status);
    is_active[from] = 0;
}

/* Completes a request, and takes the last one in its place. */
static void complete(int at) {
    MPI_Status status;
    if (are_receives[at]) begin_receive();
    OK(MPI_Wait(&pending[at], &status));
    if (are_receives[at]) end_receive(&status);
    count--;
    pending[at] = pending[count];
    are_receives[at] = are_receives[count];
}

static void post(int from, int tag, MPI_Comm comm) {
    static int buffer;
    if (count == PENDING) complete(0);
    /* Two receives may have one buffer: nobody looks at what is in it. */
    OK(MPI_Irecv(in[buffer++ % PENDING], LONGEST, MPI_BYTE, from, tag, comm, &pending[count]));
    are_receives[count++] = 1;
}

/* Receives a message at once. */
static void receive(int from, int tag, MPI_Comm comm) {
    static char buffer[LONGEST];
    MPI_Status status;
    if (next(&own, 3) > 0) {
        begin_receive();
        OK(MPI_Recv(buffer, LONGEST, MPI_BYTE, from, tag, comm, &status));
    } else {
        MPI_Message message;
        OK(MPI_Mprobe(from, tag, comm, &message, MPI_STATUS_IGNORE));
        begin_receive();
        OK(MPI_Mrecv(buffer, LONGEST, MPI_BYTE, &message, &status));
    }
    end_receive(&status);
}

static void send(int bytes, int to, int tag, MPI_Comm comm) {
    unsigned way = next(&own, 4);
    if (way == 0) {
        OK(MPI_Send(out, bytes, MPI_BYTE, to, tag, comm));
        return;
    }
    if (count == PENDING) complete(0);
    /* A receive from any rank may take a message of a later round: whoever waits for it to be received might wait for ever. */
    if (way == 1 && tag != ANY_FROM && comm == MPI_COMM_WORLD) OK(MPI_Issend(out, bytes, MPI_BYTE, to, tag, comm, &pending[count]));
    else OK(MPI_Isend(out, bytes, MPI_BYTE, to, tag, comm, &pending[count]));
    are_receives[count++] = 0;
}

static void switch_recording(void) {
    if (next(&own, 6) > 0) return;
    if (next(&own, 2)) REPLAY_RECORDING_OFF();
    else REPLAY_RECORDING_ON();
}

/* The messages of a round: from, to, tag, communicator. */
struct message {
    int from, to, tag, is_other;
};

static void exchange(int round, const struct message *messages, int number, int first_length) {
    int blocking[MOST], blocked = 0;
    for (int at = 0; at < number; at++) {
        const struct message *it = &messages[at];
        if (it->to != rank) continue;
        MPI_Comm comm = it->is_other ? other : MPI_COMM_WORLD;
        int from = it->is_other || it->tag == ANY_FROM ? MPI_ANY_SOURCE : it->from;
        int tag = it->is_other ? MPI_ANY_TAG : it->tag;
        switch_recording();
        /* Not twice in a round: the message that it waits for may be sent only when others have begun to receive. */
        if (!it->is_other && it->tag == 0 && !(is_active[from] && started_in[from] == round)) {
            if (is_active[from]) complete_persistent(from);
            OK(MPI_Start(&persistent[from]));
            is_active[from] = 1;
            started_in[from] = round;
        } else if (next(&own, 3) > 0 || tag == 0) {
            post(from, tag, comm);
        } else {
            blocking[blocked++] = at;
        }
    }
    for (int at = 0; at < number; at++) {
        const struct message *it = &messages[at];
        if (it->from != rank) continue;
        switch_recording();
        send(first_length + at, it->to, it->tag, it->is_other ? other : MPI_COMM_WORLD);
    }
    for (int at = 0; at < blocked; at++) {
        const struct message *it = &messages[blocking[at]];
        MPI_Comm comm = it->is_other ? other : MPI_COMM_WORLD;
        switch_recording();
        receive(it->is_other || it->tag == ANY_FROM ? MPI_ANY_SOURCE : it->from,
                it->is_other ? MPI_ANY_TAG : it->tag, comm);
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, 2);
    CHECK(size <= KEPT);
    common = 88172645463325252UL + (argc > 1 ? strtoul(argv[1], NULL, 10) : 1) * 7919;
    own = common + 104729UL * (rank + 1);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    for (int from = 0; from < size; from++)
        OK(MPI_Recv_init(kept[from], LONGEST, MPI_BYTE, from, 0, MPI_COMM_WORLD, &persistent[from]));
    int length = 1;
    for (int round = 0; round < ROUNDS; round++) {
        struct message messages[MOST];
        int number = 1 + (int)next(&common, MOST);
        for (int at = 0; at < number; at++) {
            messages[at].from = (int)next(&common, size);
            messages[at].to = (int)next(&common, size);
            messages[at].tag = (int)next(&common, TAGS);
            messages[at].is_other = next(&common, 4) == 0;
        }
        exchange(round, messages, number, length);
        length += number;
        /* In any order, some of them; an exchange that is over must not hold up a later one for ever. */
        for (int more = count / 2; more > 0 && count > 0; more--) {
            switch_recording();
            complete((int)next(&own, count));
        }
        if (next(&own, 8) == 0) {
            MPI_Request request;
            char nothing;
            OK(MPI_Irecv(&nothing, 1, MPI_BYTE, 0, 99, MPI_COMM_WORLD, &request));
            switch_recording();
            OK(MPI_Cancel(&request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        int sum, one = 1;
        if (next(&common, 2)) OK(MPI_Barrier(MPI_COMM_WORLD));
        if (next(&common, 3) == 0) OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other));
    }
    while (count > 0) complete((int)next(&own, count));
    for (int from = 0; from < size; from++) {
        if (is_active[from]) complete_persistent(from);
        OK(MPI_Request_free(&persistent[from]));
    }
    OK(MPI_Comm_free(&other));
    finish_receives();
    finish();
    return 0;
}
