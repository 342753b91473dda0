//! Rows of windows, brought together at worker 0.

use model::Ticks;

use super::plan::Plan;
use super::read::prune;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, gather as gather_words};
use crate::ids::{PathId, ReportPath};
use crate::walk::{KeptCalls, MOST_CALLS, WindowCall};
use crate::wire::{Halves, Wire, wire};

/// A call of a location in a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::details) struct CallRow {
    pub(super) location: u32,
    /// The call path of the report.
    pub(super) path: ReportPath,
    /// The call; its path is that of its process.
    pub(super) call: WindowCall,
}

/// A message between locations of a window. Fields are the columns of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::details) struct MessageRow {
    pub(super) send_enter: Ticks,
    pub(super) send_leave: Ticks,
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) post: Ticks,
    pub(super) receive_leave: Ticks,
    pub(super) bytes: u64,
    pub(super) tag: u32,
    pub(super) communicator: u32,
    /// How long the receiver waited for the sender.
    pub(super) ticks: Ticks,
}

wire!(MessageRow {
    send_enter,
    send_leave,
    [source, destination],
    post,
    receive_leave,
    bytes,
    [tag, communicator],
    ticks,
});

/// Rows of all windows.
#[derive(Clone, Debug, Default)]
pub(in crate::details) struct Rows {
    /// Calls, by window.
    pub(super) calls: Vec<Vec<CallRow>>,
    /// By window: ticks below which calls may be missing, or 0.
    pub(super) dropped_below: Vec<Ticks>,
    /// Messages, by window.
    pub(super) messages: Vec<Vec<MessageRow>>,
}

impl Rows {
    /// No rows yet.
    pub(super) fn new(plan: &Plan) -> Rows {
        let windows = plan.windows.len();
        Rows {
            calls: vec![Vec::new(); windows],
            dropped_below: vec![0; windows],
            messages: vec![Vec::new(); windows],
        }
    }

    /// Adds the calls of a location in a window.
    pub(super) fn add_calls(
        &mut self,
        window: usize,
        location: u32,
        mut kept: KeptCalls,
        of_report: impl Fn(PathId) -> ReportPath,
    ) {
        kept.prune();
        self.dropped_below[window] = self.dropped_below[window].max(kept.dropped_below);
        let row = |call: WindowCall| CallRow { location, path: of_report(call.path), call };
        self.calls[window].extend(kept.calls.into_iter().map(row));
    }

    /// Adds the rows of a worker.
    fn add(&mut self, words: &[u64]) {
        let mut reader = BatchReader::new(words);
        for window in 0..self.calls.len() {
            let dropped = Wire::get(&mut reader);
            self.dropped_below[window] = self.dropped_below[window].max(dropped);
            self.calls[window].extend(Vec::<CallRow>::get(&mut reader));
            self.messages[window].extend(Vec::<MessageRow>::get(&mut reader));
        }
    }

    /// Leaves out what is beyond the limits, and sorts the rest: calls by location and time, outer ones first; messages by
    /// time.
    pub(super) fn finish(&mut self) {
        for (calls, dropped_below) in self.calls.iter_mut().zip(&mut self.dropped_below) {
            calls.sort_unstable_by_key(|row| (row.call.rank(), row.location));
            let beyond = calls.drain(calls.len().min(MOST_CALLS)..);
            let dropped = beyond.map(|row| row.call.ticks().saturating_add(1)).max().unwrap_or(0);
            *dropped_below = dropped.max(*dropped_below);
            calls.sort_unstable_by_key(|row| {
                let WindowCall { enter, leave, depth, .. } = row.call;
                (row.location, enter, depth, leave, row.path)
            });
        }
        for messages in &mut self.messages {
            prune(messages);
            messages.sort_unstable();
        }
    }
}

impl Wire for CallRow {
    fn put(&self, batch: &mut Batch) {
        let CallRow { location, path, call } = *self;
        let WindowCall { enter, leave, depth, is_mpi, .. } = call;
        (Halves(location, path), ((enter, leave), Halves(depth, is_mpi))).put(batch);
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        let (Halves(location, path), (times, what)): (Halves<u32, ReportPath>, (_, Halves<u32, bool>)) =
            Wire::get(reader);
        let ((enter, leave), Halves(depth, is_mpi)) = (times, what);
        // Call paths of processes mean nothing elsewhere.
        CallRow { location, path, call: WindowCall { enter, leave, path: PathId::NONE, depth, is_mpi } }
    }
}

/// Brings the rows of all workers together, at worker 0.
///
/// # Errors
/// If a worker failed.
pub(in crate::details) fn gather(own: Rows, plan: &Plan, exchange: &mut dyn Exchange) -> Result<Rows, Error> {
    let mut batch = Batch::new();
    for ((calls, messages), dropped) in own.calls.iter().zip(&own.messages).zip(&own.dropped_below) {
        dropped.put(&mut batch);
        calls.put(&mut batch);
        messages.put(&mut batch);
    }
    let mut all = Rows::new(plan);
    for batch in gather_words(exchange, batch)?.iter().filter(|batch| !batch.is_empty()) {
        all.add(batch);
    }
    all.finish();
    Ok(all)
}
