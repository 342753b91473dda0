//! Waits and causes: a delay with the data of its waiting and of its causing location.

use model::Ticks;

use super::ComparedWork;
use super::delay::Delay;
use super::previous::Past;
use super::reach::Reach;
use super::time_line::TimeLine;
use crate::groups::Groups;
use crate::ids::{JournalPosition, ReportPath, Row};
use crate::int::to_u32;
use crate::tools::Tools;

/// A delay at the location that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The delay.
    pub(super) delay: Delay,
    /// The past of its location since the last common synchronisation of both sides.
    pub(super) past: Past,
    /// The waiting time of its location there, if that has caused more waiting, so that it may have costs of
    /// its own; else 0.
    pub(super) costly: Ticks,
    /// The row of the event that waits.
    pub(super) row: Row,
}

impl Wait {
    /// Returns a wait without any data yet.
    pub(super) fn new(delay: Delay) -> Wait {
        Wait { delay, past: Past::default(), costly: 0, row: Row::default() }
    }
}

/// The delays of waiting locations of this worker, in the order of their causes.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    /// All of them.
    pub(super) list: Vec<Wait>,
    /// Start of the delays caused at each worker, and the end of all. At that worker they have numbers from
    /// 0.
    pub(super) firsts: Vec<usize>,
    /// Their numbers in the list, by waiting location, in the order of the events that wait.
    pub(super) of_line: Groups,
    /// How many ticks of each count; empty if all do.
    pub(super) counted: Vec<Ticks>,
}

impl Waits {
    /// Lists the delays that this worker has announced to others, in the order of their causes.
    pub(super) fn new(
        tools: &Tools<'_>,
        delays: impl ExactSizeIterator<Item = Delay>,
        workers: usize,
    ) -> Waits {
        let list: Vec<Wait> = delays.map(Wait::new).collect();
        let worker = |wait: &Wait| tools.owner_of(wait.delay.causing.location);
        let firsts = (0..=workers).map(|first| list.partition_point(|wait| worker(wait) < first)).collect();
        Waits { list, firsts, of_line: Groups::default(), counted: Vec::new() }
    }

    /// How many ticks of a delay's waiting count, by its number.
    pub(super) fn counted(&self, number: u32) -> Ticks {
        let all = self.list[number as usize].delay.wait;
        self.counted.get(number as usize).copied().unwrap_or(all)
    }

    /// The delays with costs of an event of a location that waits, in the order of their causes.
    pub(super) fn at(&self, line: usize, waiting: JournalPosition) -> impl Iterator<Item = &Delay> {
        let delays = self.of_line.of(line);
        let delay = |number: u32| &self.list[number as usize].delay;
        let first = delays.partition_point(|&number| delay(number).waiting.position < waiting);
        let delays = delays[first..].iter().map(move |&number| delay(number));
        delays.take_while(move |delay| delay.waiting.position == waiting).filter(|delay| delay.wait > 0)
    }
}

/// A delay at the location that causes it.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    /// The delay.
    pub(super) delay: Delay,
    /// The past of its location since the last common synchronisation of both sides.
    pub(super) past: Past,
    /// The report's call path of the event that waits; none for idle threads.
    pub(super) waiting_path: ReportPath,
    /// The wait states to which it propagates.
    pub(super) reach: Reach,
    /// Excess work and waiting on this side, together, in ticks.
    pub(super) denominator: f64,
    /// Short-term waiting per tick of both.
    pub(super) scale: f64,
    /// Whether the waiting has costs of its own, which are still to be received.
    pub(super) awaits_costs: bool,
    /// Start of the excess work in [`Causes::kept`] and its number of rows; `None` if it was too much to
    /// keep, or nothing is charged.
    pub(super) kept: Option<(u32, u32)>,
}

impl Cause {
    /// Returns a cause without any data yet.
    pub(super) fn new(delay: Delay) -> Cause {
        Cause {
            delay,
            past: Past::default(),
            waiting_path: ReportPath::NONE,
            reach: None,
            denominator: 0.0,
            scale: 0.0,
            awaits_costs: false,
            kept: None,
        }
    }
}

/// The delays that this worker's locations cause, by the worker that announced them.
#[derive(Clone, Debug, Default)]
pub(super) struct Causes {
    /// All of them.
    pub(super) list: Vec<Cause>,
    /// Start of the delays announced by each worker, and the end of all of these: idle threads follow.
    pub(super) firsts: Vec<usize>,
    /// For each cause of idle threads: the position since which the main thread worked alone.
    pub(super) alone_since: Vec<Option<JournalPosition>>,
    /// Their numbers in the list, by causing location, in the order of the causing events.
    pub(super) of_line: Groups,
    /// Excess work by row, one cause after the other.
    pub(super) kept: Vec<(Row, Ticks)>,
    /// The share of each one's waiting that counts; empty if all does.
    pub(super) shares: Vec<f64>,
    /// The compared stretches, if they are wanted.
    pub(super) stretches: Option<Vec<ComparedWork>>,
}

impl Causes {
    /// Returns the excess work of a cause by row, if it was kept.
    pub(super) fn excess(&self, cause: u32) -> Option<&[(Row, Ticks)]> {
        let (first, count) = self.list[cause as usize].kept?;
        Some(&self.kept[first as usize..][..count as usize])
    }

    /// Short-term costs of a cause per tick of excess work and waiting: those of the waiting that counts.
    pub(super) fn cost(&self, cause: usize) -> f64 {
        self.list[cause].scale * self.shares.get(cause).copied().unwrap_or(1.0)
    }

    /// The numbers of the causes at an event of a location.
    pub(super) fn at(&self, line: usize, causing: JournalPosition) -> impl Iterator<Item = u32> {
        let causes = self.of_line.of(line);
        let position = |number: u32| self.list[number as usize].delay.causing.position;
        let first = causes.partition_point(|&number| position(number) < causing);
        causes[first..].iter().copied().take_while(move |&number| position(number) == causing)
    }

    /// Returns the worker that announced a cause, and the number of the cause there.
    pub(super) fn told(&self, cause: u32) -> (usize, u32) {
        told(&self.firsts, cause)
    }

    /// Returns the event behind which the charged work of a cause starts; `None` is the start of the trace.
    pub(super) fn since(&self, cause: usize, line: &TimeLine) -> Option<JournalPosition> {
        let count = self.firsts.last().copied().unwrap_or(0);
        match cause.checked_sub(count) {
            Some(alone) => self.alone_since[alone],
            None => self.list[cause].past.after().map(|after| line.points()[after].position),
        }
    }
}

/// Returns the worker to which a number in a list belongs, and the number there.
fn told(firsts: &[usize], number: u32) -> (usize, u32) {
    let worker = firsts.partition_point(|&first| first <= number as usize) - 1;
    (worker, number - to_u32(firsts[worker]))
}
