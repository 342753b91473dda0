//! Who is a master of whom: what a worker says of its messages, and what a master makes of it (what-if 6.1).

use std::collections::{BTreeMap, BTreeSet};

use model::Ticks;

use super::messages::Message;
use crate::wire::wire;

/// What a process says of the one that it gets tasks from, in a stretch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Claim {
    /// The process that gives tasks.
    pub master: u32,
    /// The one that says so.
    pub worker: u32,
    /// The stretch between operations of all.
    pub stretch: u32,
    /// Whether its first message with the master is one that it sends: it asks for tasks.
    pub asks: bool,
    /// How many messages it has answered.
    pub answered: u64,
}

wire!(Claim { [master, worker], [stretch, asks], answered });

/// A task: what was received, what was sent back, as positions in a list of messages, and the time between.
pub(super) type Answered = (usize, usize, Ticks);

/// The tasks among messages with a master, in the order of time: a message that is received, and the next one that is sent back.
/// Work begins when the task is there, and what was done before is sent.
pub(super) fn tasks(messages: &[&Message]) -> Vec<Answered> {
    let mut waiting = Vec::new();
    let mut tasks = Vec::new();
    let mut free = Ticks::MIN;
    for (at, message) in messages.iter().enumerate() {
        if !message.is_send {
            waiting.push(at);
            continue;
        }
        // The latest one: data that came before the first task is never answered.
        if let Some(task) = waiting.pop() {
            tasks.push((task, at, (message.begin - messages[task].end.max(free)).max(0)));
        }
        free = message.end;
    }
    tasks
}

/// The claim of a process with these messages of a stretch, in the order of time, if it is a worker of somebody. `idle` is the
/// longest time in which it is outside of MPI between a message that it sends and the next one that it receives.
pub(super) fn claim(
    worker: u32,
    messages: &[&Message],
    idle: &dyn Fn(&Message, &Message) -> Ticks,
) -> Option<Claim> {
    let mut counts = BTreeMap::<u32, usize>::new();
    messages.iter().for_each(|message| *counts.entry(message.peer).or_default() += 1);
    let (&master, &count) = counts.iter().max_by_key(|&(&peer, &count)| (count, u32::MAX - peer))?;
    if 10 * count < 9 * messages.len() {
        return None;
    }
    let with: Vec<&Message> = messages.iter().copied().filter(|message| message.peer == master).collect();
    // A task ahead: two come first, or two results last.
    let mut inner = &with[..];
    if let [first, second, ..] = inner
        && !first.is_send
        && !second.is_send
    {
        inner = &inner[1..];
    }
    if let [.., before, last] = inner
        && before.is_send
        && last.is_send
    {
        inner = &inner[..inner.len() - 1];
    }
    let pairs = inner.len().saturating_sub(1);
    let alternating = inner.windows(2).filter(|pair| pair[0].is_send != pair[1].is_send).count();
    if pairs == 0 || 10 * alternating < 9 * pairs {
        return None;
    }
    let tasks = tasks(&with);
    let work: Ticks = tasks.iter().map(|&(.., ticks)| ticks).sum();
    let between = with.windows(2).filter(|pair| pair[0].is_send && !pair[1].is_send);
    let beside: Ticks = between.map(|pair| idle(pair[0], pair[1])).sum();
    // Who works while no task is there does something else, such as the step of a stencil.
    (work >= beside && !tasks.is_empty()).then(|| Claim {
        master,
        worker,
        stretch: with[0].stretch,
        asks: with[0].is_send,
        answered: tasks.len() as u64,
    })
}

