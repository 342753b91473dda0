//! The table `matrix`: messages, bytes and waiting of each pair of processes.

use std::cmp::Reverse;

use details::manifest::Complete;
use details::{Column, Table, Unit};
use model::Ticks;
use rustc_hash::FxHashMap;

use super::processes::Caused;
use super::{Known, NONE};
use crate::exchange::Batch;
use crate::exchange::batch::{halves, pair};
use crate::int::{to_u32, to_u64};
use crate::operations::{Envelope, Operations};
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;
use crate::wire::wire;

/// Rows of the table, without those of what is left out: pairs are limited so that there are no more.
const ROWS: u64 = 1 << 21;

/// The number of limits to choose from: 1, 2, 4, …, 65,536 partners of a receiver.
const LIMITS: usize = 17;

/// For each limit how many pairs there are, if each receiver keeps no more partners; then how many there are.
pub(super) type Counts = [u64; LIMITS + 1];

/// Words of a row in a batch.
const WORDS: usize = 6;

/// What a receiver got from a sender by a communicator, and what both waited for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Pair {
    communicator: u32,
    source: u32,
    messages: u32,
    late_senders: u32,
    late_receivers: u32,
    bytes: u64,
    late_sender: u64,
    late_receiver: u64,
}

impl Pair {
    fn partner(&self) -> (u32, u32) {
        (self.communicator, self.source)
    }

    fn waiting(&self) -> u64 {
        self.late_sender.saturating_add(self.late_receiver)
    }

    fn is_nothing(&self) -> bool {
        self.messages == 0 && self.waiting() == 0
    }

    /// Adds the numbers of another pair.
    fn add(&mut self, other: &Pair) {
        self.messages = self.messages.saturating_add(other.messages);
        self.late_senders = self.late_senders.saturating_add(other.late_senders);
        self.late_receivers = self.late_receivers.saturating_add(other.late_receivers);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.late_sender = self.late_sender.saturating_add(other.late_sender);
        self.late_receiver = self.late_receiver.saturating_add(other.late_receiver);
    }

    fn put_row(&self, destination: u32, batch: &mut Batch) {
        batch.extend([
            pair(self.communicator, self.source),
            pair(destination, self.messages),
            pair(self.late_senders, self.late_receivers),
            self.bytes,
            self.late_sender,
            self.late_receiver,
        ]);
    }
}

/// What a sender waited for a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PairWait {
    pub(super) destination: u32,
    communicator: u32,
    source: u32,
    late_receivers: u32,
    late_receiver: u64,
}

wire!(PairWait { [destination, communicator], [source, late_receivers], late_receiver });

impl PairWait {
    /// What the receiver has caused.
    pub(super) fn caused(&self) -> Caused {
        let (count, ticks) = (self.late_receivers.into(), self.late_receiver);
        Caused { process: self.destination, count, ticks }
    }
}

/// Waiting time, which is never negative.
pub(super) fn ticks(waiting: Ticks) -> u64 {
    u64::try_from(waiting).unwrap_or(0)
}

/// The pairs of a worker's receivers.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// Pairs of one receiver after the other, of each by communicator and source.
    pairs: Vec<Pair>,
    /// Where the pairs of each receiver end.
    ends: Vec<usize>,
    /// What senders of this worker waited.
    waits: Vec<PairWait>,
}

impl Pairs {
    /// Adds the next process.
    pub(super) fn collect(&mut self, walked: &Walked, waiting: &WaitingMessages) {
        let operations = &*walked.operations;
        self.receives(operations, waiting);
        self.sends(to_u32(walked.process.number), operations, waiting);
    }

    /// Adds the messages that a process has received, as the report counts them.
    fn receives(&mut self, operations: &Operations, waiting: &WaitingMessages) {
        let of = |&Envelope { communicator, peer, .. }: &Envelope| Pair {
            communicator,
            source: peer,
            ..Pair::default()
        };
        let mut by_envelope: Vec<Pair> = operations.sources.list().iter().map(of).collect();
        for (receive, message) in operations.receives.iter().zip(waiting.deliveries()) {
            if operations.site(receive.call).is_mpi {
                let sum = &mut by_envelope[receive.envelope()];
                sum.messages += 1;
                sum.bytes = sum.bytes.saturating_add(message.bytes);
            }
        }
        for (at, call, waited) in waiting.for_senders(operations) {
            let receive = &operations.receives[at as usize];
            if operations.site(call).is_mpi {
                let sum = &mut by_envelope[receive.envelope()];
                sum.late_senders += 1;
                sum.late_sender = sum.late_sender.saturating_add(ticks(waited));
            }
        }
        by_envelope.sort_unstable_by_key(Pair::partner);
        for of_partner in by_envelope.chunk_by(|a, b| a.partner() == b.partner()) {
            let (mut sum, others) = (of_partner[0], &of_partner[1..]);
            others.iter().for_each(|other| sum.add(other));
            self.pairs.push(sum);
        }
        self.ends.push(self.pairs.len());
    }

