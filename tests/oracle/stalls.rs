//! Messages that do not move on, as the other process is outside of MPI (rest of MPI 6.5).

use std::collections::BTreeMap;

use model::mpi::makes_progress;
use replay::Semantics;

use super::operations::Operations;
use super::read::Call;
use super::{Analysis, Edge, EventRef};

/// Whether a function completes messages and does not return before.
fn completes(name: &str) -> bool {
    let name = name.strip_suffix("_c").unwrap_or(name);
    matches!(
        name,
        "send"
            | "ssend"
            | "recv"
            | "mrecv"
            | "sendrecv"
            | "sendrecv_replace"
            | "wait"
            | "waitany"
            | "waitall"
            | "waitsome"
    )
}

impl Analysis {
    pub(super) fn stalls(&mut self, operations: &Operations, messages: &[(usize, usize)], resolution: u64) {
        if self.semantics == Semantics::Reference {
            return;
        }
        // By call: the longest wait, and the lowest process of equal ones.
        let mut longest: BTreeMap<(usize, usize), (i64, usize, EventRef, i64)> = BTreeMap::new();
        for &(send, receive) in messages {
            let (send, receive) = (&operations.sends[send], &operations.receives[receive]);
            let sides = [
                (Some(receive.done), send.channel.source, self.leave(send.at)),
                (send.completion, send.channel.destination, i64::MIN),
            ];
            for (event, other, sent) in sides {
                let Some(event) = event.filter(|&event| self.process(event) != other) else { continue };
                let Some((since, returned)) = self.stall(event, other, sent, resolution) else { continue };
                let this = (returned.time - since, other, returned, since);
                let known = longest.entry((event.location, event.call)).or_insert(this);
                if (this.0, known.1) > (known.0, this.1) {
                    *known = this;
                }
            }
        }
        for ((location, call), (wait, _, cause, since)) in longest {
            let waiting = self.end_of(location, call);
            self.add_ticks("mpi_p2p_wait_for_progress", waiting, since, wait);
            self.edges.push(Edge::new("progress", waiting, cause, (since, wait)));
        }
    }

    /// From when on the call of an event waits for nothing but another process's return to MPI, and that return.
    fn stall(&self, event: EventRef, other: usize, sent: i64, resolution: u64) -> Option<(i64, EventRef)> {
        let waited = self.waited.get(&(event.location, event.call)).copied().unwrap_or(0);
        let since = sent.max(self.enter(event) + waited);
        let leave = self.leave(event);
        let shortest = (resolution / 50_000).max(1) as i64;
        if !completes(self.name(event)) || leave - since < shortest {
            return None;
        }
        let returned = self.back_in_mpi(other, since)?;
        let is_reason = returned.time <= leave && 2 * (returned.time - since) >= leave - since;
        is_reason.then_some((since, returned))
    }

    /// Rest of MPI 2.5: a process that is outside of MPI at a time enters the next call in which MPI makes progress.
    pub(super) fn back_in_mpi(&self, process: usize, since: i64) -> Option<EventRef> {
        let in_mpi = self.calls_of(process).filter(|(_, it)| it.is_mpi && makes_progress(&it.mpi_name));
        let in_mpi: Vec<(EventRef, &Call)> = in_mpi.collect();
        if in_mpi.iter().any(|(_, it)| it.enter <= since && it.leave > since) {
            return None;
        }
        let later = in_mpi.into_iter().filter(|(_, it)| it.enter > since).map(|(place, _)| place);
        later.min_by_key(|place| (place.time, place.location, place.at))
    }

    /// The calls of a process, with the events of entering them.
    pub(super) fn calls_of(&self, process: usize) -> impl Iterator<Item = (EventRef, &Call)> {
        let locations = self.locations.iter().enumerate().filter(move |(_, it)| it.process == process);
        locations.flat_map(|(location, it)| {
            it.calls.iter().enumerate().map(move |(call, it)| {
                (EventRef { location, call, time: it.enter, order: 0, at: it.entered_at }, it)
            })
        })
    }
}
