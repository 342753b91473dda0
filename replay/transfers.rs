//! How long messages took that nobody waited for, from the enter of the send to the end of the receive.
//!
//! Each side of a message knows whether it has waited itself. If the receive was posted before the send was entered, the
//! sender has not waited for that, so the receiver knows the rest; else the receiver has not waited for the send, and the
//! sender knows the rest. (A call that completes a request is entered after the request was made.)

use model::Ticks;

use crate::int::to_u32;
use crate::matching::SendFacts;
use crate::operations::Operations;

/// The messages of a process.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    /// Those that it has received, by position.
    pub deliveries: Vec<Delivery>,
    /// Those that it has sent, of which it knows the time: position, and ticks.
    pub sent: Vec<(u32, u64)>,
}

/// A message that a process has received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Its length, as the sender knows it if there is one.
    pub bytes: u64,
    /// The ticks that it took, if nobody waited and the receiver knows it.
    pub time: Option<u64>,
}

impl Transfers {
    /// Adds the next receive. `send` is its other side, if there is one; `has_waited` says that the receiver waited for it.
    pub(crate) fn receive(&mut self, operations: &Operations, send: Option<&SendFacts>, has_waited: bool) {
        let at = self.deliveries.len();
        let receive = &operations.receives[at];
        let posted = || operations.posting(to_u32(at)).enter;
        let is_known =
            |send: &&SendFacts| send.is_mpi && !has_waited && is_known_to_receiver(send.call.enter, posted());
        let time = send.filter(is_known).and_then(|send| ticks_between(send.call.enter, receive.time));
        self.deliveries.push(Delivery { bytes: send.map_or(receive.bytes, |send| send.bytes), time });
    }

    /// Adds a send that did not wait, whose receive was posted in a call entered at `posting`, and ended at `received`.
    pub(crate) fn send(&mut self, operations: &Operations, at: usize, posting: Ticks, received: Ticks) {
        let call = operations.call(operations.sends[at].call);
        if call.site.is_mpi && !is_known_to_receiver(call.interval.enter, posting) {
            let time = ticks_between(call.interval.enter, received);
            self.sent.extend(time.map(|time| (to_u32(at), time)));
        }
    }
}

fn is_known_to_receiver(send: Ticks, posting: Ticks) -> bool {
    posting <= send
}

/// `None` if clocks are wrong.
fn ticks_between(begin: Ticks, end: Ticks) -> Option<u64> {
    u64::try_from(end.saturating_sub(begin)).ok()
}
