//! Passive targets: who has a lock after whom, and which calls need help of their target (rest of MPI 8.4, 8.5).
//!
//! The worker of the locked process sees all lock epochs on it, in the order in which they end. Locks that are shared by all hold
//! up nobody, so epochs travel only where somebody has an exclusive lock.

use std::cmp::Reverse;

use model::Ticks;
use rustc_hash::FxHashSet;

use super::{LockWait, Matches, TargetReturn, keep_best};
use crate::communicators::Participants;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::ids::CallId;
use crate::int::to_u32;
use crate::journal::{EventSpot, Spot};
use crate::matching::returns::Questions;
use crate::matching::{Awaitable, GROWING};
use crate::operations::{ALL_TARGETS, LockEpoch, Step};
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::Walked;
use crate::wire::{self, Wire, batch_of, wire};

/// A lock epoch on one process, as that process is told of it.
#[derive(Clone, Debug)]
struct Told {
    window: u32,
    target: u32,
    origin: u32,
    /// Position among the lock epochs of the origin.
    epoch: u32,
    is_exclusive: bool,
    /// The event that asks for the lock.
    requested: EventSpot,
    released: Awaitable,
    /// Positions of the calls in the epoch, with their enters and leaves.
    calls: Vec<(u32, (Ticks, Ticks))>,
}

wire!(Told { [window, target], [origin, epoch], is_exclusive, requested, released, calls });

/// The answer about a lock epoch: which of its calls waits for which holder.
#[derive(Clone, Copy, Debug)]
struct Answer {
    origin: u32,
    epoch: u32,
    /// Position of the call in the epoch.
    call: u32,
    holder: u32,
    requested: EventSpot,
    released: Awaitable,
}

wire!(Answer { [origin, epoch], [call, holder], requested, released });

/// Bytes of a call of an epoch, as its target is told of it: in the words that are sent and in those that are received, and by
/// itself; all while lists grow.
const OF_CALL: u64 = GROWING * 3 * size_of::<(u64, (u32, (Ticks, Ticks)))>() as u64;

/// Bytes of an epoch: the same, and the answer.
const OF_EPOCH: u64 = GROWING * 3 * (size_of::<Told>() + size_of::<Answer>()) as u64;

/// Bytes of a question when a target comes back to MPI: what it is about, words that are sent and received, and the answer.
const OF_QUESTION: u64 = GROWING * 3 * (size_of::<(CallId, u32)>() + size_of::<TargetReturn>()) as u64;

/// How many bytes finding out about the locks of a process takes at most, where nobody has an exclusive lock on all processes.
pub(super) fn bytes_needed(walked: &Walked) -> u64 {
    let of = |epoch: &LockEpoch| OF_EPOCH + (OF_CALL + OF_QUESTION) * epoch.calls.len() as u64;
    walked.operations.one_sided.lock_epochs.iter().map(of).sum()
}

/// Finds the waits of these processes for locks.
///
/// # Errors
/// If a worker failed, or memory gets short.
pub(super) fn find(
    tools: &Tools<'_>,
    processes: &[Walked],
    matches: &mut [Matches],
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let Tools { trace, owners, .. } = *tools;
    let exclusive = processes.iter().flat_map(|walked| locked(trace, walked, |epoch| epoch.is_exclusive));
    let mut exclusive: Vec<(u32, u32)> = exclusive.map(|(_, epoch, target)| (epoch.window, target)).collect();
    exclusive.sort_unstable();
    exclusive.dedup();
    let told = share(exchange, batch_of(&exclusive))?;
    let exclusive: FxHashSet<(u32, u32)> = told.iter().flat_map(|batch| wire::all(batch)).collect();
    if exclusive.is_empty() {
        return Ok(());
    }
    let held = |walked| {
        let all = locked(trace, walked, |_| true);
        all.filter(|(_, epoch, target)| exclusive.contains(&(epoch.window, *target)))
    };
    let bytes = |(_, epoch, _): (u32, &LockEpoch, u32)| OF_EPOCH + OF_CALL * epoch.calls.len() as u64;
    tools.memory.check(processes.iter().flat_map(held).map(bytes).sum())?;
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for walked in processes {
        for (number, epoch, target) in held(walked) {
            told_of(walked, number, epoch, target).put(&mut outgoing[owners.of(target as usize)]);
        }
    }
    let told = exchange.exchange(outgoing)?;
    let mut epochs: Vec<Told> = told.iter().flat_map(|batch| wire::all(batch)).collect();
    let key = |told: &Told| (told.window, told.target);
    epochs.sort_by_key(|told| (key(told), told.released.call.leave, told.origin, told.epoch));
    let mut answers = vec![Batch::new(); exchange.workers()];
    for of_target in epochs.chunk_by(|a, b| key(a) == key(b)) {
        judge(of_target, |answer| answer.put(&mut answers[owners.of(answer.origin as usize)]));
    }
    let first = processes.first().map_or(0, |walked| walked.process.number);
    for batch in exchange.exchange(answers)? {
        for answer in wire::all::<Answer>(&batch) {
            let at = answer.origin as usize - first;
            let epoch = &processes[at].operations.one_sided.lock_epochs[answer.epoch as usize];
            let call = epoch.calls[answer.call as usize];
            matches[at].one_sided.locks.push(LockWait {
                step: call.step,
                is_access: call.target.is_some(),
                window: epoch.window,
                holder: answer.holder,
                requested: answer.requested,
                released: answer.released,
            });
        }
    }
    for matches in matches {
        let order = |wait: &LockWait| (Reverse(wait.released.call.leave), wait.holder);
        keep_best(&mut matches.one_sided.locks, |wait| wait.step.call, |a, b| order(a).cmp(&order(b)));
    }
    Ok(())
}