    /// Adds what a process waited for receivers.
    fn sends(&mut self, source: u32, operations: &Operations, waiting: &WaitingMessages) {
        let first = self.waits.len();
        for &(at, waited) in &waiting.sends {
            let send = &operations.sends[at as usize];
            if operations.calls.find(send.completion).is_some_and(|call| call.site.is_mpi) {
                let &Envelope { communicator, peer: destination, .. } = operations.destination(send);
                let (late_receivers, late_receiver) = (1, ticks(waited));
                self.waits.push(PairWait {
                    destination,
                    communicator,
                    source,
                    late_receivers,
                    late_receiver,
                });
            }
        }
        let mine = &mut self.waits[first..];
        mine.sort_unstable_by_key(|wait| (wait.destination, wait.communicator));
        let mut kept = first;
        for at in first..self.waits.len() {
            let wait = self.waits[at];
            match self.waits[first..kept].last_mut() {
                Some(before)
                    if (before.destination, before.communicator) == (wait.destination, wait.communicator) =>
                {
                    before.late_receivers += 1;
                    before.late_receiver = before.late_receiver.saturating_add(wait.late_receiver);
                }
                _ => {
                    self.waits[kept] = wait;
                    kept += 1;
                }
            }
        }
        self.waits.truncate(kept);
    }

    /// Takes what senders of this worker waited, for the owners of the receivers.
    pub(super) fn take_waits(&mut self) -> Vec<PairWait> {
        std::mem::take(&mut self.waits)
    }

    /// What senders have made receivers of this worker wait, by sender.
    pub(super) fn caused(&self) -> Vec<Caused> {
        let mut by_sender: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
        for pair in self.pairs.iter().filter(|pair| pair.late_senders > 0) {
            let (count, ticks) = by_sender.entry(pair.source).or_default();
            *count += u64::from(pair.late_senders);
            *ticks = pair.late_sender.saturating_add(*ticks);
        }
        let mut caused: Vec<Caused> =
            by_sender.into_iter().map(|(process, (count, ticks))| Caused { process, count, ticks }).collect();
        caused.sort_unstable_by_key(|caused| caused.process);
        caused
    }

    /// Adds what a sender waited for a receiver of this worker, whose first process is `first`.
    pub(super) fn hear(&mut self, first: u32, wait: &PairWait) {
        let of_receiver = self.of((wait.destination - first) as usize);
        let pairs = &mut self.pairs[of_receiver];
        let partner = (wait.communicator, wait.source);
        // The message was received, so there is a pair.
        if let Ok(at) = pairs.binary_search_by_key(&partner, Pair::partner) {
            let pair = &mut pairs[at];
            pair.late_receivers = pair.late_receivers.saturating_add(wait.late_receivers);
            pair.late_receiver = pair.late_receiver.saturating_add(wait.late_receiver);
        }
    }

    /// The places of a receiver's pairs.
    fn of(&self, receiver: usize) -> std::ops::Range<usize> {
        let start = receiver.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[receiver]
    }

    /// The numbers of pairs.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for receiver in 0..self.ends.len() {
            let partners = to_u64(self.of(receiver).len());
            for (at, count) in counts[..LIMITS].iter_mut().enumerate() {
                *count += partners.min(1 << at);
            }
        }
        counts[LIMITS] = to_u64(self.pairs.len());
        counts
    }

    /// Appends the rows of all receivers, the first of which is `first`: of each the partners with most waiting, then most
    /// bytes, then the lowest numbers, and one row for all others.
    pub(super) fn put_rows(self, first: u32, limit: usize, batch: &mut Batch) {
        for (receiver, destination) in (0..self.ends.len()).zip(first..) {
            let pairs = &self.pairs[self.of(receiver)];
            if pairs.len() <= limit {
                let rows = pairs.iter().filter(|pair| !pair.is_nothing());
                rows.for_each(|pair| pair.put_row(destination, batch));
                continue;
            }
            let mut pairs = pairs.to_vec();
            pairs.sort_unstable_by_key(|pair| (Reverse((pair.waiting(), pair.bytes)), pair.partner()));
            let (kept, others) = pairs.split_at_mut(limit);
            kept.sort_unstable_by_key(|pair| pair.partner());
            let rows = kept.iter().filter(|pair| !pair.is_nothing());
            rows.for_each(|pair| pair.put_row(destination, batch));
            let rest = rest(others);
            if !rest.is_nothing() {
                rest.put_row(destination, batch);
            }
        }
    }
}

