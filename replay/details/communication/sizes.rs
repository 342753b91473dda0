//! The table `sizes`: messages by call path of the receive and by length, and how long they took.
//!
//! The receiver counts its messages, and those that it knows the time of (`transfers.rs`). The sender knows the time of
//! others, and what it has waited for the receiver; with the [`Receipt`](crate::matching::Receipt) it adds them to the
//! call path of the receiver.

use details::manifest::Complete;
use details::{Column, Table, Unit};
use rustc_hash::FxHashMap;

use super::Known;
use super::matrix::ticks;
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::ids::{PathId, ReportPath};
use crate::int::to_u32;
use crate::matching::Matches;
use crate::operations::Operations;
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;
use crate::wire::{Half, Wire, wire};

/// The class of a length: 0 for no bytes, *k* for 2^(*k*−1) ≤ bytes < 2^*k*.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) struct Class(u8);

impl Class {
    fn of(bytes: u64) -> Class {
        Class((u64::BITS - bytes.leading_zeros()).to_le_bytes()[0])
    }
}

impl Wire for Class {
    fn put(&self, batch: &mut Batch) {
        batch.push(self.0.into());
    }

    fn get(reader: &mut BatchReader<'_>) -> Class {
        Class(reader.word().to_le_bytes()[0])
    }
}

/// Numbers of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Numbers {
    messages: u64,
    bytes: u64,
    late_senders: u64,
    late_sender: u64,
    late_receivers: u64,
    late_receiver: u64,
    /// Messages that nobody waited for, and that did not arrive before they were sent.
    timed: u64,
    /// The least time of those; [`u64::MAX`] without any.
    fastest: u64,
    /// Their sum.
    transfer: u64,
}

wire!(Numbers {
    messages,
    bytes,
    late_senders,
    late_sender,
    late_receivers,
    late_receiver,
    timed,
    fastest,
    transfer,
});

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers {
            messages: 0,
            bytes: 0,
            late_senders: 0,
            late_sender: 0,
            late_receivers: 0,
            late_receiver: 0,
            timed: 0,
            fastest: u64::MAX,
            transfer: 0,
        }
    }
}

impl Numbers {
    fn add(&mut self, other: &Numbers) {
        self.messages = self.messages.saturating_add(other.messages);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.late_senders = self.late_senders.saturating_add(other.late_senders);
        self.late_sender = self.late_sender.saturating_add(other.late_sender);
        self.late_receivers = self.late_receivers.saturating_add(other.late_receivers);
        self.late_receiver = self.late_receiver.saturating_add(other.late_receiver);
        self.timed = self.timed.saturating_add(other.timed);
        self.fastest = self.fastest.min(other.fastest);
        self.transfer = self.transfer.saturating_add(other.transfer);
    }

    /// Adds the time of a message.
    fn add_time(&mut self, time: u64) {
        self.timed += 1;
        self.fastest = self.fastest.min(time);
        self.transfer = self.transfer.saturating_add(time);
    }
}

/// Receiver, call path of the receives in its tree, class of length.
type Key = (u32, PathId, Class);

/// What a worker knows of messages that a process receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Size {
    pub(super) receiver: u32,
    path: PathId,
    class: Class,
    numbers: Numbers,
}

wire!(Size { [receiver, path], class, numbers });

/// A row of the table: call path, class of length, and the numbers of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    path: ReportPath,
    class: Class,
    numbers: Numbers,
}

wire!(Row { path, class, numbers });

/// What a worker's processes know of messages that they receive, or send.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    list: Vec<Size>,
    places: FxHashMap<Key, u32>,
    /// Of each envelope of a process.
    recent: Vec<Recent>,
}

/// The place of the last message with an envelope: most others of it have the same.
#[derive(Clone, Copy, Debug)]
struct Recent {
    path: PathId,
    class: Class,
    place: u32,
}

/// Of an envelope without messages so far.
const UNUSED: Recent = Recent { path: PathId::NONE, class: Class(0), place: 0 };

impl Sizes {
    /// Adds the next process.
    pub(super) fn collect(&mut self, walked: &Walked, matches: &Matches, waiting: &WaitingMessages) {
        let operations = &*walked.operations;
        self.receives(to_u32(walked.process.number), operations, waiting);
        self.sends(operations, matches, waiting);
    }