/// Each process that a lock epoch of this process locks, of those epochs that end and for which `is_wanted`: the position of the
/// epoch, the epoch, and the locked process.
fn locked<'w>(
    trace: &'w Trace,
    walked: &'w Walked,
    is_wanted: fn(&LockEpoch) -> bool,
) -> impl Iterator<Item = (u32, &'w LockEpoch, u32)> {
    let epochs = (0..).zip(&walked.operations.one_sided.lock_epochs);
    let wanted = epochs.filter(move |(_, epoch)| epoch.is_released && is_wanted(epoch));
    wanted.flat_map(move |(number, epoch)| {
        targets(trace, walked, epoch).into_iter().map(move |target| (number, epoch, target))
    })
}

/// The processes that an epoch locks.
fn targets(trace: &Trace, walked: &Walked, epoch: &LockEpoch) -> Vec<u32> {
    match &trace.communicators[epoch.window as usize] {
        _ if epoch.target != ALL_TARGETS => vec![epoch.target],
        Participants::Ranks(ranks) => ranks.to_vec(),
        _ => vec![to_u32(walked.process.number)],
    }
}

fn told_of(walked: &Walked, number: u32, epoch: &LockEpoch, target: u32) -> Told {
    let operations = &walked.operations;
    let awaitable = |step: Step| Awaitable::new(operations, step.call, step.position);
    let calls = (0..).zip(&epoch.calls).filter(|(_, call)| call.target.is_none_or(|it| it == target));
    let calls = calls.map(|(at, call)| {
        let interval = operations.call(call.step.call).interval;
        (at, (interval.enter, interval.leave))
    });
    let (begin, end) = (epoch.calls[0].step, epoch.calls[epoch.calls.len() - 1].step);
    let location = operations.site(begin.call).location;
    Told {
        window: epoch.window,
        target,
        origin: to_u32(walked.process.number),
        epoch: number,
        is_exclusive: epoch.is_exclusive,
        requested: Spot { location, position: begin.position },
        released: awaitable(end),
        calls: calls.collect(),
    }
}

/// The latest of some epochs, and the latest one of another origin than that.
#[derive(Clone, Copy, Debug, Default)]
struct Latest<'e> {
    epoch: Option<&'e Told>,
    of_another: Option<&'e Told>,
}

impl<'e> Latest<'e> {
    fn add(&mut self, epoch: &'e Told) {
        if self.epoch.is_some_and(|before| before.origin != epoch.origin) {
            self.of_another = self.epoch;
        }
        self.epoch = Some(epoch);
    }

    /// The latest one that is not of this origin.
    fn not_of(&self, origin: u32) -> Option<&'e Told> {
        self.epoch.filter(|epoch| epoch.origin != origin).or(self.of_another)
    }
}

/// Finds which of the epochs on one process, in the order of their ends, wait for which.
fn judge(epochs: &[Told], mut answer: impl FnMut(Answer)) {
    let (mut any, mut exclusive) = (Latest::default(), Latest::default());
    for epoch in epochs {
        let holder = if epoch.is_exclusive { any } else { exclusive }.not_of(epoch.origin);
        if let Some(holder) = holder {
            let release = holder.released.call;
            let blocked = epoch.calls.iter().find(|(_, (_, leave))| *leave > release.enter);
            if let Some(&(call, (enter, _))) = blocked
                && enter < release.leave
            {
                let (requested, released) = (holder.requested, holder.released);
                let (origin, number) = (epoch.origin, epoch.epoch);
                answer(Answer { origin, epoch: number, call, holder: holder.origin, requested, released });
            }
        }
        any.add(epoch);
        if epoch.is_exclusive {
            exclusive.add(epoch);
        }
    }
}

/// A call of lock epochs, and since when it waits for no lock.
#[derive(Clone, Copy, Debug)]
pub(in crate::matching) struct TargetCall {
    step: Step,
    is_access: bool,
    window: u32,
    since: Ticks,
    target: u32,
}

