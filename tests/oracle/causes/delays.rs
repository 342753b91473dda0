//! Delays: excess work that made another location wait, and earlier waiting that propagated the wait
//! (specification 9).

use crate::oracle::{Edge, EventRef};

use super::points::{Next, Point};
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
    /// The share of the wait that counts (structure 3.4).
    pub(super) share: f64,
    /// Positions of the waiting points of the causing location that propagated the wait.
    pub(super) reach: Vec<usize>,
}

impl Delay {
    /// D + W
    pub(super) fn denominator(&self) -> f64 {
        (sum(&self.excess) + self.waited) as f64
    }
}

/// Whether a class is that of waits for messages.
pub(super) fn is_of_message(class: &str) -> bool {
    class == "latesender" || class == "latereceiver"
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
    /// Specification 9.1 and 9.2, rest of MPI 2.3
    pub(super) fn of_edges(&self) -> Vec<Delay> {
        self.analysis.edges.iter().filter_map(|edge| self.of_edge(edge)).collect()
    }

    fn of_edge(&self, edge: &Edge) -> Option<Delay> {
        let &Edge { class, waiting, cause: causing, begin, wait, .. } = edge;
        // Q23: the first wait at an event counts, and an event that waits for a message is no cause of others.
        let is_first = |point: &&Point| matches!(point.next, Next::At(cause) if cause == causing);
        self.points.at(waiting).filter(is_first)?;
        // Of an epoch, a lock, or a transfer in two calls, others wait until its call is entered, whatever that waits for.
        self.points.at(causing).filter(|point| point.wait == 0 || matches!(class, "rma" | "io"))?;
        let past = self.points.previous(waiting, self.analysis.process(causing));
        let since = self.points.previous(causing, self.analysis.process(waiting));
        let (own, between) = match edge.requested {
            // Rest of MPI 8.4: what the holder of a lock did since it asked for it.
            Some(requested) => (self.prune_since(requested, causing), self.points.after(requested, causing)),
            None => (self.prune(since, causing), self.points.between(since, causing)),
        };
        let compared = if edge.is_lock { TimeMap::new() } else { self.prune(past, waiting) };
        let excess = difference(&own, &compared);
        let waited = sum(&self.waits(&between));
        let scale = ratio(wait, sum(&excess) + waited);
        let scale = if edge.is_lock { scale } else { scale.min(1.0) };
        let reach = self::waiting(between);
        let share = self.analysis.focus.share(begin, wait);
        Some(Delay { class, waiting: Some(waiting), causing, excess, waited, scale, share, reach })
    }

    /// Adds the short-term costs of delays.
    pub(super) fn short_term(&self, delays: &[Delay], found: &mut Found) {
        for delay in delays {
            for (path, &ticks) in &delay.excess {
                let metric = format!("delay_{}", delay.class);
                let cost = delay.scale * delay.share * ticks as f64;
                found.add(&metric, path, delay.causing.location, cost);
            }
        }
    }
}
