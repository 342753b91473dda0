//! Delays: excess work that made another location wait, and earlier waiting that propagated the wait
//! (specification 9).

use crate::oracle::EventRef;
use crate::oracle::messages::Late;

use super::points::{Point, edges, late_receivers};
use super::time_map::{TimeMap, difference, sum};
use super::{Causes, Found};

/// A delay: one location makes another one wait.
#[derive(Clone, Debug)]
pub(super) struct Delay {
    /// Class of the delay, in the names of metrics.
    pub(super) class: &'static str,
    /// The event that waits; none for idle threads.
    pub(super) waiting: Option<EventRef>,
    /// The event that it waits for.
    pub(super) causing: EventRef,
    /// d: the excess of the causing location.
    pub(super) excess: TimeMap,
    /// The waiting time of the causing location since the last synchronisation of both.
    pub(super) waited: i64,
    /// The share of the wait in each tick of excess or waiting.
    pub(super) scale: f64,
    /// Positions of the waiting points of the causing location that propagated the wait.
    pub(super) reach: Vec<usize>,
}

impl Delay {
    /// D + W
    pub(super) fn denominator(&self) -> f64 {
        (sum(&self.excess) + self.waited) as f64
    }

    pub(super) fn is_of_message(&self) -> bool {
        self.class == "latesender" || self.class == "latereceiver"
    }
}

/// A quotient, or 0 if the divisor is 0.
pub(super) fn ratio(of: i64, by: i64) -> f64 {
    if by > 0 { of as f64 / by as f64 } else { 0.0 }
}

/// The positions of the points with waiting time.
pub(super) fn waiting<'a>(points: impl IntoIterator<Item = &'a Point>) -> Vec<usize> {
    points.into_iter().filter(|point| point.wait > 0).map(|point| point.place.at).collect()
}

impl Causes<'_> {
    /// Specification 9.1 and 9.2
    pub(super) fn of_messages(&self) -> Vec<Delay> {
        let late = self.analysis.late_senders.iter().map(|&Late { send, receive, idle }| {
            let (s, r) = (self.operations.sends[send].at, self.operations.receives[receive].done);
            self.of_edge("latesender", r, s, idle)
        });
        let others = late_receivers(self.analysis, self.operations).into_iter();
        let others = others.map(|(c, req, idle)| self.of_edge("latereceiver", c, req, idle));
        late.chain(others).flatten().collect()
    }

    /// Rest of MPI 2.3 and 4.5
    pub(super) fn of_collective_waits(&self) -> Vec<Delay> {
        let edges = edges(self.analysis);
        edges.filter_map(|it| self.of_edge(it.costs()?, it.done, it.cause, it.idle())).collect()
    }

    /// A wait of one event for another one.
    fn of_edge(&self, class: &'static str, waiting: EventRef, causing: EventRef, wait: i64) -> Option<Delay> {
        // Q23: an event that waits itself is not a cause.
        self.points.at(causing).filter(|point| point.wait == 0)?;
        let past = self.points.previous(waiting, self.analysis.process(causing));
        let since = self.points.previous(causing, self.analysis.process(waiting));
        let excess = difference(&self.prune(since, causing), &self.prune(past, waiting));
        let waited = self.waited(since, causing);
        let scale = ratio(wait, sum(&excess) + waited).min(1.0);
        let reach = self::waiting(self.points.between(since, causing));
        Some(Delay { class, waiting: Some(waiting), causing, excess, waited, scale, reach })
    }

    /// Adds the short-term costs of delays.
    pub(super) fn short_term(&self, delays: &[Delay], found: &mut Found) {
        for delay in delays {
            for (path, &ticks) in &delay.excess {
                let metric = format!("delay_{}", delay.class);
                found.add(&metric, path, delay.causing.location, delay.scale * ticks as f64);
            }
        }
    }
}
