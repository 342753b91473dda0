//! A delay at its two sides, as far as it is known there.

use std::ops::Range;

use model::Ticks;

use super::delay::{Class, Costs, Delay};
use super::previous::Past;
use super::reach::Reach;
use crate::call_tree::NO_PATH;
use crate::journal::Position;
use crate::severity::Row;

/// A delay at the location that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The delay.
    pub(super) delay: Delay,
    /// The worker that owns the causing location.
    pub(super) worker: usize,
    /// Its number among the delays that this worker told that one.
    pub(super) number: u32,
    /// What its location did since both sides had synchronised.
    pub(super) past: Past,
    /// Whether its waiting has caused more waiting, so that it may have costs of its own.
    pub(super) has_costs: bool,
}

/// A delay at the location that causes it.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    /// The delay.
    pub(super) delay: Delay,
    /// What its location did since both sides had synchronised.
    pub(super) past: Past,
    /// The event behind which the work begins that is charged; the begin of the trace without one.
    pub(super) since: Option<Position>,
    /// The report's call path of the event that waits; none of idle threads.
    pub(super) waiting_path: u32,
    /// The wait states that it is passed on to.
    pub(super) reach: Reach,
    /// Whether the waiting has costs of its own, which will come.
    pub(super) awaits_costs: bool,
    /// Excess work and waiting on this side, together, in ticks.
    pub(super) denominator: f64,
    /// The waiting in the short term, per tick of both.
    pub(super) scale: f64,
    /// The excess work by row, if costs will come: in [`Causes::shares`]. `None` if it was too much to keep.
    pub(super) shares: Option<Range<usize>>,
}

impl Cause {
    /// A delay of which nothing is known yet.
    pub(super) fn new(delay: Delay) -> Cause {
        Cause {
            delay,
            past: Past::default(),
            since: None,
            waiting_path: NO_PATH,
            reach: None,
            awaits_costs: false,
            denominator: 0.0,
            scale: 0.0,
            shares: Some(0..0),
        }
    }

    /// What a tick of it costs in the long term, by class, if its waiting costs this (9.1).
    pub(super) fn long_term(&self, mut costs: Costs) -> Costs {
        if self.delay.class == Class::ThreadBarrier {
            // The reference does not pass on what waiting at barriers of threads costs through further ones (Q16).
            costs[Class::ThreadBarrier as usize] = 0.0;
        }
        costs.map(|cost| cost / self.denominator)
    }
}

/// The delays that this worker's locations cause, by the worker that told.
#[derive(Clone, Debug, Default)]
pub(super) struct Causes {
    /// All of them.
    pub(super) list: Vec<Cause>,
    /// Where those of each worker begin; and the end of all that were told: idle threads follow.
    pub(super) firsts: Vec<usize>,
    /// Excess work by row.
    pub(super) shares: Vec<(Row, Ticks)>,
}

impl Causes {
    /// The worker that told a cause.
    pub(super) fn worker_of(&self, cause: usize) -> usize {
        self.firsts.partition_point(|&first| first <= cause) - 1
    }
}
