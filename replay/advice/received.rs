//! What senders learn of their messages from those who receive them, for the table `message` (advice 5.2).
//!
//! A row has both sides, and is made at its sender, in the order of sends. What the receiver knows comes in rounds, each of some
//! senders of each worker, so that there is little at a time (advice 5.3).

use std::sync::Arc;

use model::Ticks;
use rules::ABSENT;
use rustc_hash::FxHashMap;

use super::in_mpi::InMpi;
use crate::causes::DelayClass;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::ids::{CallId, EventNumber, ReportPath};
use crate::int::{to_u32, to_u64};
use crate::matching::{Matches, SendFacts, Sides};
use crate::operations::{Envelope, Operations};
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;
use crate::wire::{self, Wire, wire};

/// Messages of a worker's senders in a round, about.
const MESSAGES: u64 = 1 << 18;

/// Rounds at most, about, as receivers go through all their messages in each.
const MOST_ROUNDS: u64 = 64;

/// Bytes of a message in a round: the words that are sent and received, and what they say; while lists grow.
const OF_MESSAGE: u64 = 3 * 2 * size_of::<Received>() as u64;

/// What the receiver of a message tells its sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    /// The event of the send.
    location: u32,
    position: EventNumber,
    /// The calls that post and complete the receive.
    pub post_path: ReportPath,
    pub receive_path: ReportPath,
    pub post_enter: Ticks,
    pub receive_enter: Ticks,
    pub receive_leave: Ticks,
    /// What the receiver waited because the message was sent late, and because the sender was outside of MPI.
    pub late: Ticks,
    pub stall: Ticks,
    /// Work between the two calls, or [`ABSENT`] if it is one.
    pub between: i64,
    /// Whether a message that was sent earlier has been received later.
    pub is_overtaken: bool,
}

wire!(Received {
    [location, position], [post_path, receive_path], post_enter, receive_enter, receive_leave, late, stall, between,
    is_overtaken,
});

impl Received {
    /// By the event of the send.
    fn key(&self) -> (u32, EventNumber) {
        (self.location, self.position)
    }
}

/// Times by the position of a message, ascending.
type ByMessage = Vec<(u32, Ticks)>;

/// What rows of messages need of a process.
#[derive(Debug)]
pub(super) struct Kept {
    pub process: usize,
    pub operations: Arc<Operations>,
    /// For each receive, the send.
    sends: Sides<SendFacts>,
    /// Waiting for late messages, and receives of late messages that others have overtaken.
    late: ByMessage,
    overtaken: Vec<u32>,
    /// Waiting for progress of messages that it receives, and of those that it sends.
    stalled: [ByMessage; 2],
    /// Waiting for the receivers of messages that it sends.
    late_receivers: ByMessage,
}

impl Kept {
    /// Of a process whose wait states are known.
    pub(super) fn new(walked: &Walked, matches: Matches, waiting: &WaitingMessages) -> Kept {
        let operations = Arc::clone(&walked.operations);
        let late = waiting.for_senders(&operations).map(|(at, _, ticks)| (at, ticks)).collect();
        let mut overtaken = waiting.overtaken.clone();
        overtaken.sort_unstable();
        Kept {
            process: walked.process.number,
            late: summed(late),
            overtaken,
            stalled: stalled(&operations, waiting),
            late_receivers: summed(waiting.sends.clone()),
            sends: matches.sends,
            operations,
        }
    }

    /// What the call that completes a send waits for its receiver, and for progress of the message.
    pub(super) fn waits_of_send(&self, at: u32) -> [Ticks; 2] {
        [of(&self.late_receivers, at), of(&self.stalled[1], at)]
    }

    /// Tells the senders in a round what they need to know.
    fn tell(
        &self,
        tools: &Tools<'_>,
        numbers: &[ReportPath],
        is_told: impl Fn(usize) -> bool,
        outgoing: &mut [Batch],
    ) {
        let operations = &*self.operations;
        let path = |call: CallId| {
            let path =
                operations.calls.find(call).and_then(|call| numbers.get(call.site.path.index()).copied());
            path.unwrap_or(ReportPath::NONE)
        };
        let mut in_mpi = None;
        for (position, receive) in operations.receives.iter().enumerate() {
            let peer = operations.source(receive).peer as usize;
            if !is_told(peer) {
                continue;
            }
            let Some(send) = self.sends.get(position) else { continue };
            let at = to_u32(position);
            let first = tools.trace.processes[self.process].locations.start;
            let in_mpi = in_mpi.get_or_insert_with(|| InMpi::new(first, operations));
            let (posting, call) = (operations.posting(at), operations.call(receive.call));
            let is_one = receive.posting == receive.call;
            let work = || in_mpi.outside(call.site.location, posting.leave, call.interval.enter);
            let received = Received {
                location: send.place.location,
                position: send.position,
                post_path: path(receive.posting),
                receive_path: path(receive.call),
                post_enter: posting.enter,
                receive_enter: call.interval.enter,
                receive_leave: call.interval.leave,
                late: of(&self.late, at),
                stall: of(&self.stalled[0], at),
                between: if is_one { ABSENT } else { work() },
                is_overtaken: self.overtaken.binary_search(&at).is_ok(),
            };
            received.put(&mut outgoing[tools.owners.of(peer)]);
        }
    }
}

/// Sums of times by message.
fn summed(mut times: ByMessage) -> ByMessage {
    times.sort_unstable();
    times.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        if is_same {
            first.1 = first.1.saturating_add(next.1);
        }
        is_same
    });
    times
}

/// The time of a message.
fn of(times: &[(u32, Ticks)], at: u32) -> Ticks {
    times.binary_search_by_key(&at, |&(at, _)| at).map_or(0, |found| times[found].1)
}