/// The workers of a process with these messages of a stretch, of those that claim to be.
pub(super) fn workers(messages: &[Message], claims: &[Claim]) -> BTreeSet<u32> {
    let mut first = BTreeMap::<u32, bool>::new();
    let mut counts = BTreeMap::<u32, usize>::new();
    for message in messages {
        first.entry(message.peer).or_insert(message.is_send);
        *counts.entry(message.peer).or_default() += 1;
    }
    // Messages that cross each other are no answers: both sides have the same one first.
    let of = |asks: bool| {
        let fits = |claim: &&Claim| claim.asks == asks && first.get(&claim.worker) == Some(&!asks);
        claims.iter().filter(fits).collect::<Vec<&Claim>>()
    };
    let [given, asked] = [of(false), of(true)];
    let chosen = if asked.len() > given.len() { asked } else { given };
    let workers: BTreeSet<u32> = chosen.iter().map(|claim| claim.worker).collect();
    let answered: u64 = chosen.iter().map(|claim| claim.answered).sum();
    let mut received = BTreeMap::<_, BTreeSet<u32>>::new();
    for message in messages.iter().filter(|message| !message.is_send && workers.contains(&message.peer)) {
        received.entry(message.path).or_default().insert(message.peer);
    }
    let is_master = workers.len() > 1
        && answered >= 2 * workers.len() as u64
        && received.values().any(|peers| peers.len() > 1)
        && (workers.len() == 2 || workers.iter().all(|worker| 2 * counts[worker] <= messages.len()));
    if is_master { workers } else { BTreeSet::new() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ids::{JournalPosition, PathId};
    use crate::journal::Spot;

    /// A message that takes a tick, at a time, to or from a process; the event of its send is unique.
    pub(in super::super) fn message(time: Ticks, peer: u32, is_send: bool) -> Message {
        Message {
            stretch: 0,
            peer,
            is_send,
            bytes: 8,
            begin: if is_send { time } else { time - 1 },
            end: if is_send { time + 1 } else { time },
            sent: Spot { location: peer, position: JournalPosition::new(time as usize) },
            here: None,
            path: PathId::new(usize::from(is_send)),
        }
    }

    fn sent(time: Ticks, peer: u32) -> Message {
        message(time, peer, true)
    }

    fn received(time: Ticks, peer: u32) -> Message {
        message(time, peer, false)
    }

    fn claimed(messages: &[Message], idle: Ticks) -> Option<(u32, bool, u64)> {
        let claim = claim(7, &messages.iter().collect::<Vec<_>>(), &|_, _| idle)?;
        Some((claim.master, claim.asks, claim.answered))
    }

    #[test]
    fn process_that_answers_what_it_receives_is_a_worker() {
        let tasks = [received(10, 0), sent(20, 0), received(30, 0), sent(40, 0), received(50, 0)];
        assert_eq!(claimed(&tasks, 0), Some((0, false, 2)));
        // It works while no task is there: as long at most as on tasks.
        assert_eq!(claimed(&tasks, 10), Some((0, false, 2)));
        assert_eq!(claimed(&tasks, 11), None);
        // It asks for each task, and sends the result with the next question.
        let asking = [sent(5, 0), received(10, 0), sent(20, 0), received(30, 0), sent(40, 0)];
        assert_eq!(claimed(&asking, 0), Some((0, true, 2)));
        assert_eq!(claimed(&[received(1, 0), received(2, 0), received(3, 0), received(4, 0)], 0), None);
        assert_eq!(claimed(&[], 0), None);
    }

    #[test]
    fn one_message_in_ten_may_be_with_somebody_else() {
        let mut messages: Vec<Message> = (0..9).map(|at| message(10 * at + 1, 3, at % 2 == 1)).collect();
        messages.push(sent(100, 5));
        assert_eq!(claimed(&messages, 0), Some((3, false, 4)));
        messages.push(sent(110, 5));
        assert_eq!(claimed(&messages, 0), None);
    }

    #[test]
    fn work_begins_when_the_task_is_there_and_the_last_result_is_sent() {
        // A task ahead, by two receives in the beginning, and two results in the end.
        let messages =
            [received(10, 0), received(12, 0), sent(20, 0), received(22, 0), sent(31, 0), sent(41, 0)];
        assert_eq!(claimed(&messages, 0), Some((0, false, 3)));
        assert_eq!(tasks(&messages.iter().collect::<Vec<_>>()), [(1, 2, 8), (3, 4, 9), (0, 5, 9)]);
        // Data before the first task is no task.
        let messages = [received(10, 0), received(90, 0), sent(95, 0), received(99, 0), sent(105, 0)];
        assert_eq!(tasks(&messages.iter().collect::<Vec<_>>()), [(1, 2, 5), (3, 4, 6)]);
    }

    /// The messages of a master that gives each of so many workers so many tasks in turn.
    fn rounds(workers: u32, rounds: i64, asks: bool) -> (Vec<Message>, Vec<Claim>) {
        let mut messages = Vec::new();
        for round in 0..rounds {
            for worker in 1..=workers {
                let time = 1000 * round + 10 * i64::from(worker);
                messages.push(message(time, worker, !asks));
                messages.push(message(time + 500, worker, asks));
            }
        }
        messages.sort_by_key(|message| message.begin);
        let answered = rounds.unsigned_abs();
        let claim = |worker| Claim { master: 0, worker, stretch: 0, asks, answered };
        (messages, (1..=workers).map(claim).collect())
    }

    #[test]
    fn master_has_two_workers_and_two_tasks_for_each() {
        for asks in [false, true] {
            let found = |count, tasks| {
                let (messages, claims) = rounds(count, tasks, asks);
                workers(&messages, &claims).len()
            };
            assert_eq!([found(1, 9), found(2, 1), found(2, 2), found(5, 2)], [0, 0, 2, 5]);
        }
    }

    #[test]
    fn messages_that_cross_are_no_tasks() {
        let (messages, mut claims) = rounds(3, 4, false);
        claims.iter_mut().for_each(|claim| claim.asks = true);
        assert!(workers(&messages, &claims).is_empty());
    }

    #[test]
    fn master_receives_from_several_in_one_place() {
        let (mut messages, claims) = rounds(2, 4, false);
        messages.iter_mut().for_each(|it| it.path = PathId::new(it.peer as usize));
        assert!(workers(&messages, &claims).is_empty());
    }

    #[test]
    fn nobody_of_three_has_more_than_half_of_the_messages() {
        let (mut messages, claims) = rounds(3, 2, false);
        assert_eq!(workers(&messages, &claims).len(), 3);
        messages.extend((0..9).map(|at| sent(5000 + at, 1)));
        assert!(workers(&messages, &claims).is_empty());
        // Of two one may have.
        assert_eq!(workers(&messages, &claims[..2]).len(), 2);
    }
}
