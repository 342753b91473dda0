//! Active targets: the k-th access epoch of an origin that names a target belongs to the k-th exposure epoch of the target that
//! names the origin; accesses belong to the fences between which they are (rest of MPI 8.1).

use model::Ticks;
use rustc_hash::FxHashMap;

use super::{Accessed, Matches, OriginEpoch};
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
use crate::findings::{Finding, Findings};
use crate::int::to_u32;
use crate::journal::Spot;
use crate::matching::{Awaitable, GROWING};
use crate::operations::{OneSided, Operations, Step};
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::Walked;
use crate::wire::Wire;

/// Key of epochs of two processes that may belong together: the process that is told, the one that tells, the window.
type Key = (u32, (u32, u32));

/// Epochs of other processes by key, each list in its order; with each, whether it is before the first gap in the recording of its
/// process.
type ToldEpochs<T> = FxHashMap<Key, Vec<(T, bool)>>;

/// Kinds of facts.
const ORIGIN: u64 = 0;
const POST: u64 = 1;
const ACCESSED: u64 = 2;

/// Bytes of a member of the group of an epoch: the fact that it is told in the words that are sent and in those that are received,
/// the same by key, and the partner that is found; all while lists grow.
const OF_MEMBER: u64 = GROWING * 4 * (size_of::<Key>() + size_of::<(OriginEpoch, bool)>()) as u64;

/// Bytes of an access: the same.
const OF_ACCESS: u64 = GROWING * 4 * (size_of::<u64>() + size_of::<(u32, Accessed)>()) as u64;

/// How many bytes finding the partners of a process's epochs takes at most.
pub(super) fn bytes_needed(trace: &Trace, walked: &Walked) -> u64 {
    let OneSided { accesses, access_epochs, exposure_epochs, .. } = &walked.operations.one_sided;
    let groups = access_epochs.iter().map(|epoch| epoch.group);
    let groups = groups.chain(exposure_epochs.iter().map(|epoch| epoch.group));
    OF_MEMBER * groups.map(|group| 1 + members(trace, group).len() as u64).sum::<u64>()
        + OF_ACCESS * accesses.len() as u64
}

/// Tells targets of access epochs and of accesses between fences, and origins of posts; then finds the partners of both.
///
/// # Errors
/// If a worker failed.
pub(crate) fn find(
    tools: &Tools<'_>,
    processes: &[Walked],
    matches: &mut [Matches],
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let Tools { trace, owners, .. } = *tools;
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for walked in processes {
        tell(trace, walked, |process: u32| owners.of(process as usize), &mut outgoing);
    }
    let (mut origins, mut posts) = (ToldEpochs::default(), ToldEpochs::default());
    let first = processes.first().map_or(0, |walked| walked.process.number);
    for batch in exchange.exchange(outgoing)? {
        let mut reader = BatchReader::new(&batch);
        while !reader.is_empty() {
            match reader.word() {
                ORIGIN => {
                    let (key, told) = Wire::get(&mut reader);
                    origins.entry(key).or_insert_with(Vec::new).push(told);
                }
                POST => {
                    let (key, told) = Wire::get(&mut reader);
                    posts.entry(key).or_insert_with(Vec::new).push(told);
                }
                _ => {
                    let (target, accessed): (u32, Accessed) = Wire::get(&mut reader);
                    matches[target as usize - first].one_sided.accessed.push(accessed);
                }
            }
        }
    }
    for (walked, matches) in processes.iter().zip(matches) {
        let of_process = &mut matches.one_sided;
        of_process.accessed.sort_unstable();
        let me = to_u32(walked.process.number);
        let epochs = &walked.operations.one_sided;
        let starts = epochs.access_epochs.iter().map(|epoch| (epoch.window, epoch.group, epoch.start));
        of_process.posts = pair(trace, walked, me, starts, &posts, findings);
        let exposures = epochs.exposure_epochs.iter().map(|epoch| (epoch.window, epoch.group, epoch.post));
        of_process.origins = pair(trace, walked, me, exposures, &origins, findings);
    }
    Ok(())
}

/// The processes of a group, by its position.
fn members(trace: &Trace, group: u32) -> &[u32] {
    trace.groups.get(&group).map_or(&[], |group| group)
}