/// Waiting for progress by message: the first one that the call has received from the other process, or else has sent to it. A call
/// waits for one process, whatever it completes.
fn stalled(operations: &Operations, waiting: &WaitingMessages) -> [ByMessage; 2] {
    let stalls = waiting.edges.iter().filter(|edge| edge.class == DelayClass::Progress);
    let mut stalls: FxHashMap<(CallId, u32, u32), Ticks> =
        stalls.map(|edge| ((edge.call, edge.process, edge.communicator), edge.ticks)).collect();
    if stalls.is_empty() {
        return Default::default();
    }
    let mut take = |at: usize, call: CallId, envelope: &Envelope| {
        let ticks = stalls.remove(&(call, envelope.peer, envelope.communicator))?;
        Some((to_u32(at), ticks))
    };
    let receives = operations.receives.iter().enumerate();
    let of_receives = receives.filter_map(|(at, it)| take(at, it.call, operations.source(it))).collect();
    let sends = operations.sends.iter().enumerate();
    let of_sends = sends.filter_map(|(at, it)| take(at, it.completion, operations.destination(it))).collect();
    [of_receives, of_sends]
}

/// For each process of the trace the round of the messages that it sends, the number of rounds, and how many messages of this worker's
/// senders and of all senders may be in one; the same rounds at all workers.
fn rounds(
    tools: &Tools<'_>,
    kept: &[Kept],
    exchange: &mut dyn Exchange,
) -> Result<(Vec<u64>, u64, [u64; 2]), Error> {
    let own = kept.iter().map(|kept| to_u64(kept.operations.sends.len())).collect();
    let told = share(exchange, own)?;
    let most = told.iter().map(|counts| counts.iter().sum::<u64>()).max().unwrap_or(0);
    let of_round = MESSAGES.max(most / MOST_ROUNDS);
    let mut rounds = vec![0; tools.trace.processes.len()];
    let (mut last, mut largest) = (0, [0; 2]);
    for (worker, counts) in told.iter().enumerate() {
        let first = tools.owners.first(worker);
        let of_worker = cut(counts, of_round);
        for (at, &(round, _)) in of_worker.iter().enumerate() {
            rounds[first + at] = round;
            last = last.max(round);
        }
        let of_worker = of_worker.iter().map(|&(_, messages)| messages).max().unwrap_or(0);
        largest[1] += of_worker;
        if worker == exchange.worker() {
            largest[0] = of_worker;
        }
    }
    Ok((rounds, last + 1, largest))
}

/// For senders with so many messages each the round, and the messages of the round up to it: a round has those of one sender at least.
fn cut(counts: &[u64], of_round: u64) -> Vec<(u64, u64)> {
    let (mut round, mut messages) = (0, 0);
    let next = |&count: &u64| {
        if messages > 0 && messages + count > of_round {
            (round, messages) = (round + 1, 0);
        }
        messages += count;
        (round, messages)
    };
    counts.iter().map(next).collect()
}

/// Calls a function for each process of this worker, in their order: with its position, and what is known of the messages that it has
/// sent.
///
/// # Errors
/// If a worker failed, or the memory is short.
pub(super) fn for_each_sender(
    tools: &Tools<'_>,
    (kept, paths): (&[Kept], &ReportPaths),
    exchange: &mut dyn Exchange,
    mut of_sender: impl FnMut(usize, &Messages),
) -> Result<(), Error> {
    let (round_of, rounds, [sent, of_all]) = rounds(tools, kept, exchange)?;
    let receives = kept.iter().map(|kept| to_u64(kept.operations.receives.len())).sum::<u64>();
    tools.memory.check(OF_MESSAGE * (sent + receives.min(of_all)))?;
    for round in 0..rounds {
        let mut outgoing = vec![Batch::new(); exchange.workers()];
        for (kept, numbers) in kept.iter().zip(&paths.numbers) {
            kept.tell(tools, numbers, |sender| round_of[sender] == round, &mut outgoing);
        }
        let told = exchange.exchange(outgoing)?;
        let mut messages: Vec<Messages> = kept.iter().map(|_| Messages::default()).collect();
        let first = kept.first().map_or(0, |kept| kept.process);
        for received in told.iter().flat_map(|batch| wire::all::<Received>(batch)) {
            messages[tools.process_of(received.location) - first].0.push(received);
        }
        let in_round = |&(_, kept): &(usize, &Kept)| round_of[kept.process] == round;
        for (at, _) in kept.iter().enumerate().filter(in_round) {
            messages[at].0.sort_unstable_by_key(Received::key);
            of_sender(at, &messages[at]);
            messages[at] = Messages::default();
        }
    }
    Ok(())
}

/// What is known of the messages of a sender, by the event of the send.
#[derive(Debug, Default)]
pub(super) struct Messages(Vec<Received>);

impl Messages {
    /// What is known of a message; `None` if nobody has received it.
    pub(super) fn find(&self, location: u32, position: EventNumber) -> Option<&Received> {
        let found = self.0.binary_search_by_key(&(location, position), Received::key);
        found.ok().map(|at| &self.0[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_have_one_sender_at_least_and_few_messages_else() {
        let rounds: Vec<u64> = cut(&[0, 3, 2, 9, 1, 1, 4], 5).into_iter().map(|(round, _)| round).collect();
        assert_eq!(rounds, [0, 0, 0, 1, 2, 2, 3]);
    }

    #[test]
    fn times_of_a_message_are_summed() {
        let times = summed(vec![(5, 2), (1, 7), (5, 3)]);
        assert_eq!(times, [(1, 7), (5, 5)]);
        assert_eq!([of(&times, 5), of(&times, 2)], [5, 0]);
    }
}
