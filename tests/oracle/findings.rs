//! Findings: missing data, and deadlocks.

use std::collections::BTreeSet;

use replay::Semantics;

use super::events::EventKind;
use super::matching::{self, Matched};
use super::operations::{Operations, is_init};
use super::read::Location;
use super::world::World;
use super::{Analysis, Findings};

/// The findings that are counted here.
pub(crate) const FINDINGS: [&str; 18] = [
    "missing events",
    "recording switched off",
    "send without receive",
    "receive without send",
    "processes waiting for each other",
    "message of unknown order",
    "message matched across a gap",
    "request never completed",
    "incomplete collective",
    "contradicting collective",
    "collective after a gap",
    "contradicting neighbourhood",
    "incomplete file operation",
    "rank outside of its communicator",
    "epoch without partner",
    "epoch never ended",
    "epoch that was not begun",
    "communicator used by two threads at once",
];

impl Analysis {
    pub(super) fn findings(
        &self,
        operations: &Operations,
        messages: &[(usize, usize)],
        matched: &Matched,
        (without_partner, world): (usize, &World),
    ) -> Findings {
        let missing = self.locations.iter().filter(|location| location.is_missing).count();
        let events = self.locations.iter().flat_map(|location| &location.events);
        let off = events.filter(|event| matches!(event.kind, EventKind::RecordingOff)).count();
        let unmatched = unmatched_sends(operations, messages);
        let is_unmatched = |receive: &usize| messages.iter().all(|message| message.1 != *receive);
        let receives: Vec<usize> = (0..operations.receives.len()).filter(is_unmatched).collect();
        let is_corrected = self.semantics == Semantics::Corrected;
        let channel_of_send = |send: &usize| operations.sends[*send].channel;
        let channel_of_receive = |receive: &usize| operations.receives[*receive].channel;
        // If the other side has unmatched operations, too, it is unknown which of them belongs to it.
        let is_unknown_send = |send: &&usize| {
            is_corrected
                && receives.iter().any(|receive| channel_of_receive(receive) == channel_of_send(send))
        };
        let is_unknown_receive = |receive: &&usize| {
            is_corrected && unmatched.iter().any(|send| channel_of_send(send) == channel_of_receive(receive))
        };
        let unknown_sends = unmatched.iter().filter(is_unknown_send).count();
        let unknown_receives = receives.iter().filter(is_unknown_receive).count();
        let across = if is_corrected { matching::unverified(operations) } else { 0 };
        let at_once = if is_corrected { matching::at_once(operations) } else { 0 };
        let counts = [
            missing,
            off,
            unmatched.len() - unknown_sends,
            receives.len() - unknown_receives,
            self.circles(operations, &unmatched),
            unknown_sends + unknown_receives,
            across,
            operations.open_requests,
            matched.incomplete
                + self.incomplete(world, is_init)
                + self.incomplete(world, |name| name == "finalize"),
            matched.contradicting,
            matched.after_gap + self.after_gap,
            matched.instances.iter().map(|instance| instance.contradictions(world)).sum(),
            matched.incomplete_files,
            operations.one_sided.outside + matched.outside,
            without_partner,
            operations.one_sided.never_ended,
            operations.one_sided.not_begun,
            operations.one_sided.concurrent + at_once,
        ];
        let named = FINDINGS.into_iter().zip(counts);
        named.filter(|it| it.1 > 0).map(|(name, count)| (name.into(), count as u64)).collect()
    }

    /// 1 if some processes have called a function and others have not.
    fn incomplete(&self, world: &World, is: impl Fn(&str) -> bool) -> usize {
        let has = |process: usize| {
            let locations = self.locations.iter().filter(|it| it.process == process);
            locations.flat_map(|it| &it.calls).any(|call| is(&call.mpi_name))
        };
        let number = (0..world.processes).filter(|&process| has(process)).count();
        usize::from(number > 0 && number < world.processes)
    }

    /// Number of groups of processes that wait for each other when the trace ends.
    fn circles(&self, operations: &Operations, unmatched: &[usize]) -> usize {
        let processes = operations.gaps.len();
        // Direct waits, then their transitive closure.
        let mut waits: Vec<BTreeSet<usize>> =
            (0..processes).map(|process| self.waits_for(operations, unmatched, process)).collect();
        for _ in 0..processes {
            let indirect =
                |of: &BTreeSet<usize>| of.iter().flat_map(|&other| &waits[other]).copied().collect();
            let more: Vec<BTreeSet<usize>> = waits.iter().map(indirect).collect();
            waits.iter_mut().zip(more).for_each(|(waits, more)| waits.extend(more));
        }
        let in_circle = |process: &usize| waits[*process].contains(process);
        let group = |process: usize| -> BTreeSet<usize> {
            waits[process].iter().copied().filter(|&other| waits[other].contains(&process)).collect()
        };
        (0..processes).filter(in_circle).map(group).collect::<BTreeSet<_>>().len()
    }

    /// The processes that a process waits for when the trace ends: receivers of its sends in a call that was
    /// never left, or before such a call that waits for requests. A process that has posted a receive may
    /// still continue.
    fn waits_for(&self, operations: &Operations, unmatched: &[usize], process: usize) -> BTreeSet<usize> {
        let of_process = || self.locations.iter().filter(|location| location.process == process);
        // Where the recorder is off at the end, or the events of a thread are missing, the call may have returned.
        let has_unknown_end =
            |it: &Location| it.is_missing || it.calls.iter().any(|call| call.is_open && call.is_off());
        if operations.have_open_receives[process] || of_process().any(has_unknown_end) {
            return BTreeSet::new();
        }
        let of_process = of_process();
        let open = of_process.flat_map(|location| &location.calls).filter(|call| call.is_open && call.is_mpi);
        let last = open.max_by_key(|call| call.enter).map_or("", |call| &call.mpi_name);
        let waits_for_requests = matches!(last, "wait" | "waitany" | "waitall" | "waitsome");
        let sends = unmatched.iter().map(|&send| &operations.sends[send]);
        let of_process = sends.filter(|send| send.channel.source == process);
        let waits = of_process.filter(|send| match send.completion {
            None => waits_for_requests,
            Some(at) => {
                self.locations[at.location].calls[at.call].is_open
                    && matches!(self.name(at), "send" | "ssend")
            }
        });
        waits.map(|send| send.channel.destination).collect()
    }
}

/// The sends that are neither received nor cancelled.
fn unmatched_sends(operations: &Operations, messages: &[(usize, usize)]) -> Vec<usize> {
    let is_unmatched = |send: &usize| {
        !operations.sends[*send].is_cancelled && messages.iter().all(|message| message.0 != *send)
    };
    (0..operations.sends.len()).filter(is_unmatched).collect()
}