    /// Adds the messages that a process has received, as the report counts them.
    fn receives(&mut self, receiver: u32, operations: &Operations, waiting: &WaitingMessages) {
        let mut recent = self.unused(operations.sources.list().len());
        let deliveries = waiting.deliveries();
        for (receive, message) in operations.receives.iter().zip(deliveries) {
            let site = operations.site(receive.call);
            if site.is_mpi {
                let key = (receiver, site.path, Class::of(message.bytes));
                let numbers = self.of(&mut recent[receive.envelope()], key);
                numbers.messages += 1;
                numbers.bytes = numbers.bytes.saturating_add(message.bytes);
                message.time.into_iter().for_each(|time| numbers.add_time(time));
            }
        }
        for (at, call, waited) in waiting.for_senders(operations) {
            let receive = &operations.receives[at as usize];
            // A probe waits, but receives nothing.
            let [waits, counts] = [call, receive.call].map(|call| operations.site(call));
            let Some(message) = deliveries.get(at as usize) else { continue };
            let class = Class::of(message.bytes);
            if waits.is_mpi {
                let key = (receiver, waits.path, class);
                let numbers = self.of(&mut recent[receive.envelope()], key);
                numbers.late_sender = numbers.late_sender.saturating_add(ticks(waited));
            }
            if counts.is_mpi {
                let key = (receiver, counts.path, class);
                self.of(&mut recent[receive.envelope()], key).late_senders += 1;
            }
        }
        self.recent = recent;
    }

    /// Adds what a process knows of the messages that it has sent: how long some took, and what it waited.
    fn sends(&mut self, operations: &Operations, matches: &Matches, waiting: &WaitingMessages) {
        let mut recent = self.unused(operations.destinations.list().len());
        let receipt = |at: u32| matches.postings.receipt(at as usize);
        for &(at, time) in waiting.transfers.iter().flat_map(|transfers| &transfers.sent) {
            let send = &operations.sends[at as usize];
            if let Some(receipt) = receipt(at).filter(|receipt| receipt.is_mpi) {
                let key = (operations.destination(send).peer, receipt.path, Class::of(send.bytes));
                self.of(&mut recent[send.envelope()], key).add_time(time);
            }
        }
        for &(at, waited) in &waiting.sends {
            let send = &operations.sends[at as usize];
            let is_mpi = operations.calls.find(send.completion).is_some_and(|call| call.site.is_mpi);
            let Some(receipt) = receipt(at).filter(|_| is_mpi) else { continue };
            let key = (operations.destination(send).peer, receipt.path, Class::of(send.bytes));
            let numbers = self.of(&mut recent[send.envelope()], key);
            numbers.late_receivers += 1;
            numbers.late_receiver = numbers.late_receiver.saturating_add(ticks(waited));
        }
        self.recent = recent;
    }

    /// Returns the list of recent places, which are not used so far.
    fn unused(&mut self, envelopes: usize) -> Vec<Recent> {
        let mut recent = std::mem::take(&mut self.recent);
        recent.clear();
        recent.resize(envelopes, UNUSED);
        recent
    }

    /// The numbers of a key, which a recent message may have had.
    #[inline]
    fn of(&mut self, recent: &mut Recent, key: Key) -> &mut Numbers {
        let (_, path, class) = key;
        if (recent.path, recent.class) != (path, class) {
            *recent = Recent { path, class, place: self.place(key) };
        }
        &mut self.list[recent.place as usize].numbers
    }

    fn place(&mut self, key: Key) -> u32 {
        let (receiver, path, class) = key;
        *self.places.entry(key).or_insert_with(|| {
            self.list.push(Size { receiver, path, class, numbers: Numbers::default() });
            to_u32(self.list.len() - 1)
        })
    }

    /// Frees what is needed only to add processes: rows are merged by call paths of the report later.
    pub(super) fn finish(&mut self) {
        self.places = FxHashMap::default();
        self.list.shrink_to_fit();
    }

    /// Takes what the owners of other processes need to know; `is_mine` are those of this worker.
    pub(super) fn take_others(&mut self, is_mine: impl Fn(u32) -> bool) -> Vec<Size> {
        let (mine, others) =
            std::mem::take(&mut self.list).into_iter().partition(|size| is_mine(size.receiver));
        self.list = mine;
        others
    }

