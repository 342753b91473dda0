//! What file I/O costs the others, by rank and file (io.md 5.4): delay costs of calls on files, and of what is called in them.
//! The search for root causes charges waiting to what the late side did more; only the class of the region is asked for here.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::{RegionRole, Ticks};

use crate::causes::DelayClass;
use crate::error::Error;
use crate::exchange::{Exchange, gather};
use crate::fraction::{fixed, float, whole};
use crate::ids::{PathId, ReportPath};
use crate::int::to_u32;
use crate::report_paths::ReportPaths;
use crate::results::Results;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::{FileTime, WalkedProcess};
use crate::wire::{self, batch_of, wire};

/// Costs by class, in ticks as fixed-point numbers.
type ByClass = [i128; DelayClass::COUNT];

/// What a rank's calls on a file cost the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileCosts {
    /// Position of the process in [`Trace::processes`].
    pub process: u32,
    /// Position of the file in the definitions; `None` if it is unknown.
    pub file: Option<u32>,
    /// The call path that costs most, and the location there.
    pub path: ReportPath,
    /// Position of the location in the report.
    pub location: u32,
    /// The class that costs most.
    pub class: DelayClass,
    /// Delay costs of all classes, in ticks as a fixed-point number.
    pub costs: i128,
    /// Time of these calls on the critical path, in ticks as a fixed-point number.
    pub critical: i128,
}

wire!(FileCosts { [process, location], [path, class], file, costs, critical });

/// Sums of one process and file.
#[derive(Default)]
struct Sums {
    classes: ByClass,
    critical: i128,
    /// Costs by call path of the report and location.
    places: BTreeMap<(ReportPath, u32), i128>,
}

/// What all ranks' calls on files cost.
#[derive(Clone, Default, Debug)]
pub struct AllFileCosts {
    /// By process and file, the largest costs first.
    pub list: Vec<FileCosts>,
    /// The time of all locations, in ticks.
    pub run: Ticks,
}

impl AllFileCosts {
    /// How long others wait for a process's I/O on some files, by name, as a share of the time of all.
    pub(crate) fn share(&self, process: u32, is_one: impl Fn(u32) -> bool) -> f64 {
        let own = self.list.iter().filter(|it| it.process == process && it.file.is_some_and(&is_one));
        let costs = own.fold(0, |sum: i128, it| sum.saturating_add(it.costs));
        if self.run > 0 { float(costs) / self.run as f64 } else { 0.0 }
    }
}

/// What all ranks' calls on files cost the others, at worker 0; nothing at others.
///
/// # Errors
/// If a worker failed.
pub(crate) fn file_costs(
    tools: &Tools<'_>,
    located: (&[WalkedProcess], &[Results]),
    paths: &ReportPaths,
    exchange: &mut dyn Exchange,
) -> Result<AllFileCosts, Error> {
    let mut own = Vec::new();
    for ((process, results), numbers) in located.0.iter().zip(located.1).zip(&paths.numbers) {
        own.extend(of_process(tools, process, results, numbers));
    }
    let locations = located.0.iter().flat_map(|process| &process.locations);
    let threads = locations.filter(|it| tools.trace.locations[it.location].is_thread());
    let run = threads.fold(0, |sum: Ticks, it| sum.saturating_add(it.recorded_run()));
    let mut all = AllFileCosts::default();
    for batch in gather(exchange, batch_of([&(run, own)]))? {
        // Others than worker 0 get nothing.
        for (run, list) in wire::all::<(Ticks, Vec<FileCosts>)>(&batch) {
            all.run = all.run.saturating_add(run);
            all.list.extend(list);
        }
    }
    all.list.sort_by_key(|it| (Reverse(it.costs), it.process, it.file));
    Ok(all)
}