/// The sum of pairs, with the communicator that all have.
fn rest(pairs: &[Pair]) -> Pair {
    let communicator = pairs.first().map_or(NONE, |pair| pair.communicator);
    let is_one = pairs.iter().all(|pair| pair.communicator == communicator);
    let communicator = if is_one { communicator } else { NONE };
    let mut sum = Pair { communicator, source: NONE, ..Pair::default() };
    pairs.iter().for_each(|pair| sum.add(pair));
    sum
}

/// The number of partners that each receiver keeps: the largest with which there are few enough pairs.
pub(super) fn limit(counts: &Counts) -> usize {
    1 << counts[..LIMITS].iter().rposition(|&count| count <= ROWS).unwrap_or(0)
}

/// The order of rows by communicator, source and receiver, in which they are already of each receiver.
fn order(rows: &[&[u64]]) -> Vec<u32> {
    let order = (0..to_u32(rows.len())).collect();
    let order = sorted(order, |at| halves(rows[at as usize][0]).1);
    sorted(order, |at| halves(rows[at as usize][0]).0)
}

/// Sorts by a key of which there are few values, and which may be none; of equal ones the order stays.
fn sorted(order: Vec<u32>, key: impl Fn(u32) -> u32) -> Vec<u32> {
    let place = |at: u32| key(at).wrapping_add(1) as usize;
    let places = order.iter().map(|&at| place(at)).max().unwrap_or(0) + 1;
    let mut ends = vec![0_u32; places];
    order.iter().for_each(|&at| ends[place(at)] += 1);
    // None, whose place is the first one, comes last.
    let mut end = 0;
    for place in (1..places).chain([0]) {
        end += ends[place];
        ends[place] = end;
    }
    let mut sorted = vec![0; order.len()];
    for &at in order.iter().rev() {
        let end = &mut ends[place(at)];
        *end -= 1;
        sorted[*end as usize] = at;
    }
    sorted
}

