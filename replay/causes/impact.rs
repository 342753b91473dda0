//! Impact of the critical path on all locations (specification 8.2 to 8.4, and 16.3).

use model::Ticks;

use super::lines::Lines;
use crate::error::Error;
use crate::exchange::{Exchange, broadcast, reduce};
use crate::fraction::{fixed, float};
use crate::ids::{ReportPath, Row};
use crate::int::nearest;
use crate::report_paths::ReportPaths;
use crate::results::{Results, locations};
use crate::severity::MetricId;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::{WalkedLocation, WalkedProcess};
use crate::wire::{self, batch_of};

/// Sums over all locations by call path, in lists of equal length. Absurd times in a trace may overflow them,
/// and some values are negative: they wrap around, because the result of saturation would depend on the order
/// of addition.
struct Sums {
    lists: Vec<Vec<i128>>,
}

impl Sums {
    fn new(lists: usize, paths: usize) -> Sums {
        Sums { lists: vec![vec![0; paths]; lists] }
    }

    fn add(&mut self, list: usize, path: ReportPath, value: i128) {
        let sum = &mut self.lists[list][path.index()];
        *sum = sum.wrapping_add(value);
    }

    /// Sums over all workers, on every worker.
    fn of_all(self, exchange: &mut dyn Exchange) -> Result<Sums, Error> {
        if exchange.workers() == 1 {
            return Ok(self);
        }
        let count = self.lists.len();
        let all = reduce(
            exchange,
            self,
            |sums| batch_of(sums.lists.iter().flatten()),
            |sums, words| {
                for (sum, value) in sums.lists.iter_mut().flatten().zip(wire::all::<i128>(words)) {
                    *sum = sum.wrapping_add(value);
                }
            },
        )?;
        let words = broadcast(exchange, batch_of(all.lists.iter().flatten()))?;
        let values: Vec<i128> = wire::all(&words).collect();
        let lists = values.chunks((values.len() / count).max(1)).map(<[i128]>::to_vec);
        let mut lists: Vec<Vec<i128>> = lists.collect();
        lists.resize(count, Vec::new());
        Ok(Sums { lists })
    }
}

/// Adds the metrics that follow from the critical path; `critical` has its ticks by location and row.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    tools: &Tools<'_>,
    (processes, results): (&[WalkedProcess], &mut [Results]),
    paths: &ReportPaths,
    lines: &mut Lines,
    critical: &[Vec<i64>],
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let metrics = tools.metrics;
    let takes_part: Vec<bool> = processes
        .iter()
        .flat_map(|process| &process.locations)
        .map(|location| takes_part(tools.trace, location))
        .collect();
    // The element behind all call paths is the number of locations that take part.
    let mut busy = busy(tools, (processes, results), lines, paths.len() + 1);
    busy[paths.len()] = takes_part.iter().filter(|takes_part| **takes_part).count() as i128;
    let mut sums = Sums::new(2, paths.len() + 1);
    for (at, rows) in critical.iter().enumerate() {
        for (row, &ticks) in rows.iter().enumerate() {
            sums.add(0, lines.path(at, Row::new(row)), ticks.into());
        }
    }
    sums.lists[1] = busy;
    let mut sums = sums.of_all(exchange)?;
    // There may be very many call paths: no list is kept longer than necessary.
    let (mut busy, mut path) = (sums.lists.pop().unwrap_or_default(), sums.lists.pop().unwrap_or_default());
    path.pop();
    let path = &path[..];
    let locations = busy.pop().unwrap_or_default();
    let imbalance = imbalance(locations, paths, path, busy);
    let length = total(path);

    // The element behind all call paths is the number of locations without any excess.
    let without = ReportPath::new(paths.len());
    let mut impact = Sums::new(2, paths.len() + 1);
    let mut work = Vec::new();
    for at in (0..lines.len()).filter(|&at| takes_part[at]) {
        lines.all_work(at, &mut work);
        let (excess, foreign) = excess(&work, path, length, lines.paths(at));
        for (list, excess) in [excess, foreign].into_iter().enumerate() {
            match excess.factor() {
                Some(factor) => {
                    for &(path, ticks) in &excess.of {
                        impact.add(list, path, fixed(factor * ticks as f64));
                    }
                }
                None => impact.add(list, without, 1),
            }
        }
    }
    let mut impact = impact.of_all(exchange)?;
    if tools.trace.semantics.impact_needs_all() {
        for list in impact.lists.iter_mut().filter(|list| list[without.index()] > 0) {
            list.fill(0);
        }
    }

    let severities = results.iter_mut().flat_map(|results| &mut results.severities);
    for ((at, severities), rows) in severities.enumerate().zip(critical) {
        for (row, &ticks) in rows.iter().enumerate().filter(|(_, ticks)| **ticks > 0) {
            let row = Row::new(row);
            let number = lines.path(at, row).index();
            severities.add(metrics.critical_path, row, ticks);
            let share = ticks as f64 / path[number] as f64;
            for (list, metric) in metrics.imbalance_impact.into_iter().enumerate() {
                let value = share * float(impact.lists[list][number]);
                if value > 0.0 {
                    lines.add(at, metric, row, fixed(value));
                }
            }
            lines.add(at, metrics.critical_path_imbalance, row, fixed(imbalance[number] * ticks as f64));
        }
        if !takes_part[at] {
            continue;
        }
        lines.all_work(at, &mut work);
        let mut activities = vec![0; work.len()];
        for (row, &ticks) in work.iter().enumerate().filter(|(_, ticks)| **ticks > 0) {
            let row = Row::new(row);
            let on_path = nearest(path[lines.path(at, row).index()]);
            activities[row.index()] = on_path.min(ticks).max(0);
            if ticks > on_path {
                severities.add(metrics.non_critical_path_activities, row, ticks - on_path);
            }
        }
        severities.set_column(metrics.critical_path_activities, activities);
    }
    Ok(())
}

