//! Focus: costs of the waiting that counts, and the critical path inside of windows (structure 3.4).

use std::sync::Arc;

use model::Ticks;
use rustc_hash::FxHashMap;

use super::by_iteration::{CostsByIteration, Extent};
use super::lines::Lines;
use super::sides::{Cause, Causes, Waits};
use super::time_line::TimeLine;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::focus::Windows;
use crate::ids::Row;
use crate::int::to_u32;
use crate::journal::{Journal, JournalSpot, Spot};
use crate::metrics::Metrics;
use crate::structure::Borders;
use crate::walk::WalkedProcess;
use crate::wire::{self, Wire, wire};

/// The windows of a worker's processes.
#[derive(Clone, Debug)]
pub struct Focused {
    /// Of each process.
    pub windows: Vec<Arc<Windows>>,
    /// Whether the critical path is the one that decides when the last window ends, and not that of the whole run.
    pub has_own_end: bool,
}

/// Delay costs of the waiting that counts, by when its causes were: in shares of ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FocusedCosts {
    /// Outside of the windows of the causing location, but not behind all of them.
    pub before: i128,
    /// Inside.
    pub inside: i128,
    /// Behind them.
    pub behind: i128,
}

wire!(FocusedCosts { before, inside, behind });

/// Numbers of what lies outside of windows, inside, and behind all of them, in [`Borders`].
pub(super) const INSIDE: u32 = 1;
pub(super) const BEHIND: u32 = 2;

/// The borders of a number of windows of a location in its journal.
pub(super) fn borders(journal: &Journal, windows: usize) -> Borders {
    let number = |border: usize| match border % 2 {
        0 => INSIDE,
        _ => {
            if border / 2 + 1 == windows {
                BEHIND
            } else {
                0
            }
        }
    };
    Borders::at(journal.borders().iter().enumerate().map(|(border, &mark)| (mark, number(border))))
}

/// Time by row of a stretch without waiting, as far as it lies in windows; `waited` is waiting that belongs to a row and comes first
/// there.
pub(super) fn inside(
    (time, borders): (&TimeLine, &Borders),
    extent: Extent,
    waited: Option<(Row, Ticks)>,
) -> FxHashMap<Row, Ticks> {
    let positions = extent.positions();
    let pieces = time.pieces_between(positions.start, positions.end);
    // Waiting stands before the time of its call, and is its first part.
    let mut waiting: FxHashMap<Row, Ticks> = waited.into_iter().collect();
    let mut sums: FxHashMap<Row, Ticks> = FxHashMap::default();
    borders.cut(borders.ends(positions.clone(), 0), (positions.start, pieces), |before, row, ticks| {
        let waiting = waiting.entry(row).or_default();
        if ticks < 0 {
            *waiting = waiting.saturating_sub(ticks);
            return;
        }
        let waited = ticks.min(*waiting);
        *waiting -= waited;
        if borders.number(before) == INSIDE && ticks > waited {
            let sum = sums.entry(row).or_default();
            *sum = sum.saturating_add(ticks - waited);
        }
    });
    sums
}

/// The share of a stretch's time that lies in windows, waiting included; 0 if it has none.
pub(super) fn share_of(time: &TimeLine, borders: &Borders, extent: Extent) -> f64 {
    let positions = extent.positions();
    let pieces = time.all_between(positions.start, positions.end);
    let (mut inside, mut all) = (0.0, 0.0);
    borders.cut(borders.ends(positions.clone(), 0), (positions.start, pieces), |before, _, ticks| {
        all += ticks as f64;
        inside += if borders.number(before) == INSIDE { ticks as f64 } else { 0.0 };
    });
    if all > 0.0 { inside / all } else { 0.0 }
}

/// The share of each cause's waiting that counts: the locations that wait tell it to the workers of the causes.
///
/// # Errors
/// If a worker failed.
pub(super) fn shares(waits: &Waits, causes: &Causes, exchange: &mut dyn Exchange) -> Result<Vec<f64>, Error> {
    let of_worker =
        |ends: &[usize]| waits.counted[ends[0]..ends[1]].iter().map(|ticks| ticks.cast_unsigned()).collect();
    let told = exchange.exchange(waits.firsts.windows(2).map(of_worker).collect())?;
    let counted = told.iter().flatten().map(|word| word.cast_signed());
    let share = |(counted, cause): (Ticks, &Cause)| match cause.delay.wait {
        1.. => counted as f64 / cause.delay.wait as f64,
        _ => 0.0,
    };
    Ok(counted.zip(&causes.list).map(share).collect())
}

/// The event behind which nothing counts any more, if it is at a main thread of this worker: that whose last window ends last, the
/// first of equals.
///
/// # Errors
/// If a worker failed.
pub(super) fn end_of_path(
    focused: &Focused,
    processes: &[WalkedProcess],
    lines: &Lines,
    exchange: &mut dyn Exchange,
) -> Result<Option<JournalSpot>, Error> {
    let ends = processes.iter().zip(&focused.windows).filter_map(|(process, windows)| {
        let (main, window) = (process.locations.first()?, windows.list().last()?);
        let location = to_u32(main.location);
        let line = lines.at(location);
        // Without a border behind it the last window ends with the location.
        let marks = lines.borders(line);
        let end = lines.line(line).end();
        let position = if marks.len() == 2 * windows.list().len() { marks.last()? } else { end };
        Some((window.end.min(main.end), Spot { location, position }))
    });
    let latest = ends.reduce(|a, b| if b.0 > a.0 { b } else { a });
    let mut told = Batch::new();
    latest.map(|(end, _)| end).put(&mut told);
    let told: Vec<Option<Ticks>> = share(exchange, told)?.iter().map(|batch| wire::one(batch)).collect();
    let most = told.iter().flatten().max().copied();
    let first = told.iter().position(|end| end.is_some() && *end == most);
    Ok(latest.map(|(_, spot)| spot).filter(|_| first == Some(exchange.worker())))
}

impl FocusedCosts {
    /// Sums up over all workers.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(
        costs: &CostsByIteration,
        metrics: &Metrics,
        exchange: &mut dyn Exchange,
    ) -> Result<FocusedCosts, Error> {
        let is_cost = |metric: usize| metrics.delay_costs.iter().flatten().any(|&it| it == metric);
        let mut own = FocusedCosts::default();
        for (number, value) in costs.by_number(is_cost) {
            *match number {
                INSIDE => &mut own.inside,
                BEHIND => &mut own.behind,
                _ => &mut own.before,
            } += value;
        }
        let mut told = Batch::new();
        own.put(&mut told);
        let mut all = FocusedCosts::default();
        for batch in share(exchange, told)? {
            let told: FocusedCosts = wire::one(&batch);
            all.before += told.before;
            all.inside += told.inside;
            all.behind += told.behind;
        }
        Ok(all)
    }
}
