//! Wait states of messages (specification 5).

use std::collections::{BTreeMap, BTreeSet};

use replay::Semantics;

use super::nonblocking::CollectiveWaits;
use super::operations::Operations;
use super::{Analysis, Edge, EventRef};

/// Number of late senders that the reference keeps (Q6).
const REMEMBERED: usize = 100;

/// A message that one side waits for, with the waiting time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late {
    pub(crate) send: usize,
    pub(crate) receive: usize,
    pub(crate) idle: i64,
}

/// State of a process while its events are replayed.
#[derive(Default)]
struct ReplayState {
    /// Of each location: the longest wait of the current Waitall or Waitsome, with that call.
    longest: BTreeMap<usize, (usize, Late)>,
    /// Late messages so far: message order belongs to the process, whichever threads receive.
    reported: Vec<Late>,
}

/// Calls that complete several requests at once.
fn is_multiple(name: &str) -> bool {
    name == "waitall" || name == "waitsome"
}

/// Calls that send a message and receive one.
fn is_combined(name: &str) -> bool {
    name == "sendrecv" || name == "sendrecv_replace"
}

/// The events of a process in order: received messages and leaves of calls.
fn receives_and_leaves(
    operations: &Operations,
    messages: &[(usize, usize)],
    is_here: impl Fn(EventRef) -> bool,
) -> Vec<(EventRef, Option<(usize, usize)>)> {
    let received = messages.iter().map(|&message| (operations.receives[message.1].done, Some(message)));
    let left = operations.leaves.iter().map(|&place| (place, None));
    let mut all: Vec<_> = received.chain(left).filter(|(place, _)| is_here(*place)).collect();
    all.sort_by_key(|(place, _)| place.order);
    all
}

impl Analysis {
    /// Specification 5.2 and 5.3. Returns the calls of Waitall and Waitsome that had a late sender or waited for a collective
    /// operation: location and call. Of the waits for collective operations those remain that are the longest of their calls
    /// (rest of MPI 2.4).
    pub(super) fn late_senders(
        &mut self,
        operations: &Operations,
        messages: &[(usize, usize)],
        collectives: &mut CollectiveWaits,
    ) -> BTreeSet<(usize, usize)> {
        let mut with_longer_wait: BTreeSet<(usize, usize)> = collectives.keys().copied().collect();
        for process in 0..operations.gaps.len() {
            let mut memory = ReplayState::default();
            let combined = self.combined(operations, messages);
            let is_here = |place: EventRef| self.locations[place.location].process == process;
            for (place, message) in receives_and_leaves(operations, messages, is_here) {
                if let Some((send, receive)) = message {
                    match self.late_sender(operations, send, receive) {
                        Some(late) if is_multiple(self.name(place)) => {
                            let longest = memory.longest.get(&place.location);
                            if longest.is_none_or(|(_, longest)| late.idle > longest.idle) {
                                memory.longest.insert(place.location, (place.call, late));
                                with_longer_wait.insert((place.location, place.call));
                            }
                        }
                        // Rest of MPI 6.1: the wait for the receiver is longer.
                        Some(late)
                            if combined
                                .get(&(place.location, place.call))
                                .is_some_and(|held| held.idle > late.idle) => {}
                        Some(late) => self.report(operations, &mut memory, late),
                        None => {}
                    }
                    self.wrong_order(operations, &mut memory, send, receive);
                } else {
                    self.left(operations, &mut memory, place, collectives);
                }
            }
        }
        with_longer_wait
    }

    /// Rest of MPI 6.1: the waits for receivers in calls that send and receive, by location and call; none in the reference's
    /// semantics.
    fn combined(
        &self,
        operations: &Operations,
        messages: &[(usize, usize)],
    ) -> BTreeMap<(usize, usize), Late> {
        let late = |&(send, receive): &(usize, usize)| {
            let c = operations.sends[send].completion?;
            let posted = self.enter(operations.receives[receive].posted);
            let idle = posted - self.enter(c);
            let is_late = is_combined(self.name(c)) && self.leave(c) > posted && idle > 0;
            is_late.then_some(((c.location, c.call), Late { send, receive, idle }))
        };
        let late = messages.iter().filter_map(late);
        late.filter(|_| self.semantics == Semantics::Corrected).collect()
    }

    /// A call is left: if it is the Waitall or Waitsome with a late sender, that is reported, unless it waited longer for a
    /// collective operation.
    fn left(
        &mut self,
        operations: &Operations,
        memory: &mut ReplayState,
        place: EventRef,
        collectives: &mut CollectiveWaits,
    ) {
        match memory.longest.remove(&place.location) {
            Some((call, late)) if call == place.call => {
                let this = (place.location, call);
                if collectives.get(&this).is_none_or(|collective| collective.idle() <= late.idle) {
                    collectives.remove(&this);
                    self.report(operations, memory, late);
                }
            }
            Some(longest) if self.semantics == Semantics::Corrected => {
                memory.longest.insert(place.location, longest);
            }
            // Q5: the reference drops it at any leave.
            _ => {}
        }
    }