/// Whether an epoch that begins with this event is before the first gap in the recording of its process.
fn is_sure(operations: &Operations, begin: Step) -> bool {
    let gaps = [operations.gap, operations.uneven_pause].into_iter().flatten();
    gaps.map(|gap| gap.calls).min().is_none_or(|calls| begin.call.index() < calls)
}

fn tell(trace: &Trace, walked: &Walked, owner: impl Fn(u32) -> usize, outgoing: &mut [Batch]) {
    let operations = &walked.operations;
    let (me, one_sided) = (to_u32(walked.process.number), &operations.one_sided);
    let leave = |step: Step| operations.call(step.call).interval.leave;
    let awaitable = |step: Step| Awaitable::new(operations, step.call, step.position);
    let mut accessed: Vec<(u32, Ticks)> = Vec::new();
    for epoch in &one_sided.access_epochs {
        accessed.clear();
        accessed.extend(epoch.accesses.iter().map(|&access| {
            let access = &one_sided.accesses[access as usize];
            (access.target, leave(access.step))
        }));
        accessed.sort_unstable();
        let last_access = |target: u32| {
            let end = accessed.partition_point(|&(other, _)| other <= target);
            accessed[..end].last().filter(|last| last.0 == target).map(|last| last.1)
        };
        let (complete, is_sure) = (epoch.complete.map(awaitable), is_sure(operations, epoch.start));
        let entered = epoch.complete.map(|step| {
            let call = operations.call(step.call);
            Spot { location: call.site.location, position: call.entered }
        });
        for &target in members(trace, epoch.group) {
            let epoch_of = OriginEpoch { complete, entered, accessed: last_access(target) };
            let told = (epoch_of, is_sure);
            let key: Key = (target, (me, epoch.window));
            (ORIGIN, (key, told)).put(&mut outgoing[owner(target)]);
        }
    }
    for epoch in &one_sided.exposure_epochs {
        let told = (awaitable(epoch.post), is_sure(operations, epoch.post));
        for &origin in members(trace, epoch.group) {
            let key: Key = (origin, (me, epoch.window));
            (POST, (key, told)).put(&mut outgoing[owner(origin)]);
        }
    }
    let mut between: FxHashMap<(u32, u32, u32), Ticks> = FxHashMap::default();
    for access in &one_sided.accesses {
        let last = between.entry((access.target, access.window, access.fences)).or_insert(Ticks::MIN);
        *last = leave(access.step).max(*last);
    }
    for ((target, window, fences), leave) in between {
        let accessed = Accessed { window, fences, origin: me, leave };
        (ACCESSED, (target, accessed)).put(&mut outgoing[owner(target)]);
    }
}

/// Finds, for each epoch of a process, that of each member of its group. Where both sides have recorded different numbers of
/// epochs, and one was not recorded all the time, only those before are sure.
fn pair<T: Copy>(
    trace: &Trace,
    walked: &Walked,
    me: u32,
    epochs: impl Iterator<Item = (u32, u32, Step)> + Clone,
    told: &ToldEpochs<T>,
    findings: &mut Findings,
) -> Vec<Vec<(u32, Option<T>)>> {
    let mut counts: FxHashMap<(u32, u32), usize> = FxHashMap::default();
    for (window, group, _) in epochs.clone() {
        members(trace, group).iter().for_each(|&process| *counts.entry((process, window)).or_default() += 1);
    }
    let mut next: FxHashMap<(u32, u32), usize> = FxHashMap::default();
    let mut pairs = Vec::new();
    for (window, group, begin) in epochs {
        let own_is_sure = is_sure(&walked.operations, begin);
        let partner = |&process: &u32| {
            let at = next.entry((process, window)).or_default();
            let others = told.get(&(me, (process, window))).map_or(&[][..], Vec::as_slice);
            let is_even = others.len() == counts[&(process, window)];
            let other = others.get(*at).filter(|(_, is_sure)| is_even || own_is_sure && *is_sure);
            *at += 1;
            if other.is_none() {
                let call = walked.operations.call(begin.call);
                let (time, location) = (call.interval.enter, call.site.location as usize);
                findings.add(Finding::EpochWithoutPartner, time, location, || {
                    format!("of {} with process {process}", trace.set_name(window))
                });
            }
            (process, other.map(|&(epoch, _)| epoch))
        };
        pairs.push(members(trace, group).iter().map(partner).collect());
    }
    pairs
}