/// Makes the table of the rows of all workers, in the order of receivers.
pub(super) fn table(rows: &[&[u64]], counts: &Counts) -> Known {
    let rows: Vec<&[u64]> = rows.iter().flat_map(|rows| rows.chunks_exact(WORDS)).collect();
    let order = order(&rows);
    fn high(word: u64) -> u64 {
        halves(word).0.into()
    }
    fn low(word: u64) -> u64 {
        halves(word).1.into()
    }
    let column = |name: &str, unit: Option<Unit>, word: usize, part: fn(u64) -> u64| {
        Column::of_numbers(name, unit, order.iter().map(|&at| part(rows[at as usize][word])))
    };
    let columns = vec![
        column("communicator", None, 0, high).delta(),
        column("source", Some(Unit::Process), 0, low).delta(),
        column("destination", Some(Unit::Process), 1, high).delta(),
        column("messages", Some(Unit::Count), 1, low).raw_if_noise(),
        column("bytes", Some(Unit::Byte), 3, |word| word).raw_if_noise(),
        column("late_sender", Some(Unit::Tick), 4, |word| word).raw_if_noise(),
        column("late_senders", Some(Unit::Count), 2, high).raw_if_noise(),
        column("late_receiver", Some(Unit::Tick), 5, |word| word).raw_if_noise(),
        column("late_receivers", Some(Unit::Count), 2, low).raw_if_noise(),
    ];
    let kept = limit(counts);
    let (all, shown) = (counts[LIMITS], counts[kept.trailing_zeros() as usize]);
    let complete = match all > shown {
        true => Complete::No(format!(
            "{} of {all} pairs are summed up by receiver, in rows without source: each receiver has {kept} partners at most",
            all - shown
        )),
        false => Complete::Is(true),
    };
    (Table { name: "matrix".into(), columns }, complete)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::batch::BatchReader;

    /// Pairs of one receiver: source, messages, ticks of late senders.
    fn pairs(receivers: &[&[(u32, u32, u64)]]) -> Pairs {
        let mut all = Pairs::default();
        for receiver in receivers {
            all.pairs.extend(receiver.iter().map(|&(source, messages, late_sender)| Pair {
                source,
                messages,
                late_sender,
                late_senders: u32::from(late_sender > 0),
                bytes: u64::from(messages) * 8,
                ..Pair::default()
            }));
            all.ends.push(all.pairs.len());
        }
        all
    }

    /// Columns of the table as numbers, and whether it is complete.
    fn table_of(pairs: Pairs, limit: usize, counts: &Counts) -> (Vec<[u64; 5]>, Complete) {
        let mut batch = Batch::new();
        pairs.put_rows(7, limit, &mut batch);
        assert!(BatchReader::new(&batch).rest().len().is_multiple_of(WORDS));
        let (table, complete) = table(&[&batch, &[]], counts);
        let columns = ["communicator", "source", "destination", "messages", "late_sender"];
        let columns = columns.map(|name| table.column(name).unwrap().values.numbers().unwrap());
        let rows = (0..table.rows()).map(|row| std::array::from_fn(|at| columns[at][row])).collect();
        (rows, complete)
    }

    #[test]
    fn rows_are_sorted_by_source_then_destination() {
        let pairs = pairs(&[&[(1, 2, 0), (5, 1, 0)], &[], &[(1, 3, 4), (2, 0, 0)]]);
        let counts = pairs.counts();
        assert_eq!((counts[0], counts[1], counts[LIMITS], limit(&counts)), (2, 4, 4, 1 << 16));
        let (rows, complete) = table_of(pairs, limit(&counts), &counts);
        assert_eq!(rows, [[0, 1, 7, 2, 0], [0, 1, 9, 3, 4], [0, 5, 7, 1, 0]]);
        assert_eq!(complete, Complete::Is(true));
    }

    #[test]
    fn receiver_keeps_those_with_most_waiting_then_bytes_and_adds_up_the_others() {
        let of_one = [(0, 1, 0), (1, 5, 0), (2, 1, 9), (3, 5, 0), (4, 1, 0)];
        let pairs = pairs(&[&of_one, &[(0, 1, 0)]]);
        let mut counts = pairs.counts();
        // As if there were many more.
        counts[2..LIMITS].iter_mut().for_each(|count| *count += ROWS);
        assert_eq!(limit(&counts), 2);
        let (rows, complete) = table_of(pairs, 2, &counts);
        let none = u64::from(NONE);
        assert_eq!(rows, [[0, 0, 8, 1, 0], [0, 1, 7, 5, 0], [0, 2, 7, 1, 9], [0, none, 7, 7, 0]]);
        assert!(matches!(complete, Complete::No(what) if what.starts_with("3 of 6 pairs are summed up")));
    }

    #[test]
    fn rest_has_the_communicator_of_all_or_none() {
        let of = |communicator| Pair { communicator, messages: u32::MAX, bytes: u64::MAX, ..Pair::default() };
        assert_eq!(rest(&[of(3), of(3)]), Pair { source: NONE, ..of(3) });
        assert_eq!(rest(&[of(3), of(4)]), Pair { source: NONE, ..of(NONE) });
    }

    #[test]
    fn each_receiver_keeps_at_least_one_partner() {
        assert_eq!(limit(&[ROWS + 1; LIMITS + 1]), 1);
        assert_eq!(limit(&Counts::default()), 1 << 16);
    }

    #[test]
    fn waits_of_senders_reach_their_pair_and_their_cause() {
        let mut pairs = pairs(&[&[(1, 2, 0), (5, 1, 0)], &[(1, 1, 3)]]);
        let wait =
            PairWait { destination: 7, communicator: 0, source: 5, late_receivers: 2, late_receiver: 11 };
        pairs.hear(7, &wait);
        // There is no such pair: nothing happens.
        pairs.hear(7, &PairWait { source: 6, ..wait });
        let pair = pairs.pairs[1];
        assert_eq!((pair.late_receivers, pair.late_receiver), (2, 11));
        assert_eq!(wait.caused(), Caused { process: 7, count: 2, ticks: 11 });
        assert_eq!(pairs.caused(), [Caused { process: 1, count: 1, ticks: 3 }]);
    }
}
