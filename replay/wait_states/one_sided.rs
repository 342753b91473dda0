//! Wait states of one-sided communication, and its pairwise synchronisations (rest of MPI 8.2 to 8.6).

use std::cmp::Reverse;

use model::Ticks;
use patterns::matched::{CollectiveClass, OneSidedCall, OneSidedWait};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{EdgeWait, Finder};
use crate::causes::DelayClass;
use crate::communicators::Participants;
use crate::details::instances::{BothSides, ENTERED, NO_NUMBER};
use crate::findings::Finding;
use crate::ids::{CallId, EventNumber, PathId};
use crate::int::to_u32;
use crate::journal::EventSpot;
use crate::matching::{Accessed, Awaitable, Matches, OneSidedMatches};
use crate::operations::Step;
use crate::statistics::Instance;
use crate::trace::Trace;

/// A call that may wait for an event of another process.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    step: Step,
    wait: OneSidedWait,
    is_access: bool,
    begin: Ticks,
    accessed: Ticks,
    window: u32,
    /// The other process, its event, and the time until which there is a reason to wait.
    whom: (u32, Awaitable, Ticks),
    /// The event since which a holder of a lock is charged.
    base: Option<EventSpot>,
}

impl Finder<'_> {
    /// Adds the calls of epochs whose partners are missing to `lost`.
    pub(super) fn lose_epochs(&mut self, matches: &Matches, lost: &mut Vec<CallId>) {
        let one_sided = &self.operations.one_sided;
        let OneSidedMatches { posts, origins, .. } = &matches.one_sided;
        for (epoch, posts) in one_sided.access_epochs.iter().zip(posts) {
            if posts.iter().any(|(_, post)| post.is_none()) {
                let accesses = epoch.accesses.iter().map(|&at| one_sided.accesses[at as usize].step);
                let steps = accesses.chain([epoch.start]).chain(epoch.complete);
                lost.extend(steps.map(|step| step.call));
            }
        }
        for (epoch, origins) in one_sided.exposure_epochs.iter().zip(origins) {
            if origins.iter().any(|(_, origin)| origin.is_none()) {
                lost.extend([Some(epoch.post), epoch.wait].into_iter().flatten().map(|step| step.call));
            }
        }
    }

    /// Finds all wait states but those at fences, and counts pairwise synchronisations.
    pub(super) fn one_sided(&mut self, trace: &Trace, matches: &Matches) {
        if self.operations.one_sided.is_empty() {
            return;
        }
        let mut waited = FxHashSet::default();
        self.late_posts(&matches.one_sided, &mut waited);
        self.early_waits(trace, &matches.one_sided, &mut waited);
        self.locks(&matches.one_sided, &mut waited);
        self.returns(&matches.one_sided, &mut waited);
    }

    /// Calls of access epochs wait for posts of their targets.
    fn late_posts(&mut self, matches: &OneSidedMatches, waited: &mut FxHashSet<CallId>) {
        let operations = self.operations;
        let me = to_u32(self.process.number);
        for (epoch, posts) in operations.one_sided.access_epochs.iter().zip(&matches.posts) {
            let accesses: Vec<_> =
                epoch.accesses.iter().map(|&at| operations.one_sided.accesses[at as usize]).collect();
            let steps = [Some((epoch.start, None))].into_iter();
            let steps = steps.chain(accesses.iter().map(|access| Some((access.step, Some(access.target)))));
            for (step, target) in steps.chain([epoch.complete.map(|step| (step, None))]).flatten() {
                let call = operations.call(step.call).interval;
                let posts = posts.iter().filter(|(process, _)| target.is_none_or(|it| it == *process));
                let posts = posts.filter_map(|&(process, post)| Some((process, post?)));
                let before = posts.filter(|(_, post)| post.call.enter <= call.leave);
                if let Some((process, post)) = before.max_by_key(|&(it, post)| (post.call.enter, Reverse(it)))
                {
                    let candidate = Candidate {
                        step,
                        wait: OneSidedWait::Post,
                        is_access: target.is_some(),
                        begin: call.enter,
                        accessed: Ticks::MIN,
                        window: epoch.window,
                        whom: (process, post, post.call.enter),
                        base: None,
                    };
                    self.wait(&candidate, waited);
                }
            }
            if let Some(complete) = epoch.complete {
                let accessed: FxHashSet<u32> = accesses.iter().map(|access| access.target).collect();
                let others = posts.iter().map(|&(process, _)| process).filter(|&process| process != me);
                self.count_pairs(complete.call, others, |process| accessed.contains(&process));
            }
        }
    }

    /// Calls that end exposure epochs wait for their origins.
    fn early_waits(&mut self, trace: &Trace, matches: &OneSidedMatches, waited: &mut FxHashSet<CallId>) {
        let operations = self.operations;
        let me = to_u32(self.process.number);
        for (epoch, origins) in operations.one_sided.exposure_epochs.iter().zip(&matches.origins) {
            let Some(step) = epoch.wait else { continue };
            let call = operations.call(step.call);
            let known = || origins.iter().filter_map(|&(process, origin)| Some((process, origin?)));
            let ends = known().filter_map(|(process, origin)| Some((process, origin.complete?)));
            if let Some((process, last)) = ends.max_by_key(|&(it, end)| (end.call.enter, Reverse(it)))
                && epoch.blocks
            {
                let late = last.call.enter - call.interval.leave;
                if late > 0 {
                    let (time, location) = (call.interval.enter, call.site.location as usize);
                    self.results.findings.add(Finding::ClockCollective, time, location, || {
                        let (ticks, window) = (trace.recorded(late), trace.set_name(epoch.window));
                        format!("exposure epoch of {window}: ended {ticks} ticks before that of an origin")
                    });
                }
                let accessed = known().filter_map(|(_, origin)| origin.accessed).max();
                let candidate = Candidate {
                    step,
                    wait: OneSidedWait::Complete,
                    is_access: false,
                    begin: call.interval.enter,
                    accessed: accessed.unwrap_or(Ticks::MIN),
                    window: epoch.window,
                    whom: (process, last, last.call.enter),
                    base: None,
                };
                self.wait(&candidate, waited);
            }
            let accessing: FxHashSet<u32> =
                known().filter(|(_, origin)| origin.accessed.is_some()).map(|(process, _)| process).collect();
            let others = origins.iter().map(|&(process, _)| process).filter(|&process| process != me);
            self.count_pairs(step.call, others, |process| accessing.contains(&process));
        }
    }

    /// Calls of lock epochs wait for other ranks to release their locks.
    fn locks(&mut self, matches: &OneSidedMatches, waited: &mut FxHashSet<CallId>) {
        for lock in &matches.locks {
            let begin = self.operations.call(lock.step.call).interval.enter;
            let candidate = Candidate {
                step: lock.step,
                wait: OneSidedWait::Release,
                is_access: lock.is_access,
                begin,
                accessed: Ticks::MIN,
                window: lock.window,
                whom: (lock.holder, lock.released, lock.released.call.leave),
                base: Some(lock.requested),
            };
            self.wait(&candidate, waited);
        }
    }

    /// Calls of lock epochs wait for targets to be in MPI again.
    fn returns(&mut self, matches: &OneSidedMatches, waited: &mut FxHashSet<CallId>) {
        for it in &matches.returns {
            let candidate = Candidate {
                step: it.step,
                wait: OneSidedWait::Progress,
                is_access: it.is_access,
                begin: it.since,
                accessed: Ticks::MIN,
                window: it.window,
                whom: (it.target, it.returned, it.returned.call.enter),
                base: None,
            };
            self.wait(&candidate, waited);
        }
    }

    /// Reports a wait, if it is one. Of several in a call only the first has costs (rest of MPI 2.3); `waited` are the calls that
    /// have one.
    fn wait(&mut self, candidate: &Candidate, waited: &mut FxHashSet<CallId>) {
        let Candidate { step, begin, window, whom: (process, awaited, until), .. } = *candidate;
        let call = self.operations.call(step.call);
        if !call.site.is_mpi {
            return;
        }
        let seen = OneSidedCall {
            wait: candidate.wait,
            is_access: candidate.is_access,
            begin,
            until,
            leave: call.interval.leave,
            accessed: candidate.accessed,
        };
        let wait = seen.waiting();
        let is_first = wait > 0 && waited.insert(step.call);
        for (pattern, rule) in &self.metrics.at_one_sided {
            let ticks = rule(&seen);
            if ticks <= 0 {
                continue;
            }
            let first = self.begin_of_part(pattern, (begin, wait), ticks);
            let counted = self.report(pattern, step.call, first, ticks);
            let instance = Instance {
                duration: Reverse(counted),
                process: to_u32(self.process.number),
                enter: call.interval.enter,
                exit: call.interval.leave,
                path: PathId::NONE,
                cause: awaited.place,
            };
            let both = BothSides {
                waiting: call.site.place(),
                call: call.interval,
                begin,
                ticks,
                waits_at: if is_first { step.position } else { EventNumber::NONE },
                cause_call: awaited.call,
                cause_time: until,
                cause_at: awaited.spot.position,
                communicator: window,
                tag: NO_NUMBER,
                bytes: 0,
                members: 0,
                team: NO_NUMBER,
                pattern: Some(pattern.position),
                entered: [NO_NUMBER; ENTERED],
            };
            self.offer(pattern.subject, step.call, instance, || both);
        }
        if wait > 0 {
            self.waiting.edges.push(EdgeWait {
                class: DelayClass::OneSided,
                call: step.call,
                position: step.position,
                begin,
                ticks: if is_first { wait } else { 0 },
                process,
                awaited,
                communicator: window,
                base: candidate.base,
            });
        }
    }

    /// Counts the other processes that a call has synchronised with, and those without access among them.
    fn count_pairs(
        &mut self,
        call: CallId,
        others: impl Iterator<Item = u32>,
        has_access: impl Fn(u32) -> bool,
    ) {
        let [all, unneeded] = self.metrics.pair_synchronisations;
        let (mut count, mut without) = (0, 0);
        for process in others {
            count += 1;
            without += i64::from(!has_access(process));
        }
        if self.counts(self.operations.call(call).interval.enter) {
            self.add_at(call, all, count);
            self.add_at(call, unneeded, without);
        }
    }

    /// Counts the pairs that each fence synchronises. Returns, for the fences among the collective operations by position, the
    /// latest end of a call in which another rank accesses the memory of this one since the fence before.
    pub(super) fn fences(&mut self, trace: &Trace, matches: &Matches) -> FxHashMap<usize, Ticks> {
        let operations = self.operations;
        let mut latest = FxHashMap::default();
        if !operations.collectives.iter().any(|it| it.class == Some(CollectiveClass::Fence)) {
            return latest;
        }
        let me = to_u32(self.process.number);
        let mut targets: FxHashMap<(u32, u32), FxHashSet<u32>> = FxHashMap::default();
        for access in &operations.one_sided.accesses {
            targets.entry((access.window, access.fences)).or_default().insert(access.target);
        }
        let accessed = &matches.one_sided.accessed;
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        for (at, fence) in operations.collectives.iter().enumerate() {
            if fence.class != Some(CollectiveClass::Fence) {
                continue;
            }
            let (window, count) = (fence.communicator, counts.entry(fence.communicator).or_default());
            let key = (window, *count);
            *count += 1;
            let first = accessed.partition_point(|it| (it.window, it.fences) < key);
            let of_fence = accessed[first..].iter().take_while(|it| (it.window, it.fences) == key);
            let of_fence: Vec<&Accessed> = of_fence.filter(|it| it.origin != me).collect();
            if let Some(last) = of_fence.iter().map(|it| it.leave).max() {
                latest.insert(at, last);
            }
            let Participants::Ranks(ranks) = &trace.communicators[window as usize] else { continue };
            let own = targets.get(&key);
            let others = ranks.iter().copied().filter(|&process| process != me);
            let is_accessed = |process| of_fence.binary_search_by_key(&process, |it| it.origin).is_ok();
            self.count_pairs(fence.call, others, |process| {
                own.is_some_and(|own| own.contains(&process)) || is_accessed(process)
            });
        }
        latest
    }
}