fn of_process(
    tools: &Tools<'_>,
    process: &WalkedProcess,
    results: &Results,
    numbers: &[ReportPath],
) -> Vec<FileCosts> {
    let places = file_places(tools.trace, process);
    let mut sums: BTreeMap<Option<u32>, Sums> = BTreeMap::new();
    for (location, severities) in process.locations.iter().zip(&results.severities) {
        let (ticks, shares) = severities.records();
        for row in shares.rows() {
            let path = severities.paths()[row.index()];
            let Some(at) = places[path.index()] else { continue };
            let classes = DelayClass::ALL.map(|class| {
                let value = |metric| shares.value(metric, row);
                let [short, long] = tools.metrics.delay_costs[class as usize].map(value);
                short.saturating_add(long)
            });
            let critical = whole(ticks.value(tools.metrics.critical_path, row));
            let place = (numbers[path.index()], to_u32(location.location));
            for (file, part) in parts(&process.file_times, at) {
                let sum = sums.entry(file).or_default();
                let add = |to: &mut i128, value| *to = to.saturating_add(share(value, part));
                sum.classes.iter_mut().zip(classes).for_each(|(to, value)| add(to, value));
                add(&mut sum.critical, critical);
                let all = classes.into_iter().fold(0, i128::saturating_add);
                add(sum.places.entry(place).or_default(), all);
            }
        }
    }
    let costs = |(file, Sums { classes, critical, places }): (Option<u32>, Sums)| {
        let costs = classes.into_iter().fold(0, i128::saturating_add);
        // The first of equals.
        let (&(path, location), _) = places.iter().rev().max_by_key(|&(_, costs)| costs)?;
        let class = DelayClass::ALL.into_iter().rev().max_by_key(|&class| classes[class as usize])?;
        let process = to_u32(process.number);
        (costs > 0).then_some(FileCosts { process, file, path, location, class, costs, critical })
    };
    sums.into_iter().filter_map(costs).collect()
}

/// By call path of a process: the path of the innermost call on a file at or above it of which the file is known, or else of any;
/// `None` outside of such calls.
fn file_places(trace: &Trace, process: &WalkedProcess) -> Vec<Option<PathId>> {
    let is_known = |path: PathId| process.file_times.binary_search_by_key(&path, |it| it.path).is_ok();
    let mut places: Vec<Option<PathId>> = Vec::with_capacity(process.paths.len());
    // Parents stand before their children.
    for (at, path) in process.paths.iter().enumerate() {
        let own = PathId::new(at);
        let above = places.get(path.parent.index()).copied().flatten();
        let is_of_file =
            matches!(trace.region(path.region).role, RegionRole::FILE_IO | RegionRole::FILE_IO_METADATA);
        places.push(if is_of_file && (is_known(own) || above.is_none()) { Some(own) } else { above });
    }
    places
}

/// The files of a call path, each with its part of the time of the calls, from 0 to 1.
fn parts(times: &[FileTime], path: PathId) -> Vec<(Option<u32>, f64)> {
    let first = times.partition_point(|it| it.path < path);
    let own = || times[first..].iter().take_while(|it| it.path == path);
    let all: Ticks = own().fold(0, |sum: Ticks, it| sum.saturating_add(it.ticks));
    match own().count() {
        0 => vec![(None, 1.0)],
        // Calls that take no time have nothing to tell them apart.
        count if all <= 0 => own().map(|it| (Some(it.file), 1.0 / count as f64)).collect(),
        _ => own().map(|it| (Some(it.file), it.ticks as f64 / all as f64)).collect(),
    }
}

/// A part of a share of ticks.
fn share(value: i128, part: f64) -> i128 {
    if part == 1.0 { value } else { fixed(float(value) * part) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(path: usize, file: u32, ticks: Ticks) -> FileTime {
        FileTime { path: PathId::new(path), file, ticks }
    }

    #[test]
    fn costs_of_a_call_path_with_several_files_are_shared_by_their_time() {
        let times = [time(1, 0, 5), time(3, 0, 30), time(3, 7, 10), time(4, 1, 0), time(4, 2, 0)];
        let of = |path| parts(&times, PathId::new(path));
        assert_eq!(of(1), [(Some(0), 1.0)]);
        assert_eq!(of(3), [(Some(0), 0.75), (Some(7), 0.25)]);
        assert_eq!(of(4), [(Some(1), 0.5), (Some(2), 0.5)]);
        assert_eq!(of(2), [(None, 1.0)]);
        assert_eq!(share(fixed(8.0), 0.25), fixed(2.0));
        assert_eq!(share(i128::MAX, 1.0), i128::MAX);
    }
}