    /// Specification 5.2: the receiver was ready before the sender entered its call.
    fn late_sender(&self, operations: &Operations, send: usize, receive: usize) -> Option<Late> {
        let (s, r) = (operations.sends[send].at, operations.receives[receive].done);
        let idle = self.enter(s).min(self.leave(r)) - self.enter(r);
        (!self.name(r).starts_with("test") && idle > 0).then_some(Late { send, receive, idle })
    }

    fn report(&mut self, operations: &Operations, memory: &mut ReplayState, late: Late) {
        let r = operations.receives[late.receive].done;
        let is_empty = operations.sends[late.send].bytes == 0;
        let begin = self.enter(r);
        self.add_ticks("mpi_latesender", r, begin, late.idle);
        self.add_entered(if is_empty { "mpi_sls_count" } else { "mpi_cls_count" }, r, 1);
        let cause = operations.sends[late.send].at;
        self.edges.push(Edge::new("latesender", r, cause, (begin, late.idle)));
        self.waited.insert((r.location, r.call), late.idle);
        memory.reported.push(late);
        if self.semantics == Semantics::Reference && memory.reported.len() > REMEMBERED {
            memory.reported.remove(0);
        }
    }

    /// Specification 5.3: the message received now was sent before one that was waited for earlier.
    fn wrong_order(
        &mut self,
        operations: &Operations,
        memory: &mut ReplayState,
        send: usize,
        receive: usize,
    ) {
        let sent = operations.sends[send].at.time;
        for late in std::mem::take(&mut memory.reported) {
            if operations.sends[late.send].at.time <= sent {
                memory.reported.push(late);
                continue;
            }
            let (before, now) = (&operations.receives[late.receive], &operations.receives[receive]);
            let is_same = before.source_rank == now.source_rank;
            let is_empty = operations.sends[late.send].bytes == 0;
            let (done, begin) = (before.done, self.enter(before.done));
            self.add_ticks("mpi_latesender_wo", done, begin, late.idle);
            let of_source = if is_same { "mpi_lswo_same" } else { "mpi_lswo_different" };
            self.add_ticks(of_source, done, begin, late.idle);
            self.add_entered(if is_empty { "mpi_slswo_count" } else { "mpi_clswo_count" }, done, 1);
        }
    }

    /// Specification 5.4, 5.5: the sender was ready before the receive was posted.
    pub(super) fn late_receivers(
        &mut self,
        operations: &Operations,
        messages: &[(usize, usize)],
        with_longer_wait: &BTreeSet<(usize, usize)>,
    ) {
        // The longest wait of each Waitall and Waitsome; among equals, the one that was sent last.
        let mut longest: BTreeMap<(usize, usize), (usize, EventRef, Late)> = BTreeMap::new();
        for &(send, receive) in messages {
            let Some(c) = operations.sends[send].completion else { continue };
            let posted = self.enter(operations.receives[receive].posted);
            let idle = posted - self.enter(c);
            if self.leave(c) <= posted || idle <= 0 {
                continue;
            }
            let late = Late { send, receive, idle };
            match self.name(c) {
                "send" | "ssend" | "wait" | "waitany" => self.late_receiver(operations, c, late),
                name if is_combined(name) && self.semantics == Semantics::Corrected => {
                    let sender = messages.iter().filter_map(|&(send, receive)| {
                        let done = operations.receives[receive].done;
                        let is_here = (done.location, done.call) == (c.location, c.call);
                        is_here.then(|| self.late_sender(operations, send, receive)).flatten()
                    });
                    if sender.map(|sender| sender.idle).max().is_none_or(|sender| late.idle > sender) {
                        self.late_receiver(operations, c, late);
                    }
                }
                name if is_multiple(name) && !with_longer_wait.contains(&(c.location, c.call)) => {
                    let this = (operations.sends[send].at.order, c, late);
                    let known = longest.entry((c.location, c.call)).or_insert(this);
                    if (known.2.idle, known.0) < (idle, this.0) {
                        *known = this;
                    }
                }
                _ => {}
            }
        }
        for (_, c, late) in longest.into_values() {
            self.late_receiver(operations, c, late);
        }
    }

    fn late_receiver(&mut self, operations: &Operations, c: EventRef, late: Late) {
        let (posted, begin) = (operations.receives[late.receive].posted, self.enter(c));
        // Rest of MPI 6.1: a call that sends as well waits behind the posting for the receiver of what it sends.
        let cause = match self.semantics {
            Semantics::Corrected if is_combined(self.name(posted)) => self.entering(posted),
            _ => posted,
        };
        self.edges.push(Edge::new("latereceiver", c, cause, (begin, late.idle)));
        self.waited.insert((c.location, c.call), late.idle);
        self.add_ticks("mpi_latereceiver", c, begin, late.idle);
        let is_empty = operations.sends[late.send].bytes == 0;
        self.add_entered(if is_empty { "mpi_slr_count" } else { "mpi_clr_count" }, c, 1);
    }
}