/// Whether a location is compared with the path, and counts in the mean. Streams of accelerators are no
/// resources of the program. A thread without events does not count; the reference counts all that are
/// defined.
fn takes_part(trace: &Trace, location: &WalkedLocation) -> bool {
    let is_counted = location.has_events() || trace.semantics.counts_locations_without_events();
    trace.locations[location.location].is_thread() && is_counted
}

fn total(values: &[i128]) -> i128 {
    values.iter().fold(0, |sum, &value| sum.saturating_add(value))
}

/// Excess of the critical path over a location, by call path.
struct PathExcess {
    of: Vec<(ReportPath, i128)>,
    /// The time by which the location falls short of the whole path.
    lacks: i128,
}

impl PathExcess {
    fn factor(&self) -> Option<f64> {
        let sum = self.of.iter().fold(0_i128, |sum, &(_, ticks)| sum.saturating_add(ticks));
        (sum != 0).then(|| self.lacks as f64 / sum as f64)
    }
}

/// Excess of the path over a location; and its part on call paths where the location has no time
/// (specification 8.4).
fn excess(work: &[Ticks], path: &[i128], length: i128, paths: &[ReportPath]) -> (PathExcess, PathExcess) {
    let mut own = vec![0; path.len()];
    for (&path, &ticks) in paths.iter().zip(work) {
        own[path.index()] = ticks;
    }
    let (mut more, mut foreign) = (Vec::new(), Vec::new());
    let (mut time, mut covered) = (0_i128, 0_i128);
    for (at, (&on_path, ticks)) in path.iter().zip(own).enumerate() {
        let ticks = i128::from(ticks);
        time += ticks;
        if on_path > ticks {
            more.push((ReportPath::new(at), on_path - ticks));
        }
        match ticks {
            0 if on_path > 0 => foreign.push((ReportPath::new(at), on_path)),
            0 => {}
            _ => covered += ticks + (on_path - ticks.min(on_path)),
        }
    }
    (PathExcess { of: more, lacks: length - time }, PathExcess { of: foreign, lacks: length - covered })
}

/// Time of all threads of this worker without waiting, by call path of the report, in ticks; a list of this
/// length.
fn busy(
    tools: &Tools<'_>,
    (processes, results): (&[WalkedProcess], &[Results]),
    lines: &Lines,
    length: usize,
) -> Vec<i128> {
    let metrics = tools.metrics;
    let without = metrics.not_work().map(|metric| (metric, -1));
    let parts: Vec<(MetricId, i128)> = [(metrics.time, 1)].into_iter().chain(without).collect();
    let mut busy = vec![0; length];
    let paths = processes.iter().flat_map(|process| process.locations.iter().map(|_| &process.paths));
    for (at, ((location, severities), paths)) in locations(processes, results).zip(paths).enumerate() {
        if !tools.trace.locations[location.location].is_thread() {
            continue;
        }
        for &(metric, sign) in &parts {
            let column = tools.formulas.column(metric, severities, paths);
            for (row, &ticks) in column.iter().enumerate() {
                busy[lines.path(at, Row::new(row)).index()] += sign * i128::from(ticks);
            }
        }
    }
    busy
}

/// The part of the critical path's time on each call path that exceeds the mean of the locations
/// (specification 16.3).
fn imbalance(locations: i128, paths: &ReportPaths, path: &[i128], mut busy: Vec<i128>) -> Vec<f64> {
    let locations = locations.max(1) as f64;
    let mut path = path.to_vec();
    for at in paths.all().rev() {
        if let Some(parent) = paths.parent(at) {
            path[parent.index()] += path[at.index()];
            busy[parent.index()] += busy[at.index()];
        }
    }
    let share = |(&path, &busy): (&i128, &i128)| match path > 0 {
        true => ((path as f64 - busy as f64 / locations) / path as f64).max(0.0),
        false => 0.0,
    };
    path.iter().zip(&busy).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_lacks_what_it_does_less_and_what_it_never_does() {
        // On the path: 10, 20 and 30 ticks. The location has 4 of the first and 25 of the second.
        let (excess, foreign) = excess(&[4, 25], &[10, 20, 30], 60, &[0, 1].map(ReportPath::new));
        assert_eq!(excess.of, [(0, 6), (2, 30)].map(|(path, ticks)| (ReportPath::new(path), ticks)));
        assert_eq!(excess.factor(), Some(31.0 / 36.0));
        assert_eq!((foreign.of, foreign.lacks), (vec![(ReportPath::new(2), 30)], 60 - 10 - 25));
    }

    #[test]
    fn nothing_in_excess_has_no_factor() {
        let (excess, foreign) = excess(&[10], &[10], 10, &[ReportPath::default()]);
        assert!(excess.factor().is_none() && foreign.factor().is_none());
    }

    #[test]
    fn sums_of_absurd_numbers_are_the_same_in_any_order() {
        let sum = |values: [i128; 3]| {
            let mut sums = Sums::new(1, 1);
            values.iter().for_each(|&value| sums.add(0, ReportPath::default(), value));
            sums.lists
        };
        let most = i128::MAX - 5;
        assert_eq!(sum([most, 9, -7]), sum([-7, most, 9]));
        assert_eq!(sum([most, 9, -7]), sum([9, -7, most]));
    }
}
