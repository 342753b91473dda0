//! Between which calls of MPI a culprit was slow.
//!
//! A call path that calls MPI itself, such as `main` where no other function is recorded, comes by many times between different
//! calls. What it costs is divided among the stretches between them: each delay by the time in the stretches that it
//! compares.

use std::cmp::Reverse;

use model::Paradigm;
use rustc_hash::FxHashMap;

use super::{Culprit, Excess};
use crate::causes::lines::Lines;
use crate::causes::sides::Causes;
use crate::causes::time_line::TimeLine;
use crate::error::Error;
use crate::exchange::batch::{BatchReader, halves, pair, wide};
use crate::exchange::{Batch, Exchange, gather};
use crate::fraction::fixed;
use crate::journal::Position;
use crate::report_paths::ReportPaths;
use crate::severity::Row;
use crate::tools::Tools;

/// The time between two calls of MPI, wherever these calls follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// The region of the call before; `None` at the begin.
    pub before: Option<u32>,
    /// The region of the call after; `None` at the end.
    pub after: Option<u32>,
    /// What it costs, in ticks as a fixed-point number.
    pub costs: i128,
}

/// Stands for "no region".
const NO_REGION: u32 = u32::MAX;

/// Finds the stretch with the largest costs of each culprit that calls MPI itself; on worker 0.
///
/// # Errors
/// If a worker failed.
#[expect(clippy::too_many_arguments, reason = "it looks at everything that is known of causes")]
pub(super) fn find(
    tools: &Tools<'_>,
    paths: &ReportPaths,
    culprits: &[Culprit],
    lines: &Lines,
    causes: &Causes,
    per_tick: &[f64],
    excess: &Excess,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Option<Stretch>>, Error> {
    let region = |path: u32| paths.tree[paths.order[path as usize] as usize].region;
    let is_mpi = |path: u32| tools.trace.region(region(path)).paradigm == Paradigm::MPI;
    let calls_mpi = |culprit: &Culprit| {
        let number = paths.order[culprit.path as usize];
        let mut children = paths.positions.iter().zip(&paths.tree).filter(|(_, path)| path.parent == number);
        !is_mpi(culprit.path) && children.any(|(&path, _)| is_mpi(path))
    };
    let mut words = Batch::new();
    let mine = culprits
        .iter()
        .enumerate()
        .filter(|(which, culprit)| !excess.of(*which).is_empty() && calls_mpi(culprit));
    for (which, culprit) in mine {
        let line = lines.at(culprit.location);
        let Some(row) = lines.paths(line).iter().position(|&path| path == culprit.path) else { continue };
        let (mut changes, mut ends) = (Vec::new(), Vec::new());
        for (&cause, work) in causes.of_line.of(line).iter().zip(excess.of(which)) {
            let cause = cause as usize;
            let of_tick = fixed(per_tick[cause] * work.more as f64 / work.all as f64);
            if work.more > 0 && of_tick > 0 {
                let since = causes.since(cause, lines.line(line));
                changes.push((since.map_or(0, |since| since + 1), of_tick));
                ends.push((causes.list[cause].delay.causing.position, -of_tick));
            }
        }
        changes.append(&mut ends);
        let calls: Vec<Option<u32>> =
            lines.paths(line).iter().map(|&path| Some(region(path)).filter(|_| is_mpi(path))).collect();
        if let Some(stretch) = costliest(lines.line(line), row as Row, &calls, changes) {
            let [before, after] = [stretch.before, stretch.after].map(|region| region.unwrap_or(NO_REGION));
            words.extend([which as u64, pair(before, after)]);
            words.extend(wide(stretch.costs.cast_unsigned()));
        }
    }
    let mut stretches = vec![None; culprits.len()];
    for batch in gather(exchange, words)? {
        let mut reader = BatchReader::new(&batch);
        while !reader.is_empty() {
            let which = reader.word() as usize;
            let (before, after) = halves(reader.word());
            let [before, after] =
                [before, after].map(|region| Some(region).filter(|&region| region != NO_REGION));
            stretches[which] = Some(Stretch { before, after, costs: reader.wide().cast_signed() });
        }
    }
    Ok(stretches)
}

/// The stretch that costs most. `changes` are those of what a tick in the row costs, from a piece on, in no order; `calls`
/// says by row which region of MPI it is. `None` if there are no two sides to name.
fn costliest(
    line: &TimeLine,
    row: Row,
    calls: &[Option<u32>],
    mut changes: Vec<(Position, i128)>,
) -> Option<Stretch> {
    // They come nearly in order, which this sort makes use of.
    changes.sort_by_key(|change| change.0);
    let mut changes = changes.into_iter().peekable();
    let mut of_tick: i128 = 0;
    let mut stretches: FxHashMap<[Option<u32>; 2], i128> = FxHashMap::default();
    let (mut call, mut costs) = (None, 0_i128);
    for (position, (its_row, ticks)) in (0..).zip(line.pieces()) {
        while let Some((_, change)) = changes.next_if(|change| change.0 <= position) {
            of_tick = of_tick.saturating_add(change);
        }
        if its_row == row {
            costs = costs.saturating_add(of_tick.saturating_mul(ticks.into()));
        } else if let Some(region) = calls[its_row as usize] {
            add(&mut stretches, [call, Some(region)], std::mem::take(&mut costs));
            call = Some(region);
        }
    }
    add(&mut stretches, [call, None], costs);
    let largest = stretches.into_iter().max_by_key(|&(sides, costs)| (costs, Reverse(sides)));
    let ([before, after], costs) = largest.filter(|(sides, _)| *sides != [None, None])?;
    Some(Stretch { before, after, costs })
}

fn add(stretches: &mut FxHashMap<[Option<u32>; 2], i128>, sides: [Option<u32>; 2], costs: i128) {
    if costs > 0 {
        let sum = stretches.entry(sides).or_default();
        *sum = sum.saturating_add(costs);
    }
}
