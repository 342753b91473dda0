//! Late senders of blocking probes (rest of MPI 6.2).

use replay::Semantics;

use super::events::Envelope;
use super::operations::{Channel, Operations};
use super::read::Call;
use super::world::World;
use super::{Analysis, Edge, EventRef};

/// Whether a function blocks until it finds a message.
fn blocks(name: &str) -> bool {
    name == "probe" || name == "mprobe"
}

impl Analysis {
    pub(super) fn probes(&mut self, operations: &Operations, messages: &[(usize, usize)], world: &World) {
        if self.semantics == Semantics::Reference {
            return;
        }
        let calls = self.locations.iter().enumerate().flat_map(|(location, it)| {
            let calls = it.calls.iter().enumerate().filter(|(_, call)| blocks(&call.mpi_name));
            calls.map(move |(call, _)| (location, call))
        });
        for (location, call) in calls.collect::<Vec<_>>() {
            let end = self.end_of(location, call);
            let Some(receive) = self.receive_of_probe(operations, world, end) else { continue };
            let Some(&(send, _)) = messages.iter().find(|message| message.1 == receive) else { continue };
            let sent = operations.sends[send].at;
            let (enter, leave) = (self.enter(end), self.leave(end));
            let tells = world.has_found_messages || self.claims(operations, end).is_some();
            if !tells && self.enter(sent) > leave {
                continue;
            }
            let wait = self.enter(sent).min(leave) - enter;
            if wait > 0 {
                self.add_ticks("mpi_latesender", end, enter, wait);
                let is_empty = operations.sends[send].bytes == 0;
                let done = operations.receives[receive].done;
                self.add_entered(if is_empty { "mpi_sls_count" } else { "mpi_cls_count" }, done, 1);
                self.edges.push(Edge::new("latesender", end, sent, (enter, wait)));
            }
        }
    }

    /// The record of the message that a probe has claimed.
    pub(super) fn claims(&self, operations: &Operations, probe: EventRef) -> Option<EventRef> {
        let is_inside = |event: &&EventRef| (event.location, event.call) == (probe.location, probe.call);
        operations.claimed.iter().find(is_inside).copied()
    }

    /// The receive of the message that a probe has found.
    fn receive_of_probe(&self, operations: &Operations, world: &World, end: EventRef) -> Option<usize> {
        let receives = || operations.receives.iter().enumerate();
        if let Some(record) = self.claims(operations, end) {
            let is_this = |event: EventRef| (event.location, event.at) == (record.location, record.at);
            return receives().find(|(_, receive)| is_this(receive.claimed)).map(|(at, _)| at);
        }
        if world.has_found_messages {
            let found = self.locations[end.location].calls[end.call].found?;
            return self.first_receive(operations, found, end);
        }
        // Several probes may look for the message of one receive: the last one counts.
        let posted = self.next_posted(operations, end)?;
        let calls = &self.locations[end.location].calls;
        let is_later = |it: &Call| blocks(&it.mpi_name) && it.left_at > end.at && it.left_at < posted.at;
        if calls.iter().any(is_later) {
            return None;
        }
        receives().find(|(_, receive)| is_same(receive.claimed, posted)).map(|(at, _)| at)
    }

    /// The first receive of this source, tag and communicator that the process posts after a probe.
    fn first_receive(&self, operations: &Operations, found: Envelope, end: EventRef) -> Option<usize> {
        let process = self.process(end);
        let left = operations.leaves.iter().find(|leave| is_same(**leave, end))?;
        let is_this = |channel: Channel| {
            (channel.communicator, channel.destination, channel.tag)
                == (found.communicator, process, found.tag)
        };
        let receives = operations.receives.iter().enumerate();
        let later = receives.filter(|(_, receive)| {
            receive.claimed.order > left.order
                && is_this(receive.channel)
                && receive.source_rank == found.peer
        });
        later.min_by_key(|(_, receive)| receive.claimed.order).map(|(at, _)| at)
    }

    /// The next event on the location that posts a receive.
    pub(super) fn next_posted(&self, operations: &Operations, end: EventRef) -> Option<EventRef> {
        let later = operations.posted.iter().filter(|it| it.location == end.location && it.at > end.at);
        later.min_by_key(|it| it.at).copied()
    }
}

pub(super) fn is_same(one: EventRef, other: EventRef) -> bool {
    (one.location, one.at) == (other.location, other.at)
}
