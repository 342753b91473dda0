//! Records of dropped operations, by their numbers in the event files of a process.

use patterns::matched::Interval;

use super::kept::{Calls, DroppedByKind};
use super::windows;
use crate::focus::Windows;
use crate::ids::{CallId, EventNumber, RecordNumber};
use crate::matching::Said;
use crate::operations::{AccessEpoch, Operations, Step, TeamEvent};
use crate::walk::{RecordTimes, Walked};

/// Records of a location about which a window alone does not decide.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Chosen {
    /// Those of dropped operations, rising.
    dropped: Vec<RecordNumber>,
    /// Requests of kept receives and of kept non-blocking collective operations, rising.
    requests: Vec<RecordNumber>,
}

impl Chosen {
    #[cfg(test)]
    pub(super) fn new(dropped: Vec<RecordNumber>, requests: Vec<RecordNumber>) -> Chosen {
        Chosen { dropped, requests }
    }

    pub(super) fn is_dropped(&self, record: RecordNumber) -> bool {
        self.dropped.binary_search(&record).is_ok()
    }

    pub(super) fn has_request(&self, record: RecordNumber) -> bool {
        self.requests.binary_search(&record).is_ok()
    }
}

/// Collects the records of a process.
struct Collector<'c> {
    calls: Calls<'c>,
    of_locations: Vec<Chosen>,
}

impl Collector<'_> {
    fn drop(&mut self, call: CallId, event: EventNumber) {
        self.put(call, event, |chosen| &mut chosen.dropped);
    }

    fn keep_request(&mut self, call: CallId, event: EventNumber) {
        self.put(call, event, |chosen| &mut chosen.requests);
    }

    fn put(&mut self, call: CallId, event: EventNumber, list: fn(&mut Chosen) -> &mut Vec<RecordNumber>) {
        if !call.is_none() && !event.is_none() {
            let thread = self.calls.thread(call);
            list(&mut self.of_locations[thread]).push(event.record());
        }
    }

    fn drop_step(&mut self, Step { call, position }: Step) {
        self.drop(call, position);
    }
}

/// Finds the records of each location of a process that was walked with [numbers of
/// records](crate::walk::Positions::Records), and counts what [`decide`](super::kept::decide) has not.
pub(super) fn choose(
    walked: &Walked,
    windows: &[Windows],
    said: &Said,
    dropped: &mut DroppedByKind,
) -> Vec<Chosen> {
    let calls = Calls::new(walked, windows);
    let operations = calls.operations;
    let of_locations = vec![Chosen::default(); walked.process.locations.len()];
    let mut collector = Collector { calls, of_locations };
    messages(&mut collector, operations, said);
    collectives(&mut collector, operations, said);
    one_sided(&mut collector, operations, dropped);
    teams(&mut collector, operations, &walked.records, dropped);
    for chosen in &mut collector.of_locations {
        chosen.dropped.sort_unstable();
        chosen.requests.sort_unstable();
    }
    collector.of_locations
}

fn messages(collector: &mut Collector<'_>, operations: &Operations, said: &Said) {
    for (send, _) in operations.sends.iter().zip(&said.sends).filter(|(_, is_kept)| !**is_kept) {
        collector.drop(send.call, send.position);
        collector.drop(send.completion, send.completed);
    }
    for (receive, &is_kept) in operations.receives.iter().zip(&said.receives) {
        match is_kept {
            true => collector.keep_request(receive.posting, receive.posted_at),
            false => collector.drop(receive.call, receive.position),
        }
    }
}

fn collectives(collector: &mut Collector<'_>, operations: &Operations, said: &Said) {
    let all = operations.collectives.iter().zip(&said.collectives);
    for (collective, _) in all.filter(|(_, is_kept)| !**is_kept) {
        collector.drop(collective.call, collective.begun);
        collector.drop(collective.call, collective.position);
    }
    for (operation, &is_kept) in operations.nonblocking.iter().zip(&said.nonblocking) {
        match (is_kept, operation.done) {
            (true, _) => collector.keep_request(operation.call, operation.position),
            (false, Some(done)) => collector.drop(done.call, done.position),
            (false, None) => {}
        }
    }
}

/// Epochs of groups are dropped: nothing says which of origins and of targets belong together if some are. Locks have no partner.
fn one_sided(collector: &mut Collector<'_>, operations: &Operations, dropped: &mut DroppedByKind) {
    let [.., of_one_sided, _] = dropped;
    let one_sided = &operations.one_sided;
    let mut is_dropped = vec![false; one_sided.accesses.len()];
    for AccessEpoch { start, complete, accesses, .. } in &one_sided.access_epochs {
        accesses.iter().for_each(|&access| is_dropped[access as usize] = true);
        for step in [Some(*start), *complete].into_iter().flatten() {
            if collector.calls.has(step.call) {
                of_one_sided.count(false);
            }
            collector.drop_step(step);
        }
    }
    for epoch in &one_sided.exposure_epochs {
        for step in [Some(epoch.post), epoch.wait].into_iter().flatten() {
            if collector.calls.has(step.call) {
                of_one_sided.count(false);
            }
            collector.drop_step(step);
        }
    }
    for epoch in &one_sided.lock_epochs {
        let is_inside = |call: CallId| collector.calls.has(call);
        let inside = epoch.calls.iter().filter(|call| is_inside(call.step.call)).count();
        let is_kept = epoch.is_released && inside == epoch.calls.len();
        if inside > 0 {
            of_one_sided.count(is_kept);
        }
        if !is_kept {
            epoch.calls.iter().for_each(|call| collector.drop_step(call.step));
        }
    }
    for (access, is_dropped) in one_sided.accesses.iter().zip(is_dropped) {
        let is_inside = collector.calls.has(access.step.call);
        if is_inside {
            of_one_sided.count(!is_dropped);
        }
        if is_dropped || !is_inside {
            collector.drop_step(access.step);
        }
    }
}

/// Teams that are not forked and joined in windows of all members leave no trace.
fn teams(
    collector: &mut Collector<'_>,
    operations: &Operations,
    records: &[RecordTimes],
    dropped: &mut DroppedByKind,
) {
    let [.., of_teams] = dropped;
    let mut events: Vec<&TeamEvent> = operations.teams.iter().collect();
    events.sort_by_key(|event| event.team);
    for team in events.chunk_by(|a, b| a.team == b.team) {
        let place = |event: &TeamEvent| {
            (event.spot.location as usize - collector.calls.first, event.spot.position.record())
        };
        let is_inside = |event: &&&TeamEvent| {
            let (thread, record) = place(event);
            let time = records[thread].times[record.index()];
            windows::has(&collector.calls.windows[thread], Interval::new(time, time))
        };
        let inside = team.iter().filter(is_inside).count();
        if inside > 0 {
            of_teams.count(inside == team.len());
        }
        if inside < team.len() {
            for event in team {
                let (thread, record) = place(event);
                collector.of_locations[thread].dropped.push(record);
            }
        }
    }
}