/// Asks the targets of all calls of lock epochs whether they come back to MPI meanwhile. `subject` makes the subjects of the
/// questions.
pub(in crate::matching) fn question_progress<T>(
    tools: &Tools<'_>,
    walked: &Walked,
    matches: &Matches,
    questions: &mut Questions<T>,
    subject: impl Fn(TargetCall) -> T,
) {
    let operations = &walked.operations;
    let me = to_u32(walked.process.number);
    let mut accessed: Vec<u32> = Vec::new();
    for epoch in &operations.one_sided.lock_epochs {
        accessed.clear();
        if epoch.target == ALL_TARGETS {
            accessed.extend(epoch.calls.iter().filter_map(|call| call.target));
        }
        accessed.sort_unstable();
        accessed.dedup();
        for call in &epoch.calls {
            let is_access = call.target.is_some();
            let targets: &[u32] = match (&call.target, epoch.target) {
                (Some(target), _) => std::slice::from_ref(target),
                (None, ALL_TARGETS) => &accessed,
                (None, _) => std::slice::from_ref(&epoch.target),
            };
            let interval = operations.call(call.step.call).interval;
            let locks = &matches.one_sided.locks;
            let lock = locks.binary_search_by_key(&call.step.call, |wait| wait.step.call).ok();
            let since = lock.map_or(interval.enter, |at| locks[at].released.call.leave.min(interval.leave));
            for &target in targets {
                if target != me && since < interval.leave {
                    let about =
                        TargetCall { step: call.step, is_access, window: epoch.window, since, target };
                    questions.ask(tools, target, (since, interval.leave), subject(about));
                }
            }
        }
    }
}

/// Adds a target that comes back to MPI.
pub(in crate::matching) fn receive_progress(matches: &mut Matches, call: &TargetCall, returned: Awaitable) {
    let TargetCall { step, is_access, window, since, target } = *call;
    matches.one_sided.returns.push(TargetReturn { step, is_access, window, since, target, returned });
}

impl Matches {
    /// Of several targets of a call the one that comes back last counts.
    pub(in crate::matching) fn keep_latest_returns(&mut self) {
        let order = |it: &TargetReturn| (Reverse(it.returned.call.enter), it.target);
        keep_best(&mut self.one_sided.returns, |it| it.step.call, |a, b| order(a).cmp(&order(b)));
    }
}

#[cfg(test)]
mod tests {
    use patterns::matched::Interval;

    use super::*;
    use crate::ids::EventNumber;
    use crate::operations::Place;

    /// An epoch on a process: origin, whether exclusive, and enters and leaves of the calls, the last of which unlocks.
    type Epoch<'a> = (u32, bool, &'a [(Ticks, Ticks)]);

    fn waits(epochs: &[Epoch<'_>]) -> Vec<(u32, u32, u32)> {
        let spot = |location| Spot { location, position: EventNumber::new(0) };
        let told = |(number, &(origin, is_exclusive, calls)): (u32, &Epoch<'_>)| {
            let (enter, leave) = calls[calls.len() - 1];
            let call = Interval::new(enter, leave);
            Told {
                window: 0,
                target: 9,
                origin,
                epoch: number,
                is_exclusive,
                requested: spot(origin),
                released: Awaitable { spot: spot(origin), place: Place::default(), call },
                calls: (0..).zip(calls.iter().copied()).collect(),
            }
        };
        let told: Vec<Told> = (0..).zip(epochs).map(told).collect();
        let mut found = Vec::new();
        judge(&told, |answer| found.push((answer.epoch, answer.call, answer.holder)));
        found
    }

    #[test]
    fn first_call_that_ends_after_the_holder_began_to_unlock_waits_for_it() {
        let eager: &[_] = &[(5, 42), (43, 44), (80, 81)];
        let lazy: &[_] = &[(5, 6), (50, 82)];
        assert_eq!(waits(&[(1, true, &[(0, 1), (40, 41)]), (2, true, eager)]), [(1, 0, 1)]);
        assert_eq!(waits(&[(1, true, &[(0, 1), (40, 60)]), (2, true, lazy)]), [(1, 1, 1)]);
        assert_eq!(waits(&[(1, true, &[(0, 1), (40, 41)]), (2, true, lazy)]), []);
    }

    #[test]
    fn shared_locks_wait_for_exclusive_ones_and_nobody_for_itself() {
        let (first, then) = ([(0, 1), (40, 41)], [(5, 42), (80, 81)]);
        assert_eq!(waits(&[(1, false, &first), (2, false, &then)]), []);
        assert_eq!(waits(&[(1, true, &first), (2, false, &then)]), [(1, 0, 1)]);
        assert_eq!(waits(&[(1, false, &first), (2, true, &then)]), [(1, 0, 1)]);
        assert_eq!(waits(&[(1, true, &first), (1, true, &then)]), []);
        let last = [(82, 83), (90, 91)];
        assert_eq!(waits(&[(3, true, &first), (1, true, &then), (1, true, &last)]), [(1, 0, 3)]);
    }
}
