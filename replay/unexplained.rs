//! Unexplained time: time in MPI calls that is no wait state, and longer than the data transfer can take.
//!
//! A wait state needs a pattern. Where none applies, a call may still wait: for a message that the library of
//! the other side does not transfer while its process is outside of MPI, or for an operation that is not
//! analysed. Such time is known to be spent, but the reason is not; it counts as not analysed. Calls that make or
//! free something, or access a file, take their time for that.

use model::Ticks;
use rustc_hash::FxHashMap;

use crate::coverage::{Coverage, Fate};
use crate::focus::Windows;
use crate::ids::CallId;
use crate::int::{nearest, truncated};
use crate::operations::Operations;
use crate::trace::Trace;

/// Seconds that any call may take besides waiting: longer than networks need, shorter than users would
/// investigate.
const OVERHEAD: f64 = 0.001;

/// The lowest rate of transfer in bytes per second: less than that of the slowest networks of clusters.
const BANDWIDTH: f64 = 100e6;

/// Calls that take longer than [`OVERHEAD`], and how long they waited.
#[derive(Debug)]
pub(crate) struct LongCalls {
    /// Ticks of the overhead; `None` if unexplained time is not reported.
    overhead: Option<Ticks>,
    waited: FxHashMap<CallId, Ticks>,
}

impl LongCalls {
    /// Makes an empty list.
    pub(crate) fn new(trace: &Trace) -> LongCalls {
        let overhead = truncated(OVERHEAD * trace.definitions.clock.resolution as f64);
        let overhead = trace.semantics.knows_unexplained_time().then_some(overhead);
        LongCalls { overhead, waited: FxHashMap::default() }
    }

    /// Adds ticks that a call has waited.
    #[inline]
    pub(crate) fn add(&mut self, operations: &Operations, call: CallId, ticks: Ticks) {
        if self.is_long(operations, call) {
            let waited = self.waited.entry(call).or_default();
            *waited = waited.saturating_add(ticks);
        }
    }

    #[inline]
    fn is_long(&self, operations: &Operations, call: CallId) -> bool {
        self.overhead.is_some_and(|overhead| operations.call(call).interval.length() > overhead)
    }

    /// Takes unexplained time out of the analysed coverage; that of `lost` calls, in rising order, has been
    /// taken out already. If only windows count, where in a call the time lies is not known: they have the share that they have of
    /// the call.
    pub(crate) fn account(
        self,
        operations: &Operations,
        (lost, windows): (&[CallId], Option<&Windows>),
        resolution: u64,
        coverage: &mut Coverage,
    ) {
        let Some(overhead) = self.overhead else { return };
        let mut bytes: FxHashMap<CallId, u64> = FxHashMap::default();
        for at in CallId::default().until(CallId::new(operations.calls.len())) {
            let call = operations.call(at);
            let is_counted = call.is_analysed && !call.site.has_own_work && lost.binary_search(&at).is_err();
            if is_counted && self.is_long(operations, at) {
                bytes.insert(at, 0);
            }
        }
        if bytes.is_empty() {
            return;
        }
        let mut add = |call: CallId, more: u64| {
            if let Some(sum) = bytes.get_mut(&call) {
                *sum = sum.saturating_add(more);
            }
        };
        for send in operations.sends.iter() {
            add(send.call, send.bytes);
            if send.completion != send.call {
                add(send.completion, send.bytes);
            }
        }
        operations.receives.iter().for_each(|receive| add(receive.call, receive.bytes));
        for collective in &operations.collectives {
            add(collective.call, collective.sent.saturating_add(collective.received));
        }
        for done in operations.nonblocking.iter().filter_map(|operation| operation.done) {
            add(done.call, done.sent.saturating_add(done.received));
        }
        for (call, bytes) in bytes {
            let moving = truncated(bytes as f64 / BANDWIDTH * resolution as f64);
            let waited = self.waited.get(&call).copied().unwrap_or(0);
            let interval = operations.call(call).interval;
            let rest = interval.length().saturating_sub(waited);
            let unexplained = rest.saturating_sub(overhead).saturating_sub(moving);
            if unexplained > 0 {
                let counted = windows.map_or(unexplained, |windows| {
                    let inside = windows.inside(interval.enter, interval.length());
                    nearest(i128::from(unexplained) * i128::from(inside) / i128::from(interval.length()))
                });
                coverage.lose(Fate::Unexplained, counted);
            }
        }
    }
}
