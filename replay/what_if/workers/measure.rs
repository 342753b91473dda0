//! What a master does: its tasks in the order in which it sent them, its service, its iterations (what-if 6.2).

use std::collections::{BTreeMap, BTreeSet};

use model::Ticks;
use rustc_hash::FxHashMap;

use super::messages::Message;
use crate::ids::PathId;
use crate::journal::JournalSpot;
use crate::wire::wire;

/// What a worker tells its master of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Told {
    /// The event of its send, at the master.
    pub sent: JournalSpot,
    /// From the end of receiving it to the begin of sending back.
    pub work: Ticks,
    /// Bytes that are sent back.
    pub back: u64,
}

wire!(Told { sent, work, back });

/// A task as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MeasuredTask {
    /// Who did it.
    pub worker: u32,
    /// Bytes to the worker, and back.
    pub there: u64,
    pub back: u64,
    /// What the worker took.
    pub work: Ticks,
}

/// From the first task after all results are in to the last result before the next such moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Iteration {
    /// In the order in which the master sent them.
    pub tasks: Vec<MeasuredTask>,
    /// From the begin of sending the first one to the end of receiving the last result.
    pub ticks: Ticks,
    /// From the last result of each worker to that end, of all workers; all of it for those without a task.
    pub idle: Ticks,
    /// What the worker of the last result took for it.
    pub last: Ticks,
}

/// What a master did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Measured {
    /// In the order of time.
    pub iterations: Vec<Iteration>,
    /// Times between a receive and the task that was sent next.
    pub answering: Vec<Ticks>,
    /// Times between two tasks that were sent one after the other.
    pub handing: Vec<Ticks>,
    /// How often tasks were sent, and results received, by call path.
    pub sent_in: BTreeMap<PathId, u64>,
    pub received_in: BTreeMap<PathId, u64>,
}

impl Measured {
    /// Adds the messages of a master, in the order of time, of a stretch.
    pub(super) fn add(
        &mut self,
        messages: &[Message],
        workers: &BTreeSet<u32>,
        told: &FxHashMap<JournalSpot, Told>,
    ) {
        let task = |message: &Message| told.get(&message.sent).filter(|_| message.is_send);
        // A message without data is an end, unless tasks have none.
        let has_data = messages.iter().any(|message| message.bytes > 0 && task(message).is_some());
        let mut outstanding = BTreeMap::<u32, u64>::new();
        let mut all_outstanding = 0_u64;
        let mut iteration = Iteration::default();
        let mut ends = BTreeMap::<u32, Ticks>::new();
        let (mut begin, mut before) = (0, None::<(bool, Ticks)>);
        for message in messages.iter().filter(|message| workers.contains(&message.peer)) {
            if let Some(told) = task(message).filter(|_| message.bytes > 0 || !has_data) {
                match before {
                    _ if all_outstanding == 0 => begin = message.begin,
                    Some((true, end)) => self.handing.push((message.begin - end).max(0)),
                    Some((false, end)) => self.answering.push((message.begin - end).max(0)),
                    None => {}
                }
                let (worker, there, back, work) = (message.peer, message.bytes, told.back, told.work);
                iteration.tasks.push(MeasuredTask { worker, there, back, work });
                *self.sent_in.entry(message.path).or_default() += 1;
                *outstanding.entry(worker).or_default() += 1;
                all_outstanding += 1;
                before = Some((true, message.end));
            } else if message.is_send {
                before = None;
            } else {
                before = Some((false, message.end));
                let Some(count) = outstanding.get_mut(&message.peer).filter(|count| **count > 0) else {
                    continue;
                };
                *count -= 1;
                all_outstanding -= 1;
                *self.received_in.entry(message.path).or_default() += 1;
                ends.insert(message.peer, message.end);
                if all_outstanding == 0 {
                    iteration.ticks = message.end - begin;
                    iteration.idle =
                        workers.iter().map(|worker| message.end - ends.get(worker).unwrap_or(&begin)).sum();
                    let of_last = iteration.tasks.iter().rfind(|task| task.worker == message.peer);
                    iteration.last = of_last.map_or(0, |task| task.work);
                    self.iterations.push(std::mem::take(&mut iteration));
                    ends.clear();
                }
            }
        }
        // What is never answered, as where recording ends, is left out.
    }

    /// All tasks.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &MeasuredTask> {
        self.iterations.iter().flat_map(|iteration| &iteration.tasks)
    }

    /// The times of service, sorted: between a receive and the next task, or between tasks where there are none.
    pub(super) fn services(&self) -> Vec<Ticks> {
        let services = if self.answering.is_empty() { &self.handing } else { &self.answering };
        let mut services = services.clone();
        services.sort_unstable();
        services
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::what_if::workers::pattern::tests::message;

    fn told(messages: &[Message], work: Ticks) -> FxHashMap<JournalSpot, Told> {
        let of = |message: &Message| Told { sent: message.sent, work, back: 3 };
        messages.iter().filter(|message| message.is_send).map(|message| (message.sent, of(message))).collect()
    }

    #[test]
    fn iteration_ends_when_all_results_are_in() {
        let messages =
            [(10, 1, true), (14, 2, true), (50, 1, false), (55, 1, true), (60, 2, false), (90, 1, false)]
                .into_iter()
                .chain([(200, 2, true), (230, 2, false)])
                .map(|(time, peer, is_send)| message(time, peer, is_send))
                .collect::<Vec<_>>();
        let mut measured = Measured::default();
        measured.add(&messages, &[1, 2].into(), &told(&messages, 30));
        let found: Vec<(Vec<u32>, Ticks)> = measured
            .iterations
            .iter()
            .map(|it| (it.tasks.iter().map(|task| task.worker).collect(), it.ticks))
            .collect();
        assert_eq!(found, [(vec![1, 2, 1], 80), (vec![2], 30)]);
        // Of the second one worker 1 has no task.
        let idle: Vec<[Ticks; 2]> = measured.iterations.iter().map(|it| [it.idle, it.last]).collect();
        assert_eq!(idle, [[30, 30], [30, 30]]);
        assert_eq!((&measured.answering[..], &measured.handing[..]), (&[5][..], &[3][..]));
        assert_eq!(measured.services(), [5]);
        assert_eq!(measured.tasks().next(), Some(&MeasuredTask { worker: 1, there: 8, back: 3, work: 30 }));
    }

    #[test]
    fn questions_ends_and_others_are_no_tasks() {
        // Each asks first; the one without data is an end, though it is answered.
        let mut messages =
            [(10, 1, false), (20, 2, false), (22, 1, true), (25, 2, true), (40, 1, false), (50, 2, false)]
                .into_iter()
                .chain([(55, 1, true), (56, 9, true), (60, 1, false)])
                .map(|(time, peer, is_send)| message(time, peer, is_send))
                .collect::<Vec<_>>();
        messages[6].bytes = 0;
        let mut measured = Measured::default();
        measured.add(&messages, &[1, 2].into(), &told(&messages, 7));
        assert_eq!(measured.iterations.len(), 1);
        assert_eq!((measured.iterations[0].tasks.len(), measured.iterations[0].ticks), (2, 28));
        assert_eq!((measured.answering.len(), &measured.handing[..]), (0, &[2][..]));
    }
}
