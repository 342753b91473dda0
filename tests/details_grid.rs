//! Laws of the tables `grid` and `flow` (`docs/details.md`): ticks are those of the report at each level, none are negative, and
//! a bin has no more of them than fit into it.

use std::collections::BTreeMap;
use std::path::Path;

use cubex::Report;
use details::manifest::{Class, MANIFEST, Manifest, member};
use details::{Table, Values};
use generate::{Job, PATTERNS};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, Semantics};

use crate::support::parse::Case;
use crate::support::{
    analyze, archives, fresh, golden, in_memory, name, options, project, random, random_tasks, report, write,
};

/// Ticks by level, class and group, and in each bin.
type Grid = BTreeMap<(u8, u8, u32), Vec<i64>>;

/// The numbers of a column of integers.
fn numbers(table: &Table, column: &str) -> Vec<u64> {
    match &table.column(column).unwrap_or_else(|| panic!("no column {column}")).values {
        Values::U8(rows) => rows.iter().map(|&row| row.into()).collect(),
        Values::U32(rows) => rows.iter().map(|&row| row.into()).collect(),
        Values::I64(rows) => rows.iter().map(|row| u64::try_from(*row).unwrap()).collect(),
        other => panic!("column {column}: {other:?}"),
    }
}

/// Reads a table of a report.
fn table(report: &Report, name: &str) -> Table {
    let bytes = report.member(&member(name)).unwrap().unwrap_or_else(|| panic!("no table {name}"));
    details::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn manifest(report: &Report) -> Manifest {
    Manifest::parse(&report.member(MANIFEST).unwrap().expect("a manifest")).unwrap()
}

fn leb128(bytes: &mut std::slice::Iter<'_, u8>) -> u64 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes.next().expect("a whole number");
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            break;
        }
    }
    number
}

fn decode(bytes: &[u8]) -> Vec<i64> {
    let (mut ticks, mut bytes) = (Vec::new(), bytes.iter());
    while bytes.len() > 0 {
        match leb128(&mut bytes) {
            0 => ticks.resize(ticks.len() + 1 + usize::try_from(leb128(&mut bytes)).unwrap(), 0),
            number => ticks.push((number >> 1).cast_signed() ^ -(number & 1).cast_signed()),
        }
    }
    ticks
}

fn grid(table: &Table, manifest: &Manifest) -> Grid {
    let Values::Bytes(values) = &table.column("values").unwrap().values else { panic!("bytes") };
    let columns = ["level", "class", "group", "groups"].map(|column| numbers(table, column));
    let mut grid = Grid::new();
    let mut last = None;
    for (row, bytes) in values.iter().enumerate() {
        let [level, class, first, groups] = [0, 1, 2, 3].map(|column| columns[column][row]);
        assert!(last < Some((level, class, first)), "rows are sorted");
        last = Some((level, class, first));
        let bins = usize::try_from(manifest.levels[usize::try_from(level).unwrap()].bins).unwrap();
        let ticks = decode(bytes);
        assert_eq!(ticks.len(), bins * usize::try_from(groups).unwrap());
        for (group, ticks) in (first..).zip(ticks.chunks_exact(bins)) {
            let place =
                (u8::try_from(level).unwrap(), u8::try_from(class).unwrap(), u32::try_from(group).unwrap());
            grid.insert(place, ticks.to_vec());
        }
    }
    grid
}

/// The seconds of a class at a location according to the report.
fn seconds(table: &report::Table, class: &Class, location: usize) -> f64 {
    let of = |metric: &String| {
        let (metric, region) =
            metric.split_once("@**/").map_or((&**metric, None), |(metric, at)| (metric, Some(at)));
        let Some(metric) = table.metric(metric) else { return 0.0 };
        let is_at =
            |path: usize| region.is_none_or(|region| table.paths[path].rsplit('/').next() == Some(region));
        let paths = (0..table.paths.len()).filter(|&path| is_at(path));
        paths.filter_map(|path| table.values.get(&(metric, path, location))).sum::<f64>()
    };
    class.adds.iter().map(of).sum::<f64>() - class.subtracts.iter().map(of).sum::<f64>()
}

/// Analyses a trace, and returns where a law does not hold. Ticks can be negative, or too many, where clocks are wrong or the
/// waits of a call overlap.
fn problems(experiment: &Path, what: &str, has_right_clocks: bool) -> Vec<String> {
    let directory = fresh();
    let path = directory.path().join("report.cubex");
    analyze(experiment, &path, Semantics::Corrected).unwrap_or_else(|error| panic!("{what}: {error}"));
    problems_of(&path, what, has_right_clocks)
}

/// The same of a report.
fn problems_of(path: &Path, what: &str, has_right_clocks: bool) -> Vec<String> {
    let read = Report::open(path).unwrap();
    let (manifest, table) = (manifest(&read), report::Table::read(path));
    let grid = grid(&self::table(&read, "grid"), &manifest);
    let mut problems = Vec::new();
    let ticks_per_second = manifest.ticks_per_second as f64;
    let mut all = vec![0.0; table.locations];
    for (number, class) in (0..).zip(&manifest.classes) {
        let of_locations: Vec<f64> = (0..table.locations).map(|at| seconds(&table, class, at)).collect();
        all.iter_mut().zip(&of_locations).for_each(|(all, of)| *all += of);
        for (level, shape) in (0..).zip(&manifest.levels) {
            let span = usize::try_from(shape.span).unwrap();
            for (group, locations) in (0..).zip(of_locations.chunks(span)) {
                let ticks: i64 = grid.get(&(level, number, group)).map_or(0, |ticks| ticks.iter().sum());
                let expected = locations.iter().sum::<f64>() * ticks_per_second;
                // The report has seconds: they are exact to half a tick, where a double has room for that.
                if (ticks as f64 - expected).abs() > 0.5 + 1e-9 * expected.abs() {
                    problems.push(format!(
                        "{what}: {} of group {group} of level {level}: {ticks} ticks, {expected} in the report",
                        class.name
                    ));
                }
            }
        }
    }
    for (location, all) in all.iter().enumerate() {
        let time = table.sum("time", location);
        if (all - time).abs() * ticks_per_second > 0.5 + 1e-9 * time * ticks_per_second {
            problems
                .push(format!("{what}: all classes of location {location} are {all} s, time is {time} s"));
        }
    }
    if has_right_clocks {
        problems.extend(overfull(&grid, &manifest).into_iter().map(|problem| format!("{what}: {problem}")));
    }
    problems
}

