//! A delay at its two sides, as far as it is known there.

use model::Ticks;

use super::delay::Delay;
use super::previous::Past;
use super::reach::Reach;
use super::time_line::TimeLine;
use crate::call_tree::NO_PATH;
use crate::groups::Groups;
use crate::ids::JournalPosition;
use crate::int::to_u32;
use crate::severity::Row;
use crate::tools::Tools;

/// A delay at the location that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The delay.
    pub(super) delay: Delay,
    /// What its location did since both sides had synchronised.
    pub(super) past: Past,
    /// How long its location waits there, if that has caused more waiting, so that it may have costs of its own; else 0.
    pub(super) costly: Ticks,
    /// The row of the event that waits.
    pub(super) row: Row,
}

impl Wait {
    /// A delay of which nothing is known yet.
    pub(super) fn new(delay: Delay) -> Wait {
        Wait { delay, past: Past::default(), costly: 0, row: 0 }
    }
}

/// The delays of this worker's locations, in the order of their causes.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    /// All of them.
    pub(super) list: Vec<Wait>,
    /// Where those begin that are caused at each worker, and the end of all. There they have numbers from 0.
    pub(super) firsts: Vec<usize>,
    /// Their numbers in the list, by waiting location.
    pub(super) of_line: Groups,
}

impl Waits {
    /// The delays of which this worker has told others, in the order of their causes.
    pub(super) fn new(
        tools: &Tools<'_>,
        delays: impl ExactSizeIterator<Item = Delay>,
        workers: usize,
    ) -> Waits {
        let list: Vec<Wait> = delays.map(Wait::new).collect();
        let worker = |wait: &Wait| tools.owner_of(wait.delay.causing.location);
        let firsts = (0..=workers).map(|first| list.partition_point(|wait| worker(wait) < first)).collect();
        Waits { list, firsts, of_line: Groups::default() }
    }
}

/// A delay at the location that causes it.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    /// The delay.
    pub(super) delay: Delay,
    /// What its location did since both sides had synchronised.
    pub(super) past: Past,
    /// The report's call path of the event that waits; none of idle threads.
    pub(super) waiting_path: u32,
    /// The wait states that it is passed on to.
    pub(super) reach: Reach,
    /// Excess work and waiting on this side, together, in ticks.
    pub(super) denominator: f64,
    /// The waiting in the short term, per tick of both.
    pub(super) scale: f64,
    /// Whether the waiting has costs of its own, which will come.
    pub(super) awaits_costs: bool,
    /// Where the excess work begins in [`Causes::kept`], and how many rows it has; `None` if it was too much to keep, or nothing
    /// is charged.
    pub(super) kept: Option<(u32, u32)>,
}

impl Cause {
    /// A delay of which nothing is known yet.
    pub(super) fn new(delay: Delay) -> Cause {
        Cause {
            delay,
            past: Past::default(),
            waiting_path: NO_PATH,
            reach: None,
            denominator: 0.0,
            scale: 0.0,
            awaits_costs: false,
            kept: None,
        }
    }
}

/// The delays that this worker's locations cause, by the worker that told.
#[derive(Clone, Debug, Default)]
pub(super) struct Causes {
    /// All of them.
    pub(super) list: Vec<Cause>,
    /// Where those of each worker begin; and the end of all that were told: idle threads follow.
    pub(super) firsts: Vec<usize>,
    /// Since when the main thread worked alone, for each of these.
    pub(super) alone_since: Vec<Option<JournalPosition>>,
    /// Their numbers in the list, by causing location.
    pub(super) of_line: Groups,
    /// Excess work by row, of one cause after the other.
    pub(super) kept: Vec<(Row, Ticks)>,
}

impl Causes {
    /// The excess work of a cause by row, if it was kept.
    pub(super) fn excess(&self, cause: u32) -> Option<&[(Row, Ticks)]> {
        let (first, count) = self.list[cause as usize].kept?;
        Some(&self.kept[first as usize..][..count as usize])
    }

    /// The worker that told of a cause, and the number there.
    pub(super) fn told(&self, cause: u32) -> (usize, u32) {
        told(&self.firsts, cause)
    }

    /// The event behind which the work of a cause begins that is charged; the begin of the trace without one.
    pub(super) fn since(&self, cause: usize, line: &TimeLine) -> Option<JournalPosition> {
        let count = self.firsts.last().copied().unwrap_or(0);
        match cause.checked_sub(count) {
            Some(alone) => self.alone_since[alone],
            None => self.list[cause].past.after().map(|after| line.points()[after].position),
        }
    }
}

/// The worker to whose numbers one in a list belongs, and the number there.
fn told(firsts: &[usize], number: u32) -> (usize, u32) {
    let worker = firsts.partition_point(|&first| first <= number as usize) - 1;
    (worker, number - to_u32(firsts[worker]))
}