    /// Adds what another worker knows of messages to processes of this one.
    pub(super) fn hear(&mut self, told: Vec<Size>) {
        self.list.extend(told);
    }

    /// The rows of this worker's processes; `number` returns the number of a process's call path in the report.
    pub(super) fn into_rows(self, number: impl Fn(u32, PathId) -> Option<ReportPath>) -> Vec<Row> {
        let row = |Size { receiver, path, class, numbers }| {
            Some(Row { path: number(receiver, path)?, class, numbers })
        };
        merged(self.list.into_iter().filter_map(row))
    }
}

/// Rows by call path and class, equal ones summed.
fn merged(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let mut sums: FxHashMap<(ReportPath, Class), Numbers> = FxHashMap::default();
    for Row { path, class, numbers } in rows {
        sums.entry((path, class)).or_default().add(&numbers);
    }
    let row = |((path, class), numbers)| Row { path, class, numbers };
    let mut rows: Vec<Row> = sums.into_iter().map(row).collect();
    rows.sort_unstable_by_key(|row| (row.path, row.class));
    rows
}

/// Makes the table of the rows of all workers.
pub(super) fn table(rows: Vec<Row>) -> Known {
    let rows = merged(rows.into_iter());
    let column = |name: &str, unit: Unit, of: fn(&Numbers) -> u64| {
        Column::of_numbers(name, Some(unit), rows.iter().map(move |row| of(&row.numbers)))
    };
    let cnode = rows.iter().map(|row| row.path.to_half().into());
    let columns = vec![
        Column::of_numbers("cnode", Some(Unit::Cnode), cnode).delta(),
        Column::of_numbers("class", None, rows.iter().map(|row| row.class.0.into())),
        column("messages", Unit::Count, |it| it.messages),
        column("bytes", Unit::Byte, |it| it.bytes),
        column("late_senders", Unit::Count, |it| it.late_senders),
        column("late_sender", Unit::Tick, |it| it.late_sender),
        column("late_receivers", Unit::Count, |it| it.late_receivers),
        column("late_receiver", Unit::Tick, |it| it.late_receiver),
        column("timed", Unit::Count, |it| it.timed),
        column("fastest", Unit::Tick, |it| if it.timed > 0 { it.fastest } else { 0 }),
        column("transfer", Unit::Tick, |it| it.transfer),
    ];
    (Table { name: "sizes".into(), columns }, Complete::Is(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_is_the_number_of_bits_of_the_length() {
        let lengths = [0, 1, 2, 3, 4, 1023, 1024, u64::MAX];
        assert_eq!(lengths.map(Class::of), [0, 1, 2, 2, 3, 10, 11, 64].map(Class));
    }

    #[test]
    fn rows_of_one_call_path_and_class_are_summed() {
        let row = |path: usize, class, fastest| Row {
            path: ReportPath::new(path),
            class: Class(class),
            numbers: Numbers { messages: 1, timed: 1, fastest, transfer: fastest, ..Numbers::default() },
        };
        let untimed = Row { numbers: Numbers { messages: 2, ..Numbers::default() }, ..row(2, 0, 0) };
        let (table, complete) = table(vec![row(3, 1, 9), untimed, row(3, 1, 4), row(3, 0, 5)]);
        let numbers = |name: &str| table.column(name).unwrap().values.numbers().unwrap();
        assert_eq!((numbers("cnode"), numbers("class")), (vec![2, 3, 3], vec![0, 0, 1]));
        assert_eq!(numbers("messages"), [2, 1, 2]);
        assert_eq!((numbers("fastest"), numbers("transfer")), (vec![0, 5, 4], vec![0, 5, 13]));
        assert_eq!(complete, Complete::Is(true));
    }

    #[test]
    fn owners_of_receivers_are_told() {
        let mut sizes = Sizes::default();
        let key = |receiver| (receiver, PathId::new(1), Class(3));
        let places = [4, 9, 4].map(|receiver| sizes.place(key(receiver)));
        assert_eq!(places, [0, 1, 0]);
        let told = sizes.take_others(|receiver| receiver == 4);
        assert_eq!(told.iter().map(|size| size.receiver).collect::<Vec<_>>(), [9]);
        sizes.hear(told);
        let rows = sizes.into_rows(|receiver, _| (receiver == 4).then(|| ReportPath::new(8)));
        assert_eq!(rows.len(), 1);
    }
}