/// Returns negative bins, and those with more ticks than they are long.
fn overfull(grid: &Grid, manifest: &Manifest) -> Vec<String> {
    let mut problems = Vec::new();
    let mut sums: BTreeMap<(u8, u32, usize), i64> = BTreeMap::new();
    for (&(level, class, group), ticks) in grid {
        for (bin, &ticks) in ticks.iter().enumerate() {
            if ticks < 0 {
                let name = &manifest.classes[usize::from(class)].name;
                problems
                    .push(format!("{ticks} ticks of {name} in bin {bin} of group {group} of level {level}"));
            }
            *sums.entry((level, group, bin)).or_default() += ticks;
        }
    }
    for ((level, group, bin), ticks) in sums {
        let shape = &manifest.levels[usize::from(level)];
        let locations = shape.span.min(manifest.locations - u64::from(group) * shape.span);
        let most = i64::try_from(shape.bin_ticks * locations).unwrap();
        // Times behind the length of the trace lie in the last bin.
        if ticks > most && u64::try_from(bin).unwrap() + 1 < shape.bins {
            problems.push(format!(
                "{ticks} ticks in bin {bin} of group {group} of level {level}, at most {most}"
            ));
        }
    }
    problems
}

#[test]
fn ticks_of_real_archives_are_those_of_the_report() {
    let problems: Vec<String> =
        archives().iter().flat_map(|archive| problems(archive, &name(archive), true)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn ticks_of_real_archives_with_corrected_clocks_are_those_of_the_report() {
    let directory = fresh();
    let path = directory.path().join("report.cubex");
    let mut found = Vec::new();
    for archive in archives() {
        let options = Options { clock_correction: true, ..options(&archive, &path, Semantics::Corrected) };
        replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
        found.extend(problems_of(&path, &name(&archive), true));
    }
    assert!(found.is_empty(), "{} problems:\n{}", found.len(), found.join("\n"));
}

#[test]
fn ticks_of_golden_scripts_are_those_of_the_report() {
    let mut found = Vec::new();
    for script in golden() {
        let directory = fresh();
        write::write(&Case::read(&script).trace, directory.path());
        found.extend(problems(directory.path(), &name(&script), false));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn ticks_of_random_traces_are_those_of_the_report() {
    let mut found = Vec::new();
    for seed in 0..120 {
        let directory = fresh();
        write::write(&random::trace(seed), directory.path());
        found.extend(problems(directory.path(), &format!("random trace {seed}"), false));
        let directory = fresh();
        write::write(&random_tasks::trace(seed, false), directory.path());
        found.extend(problems(directory.path(), &format!("random tasks {seed}"), false));
    }
    assert!(found.is_empty(), "{} problems:\n{}", found.len(), found.join("\n"));
}

#[test]
fn ticks_of_generated_patterns_are_those_of_the_report_at_several_levels() {
    let directory = in_memory();
    let mut found = Vec::new();
    for pattern in PATTERNS {
        // More than 128 locations have a level of groups.
        let job = Job { seed: 7, ..Job::new(pattern, 200, 300) };
        let experiment = directory.path().join(pattern.name);
        generate::generate(&job, &experiment).unwrap();
        found.extend(problems(&experiment, pattern.name, true));
    }
    assert!(found.is_empty(), "{} problems:\n{}", found.len(), found.join("\n"));
}

/// Analyses a script whose ticks are bins, and returns the columns of `flow` where any is not zero.
fn flow(script: &str) -> BTreeMap<usize, [u64; 4]> {
    let directory = in_memory();
    let path = directory.path().join("r.cubex");
    write::write(&Case::read(&project(script)).trace, directory.path());
    analyze(directory.path(), &path, Semantics::Corrected).unwrap();
    let flow = table(&Report::open(&path).unwrap(), "flow");
    let columns = ["messages", "bytes", "in_flight", "collectives"].map(|column| numbers(&flow, column));
    let rows = (0..columns[0].len()).map(|row| (row, [0, 1, 2, 3].map(|column| columns[column][row])));
    rows.filter(|(_, row)| *row != [0; 4]).collect()
}

#[test]
fn messages_are_in_flight_from_their_send_to_their_receive() {
    let mut expected: BTreeMap<usize, [u64; 4]> =
        (13..=21).chain(32..=41).map(|bin| (bin, [0, 0, 1, 0])).collect();
    expected.extend([(12, [1, 64, 0, 0]), (31, [1, 64, 0, 0])]);
    assert_eq!(flow("tests/golden/late_sender.trace"), expected);
}

#[test]
fn collective_operations_are_counted_once() {
    let flows = flow("tests/golden/barrier.trace");
    let operations: u64 = flows.values().map(|flow| flow[3]).sum();
    assert!(operations > 0 && flows.values().all(|flow| flow[..3] == [0; 3]), "{flows:?}");
}
