//! Laws of what the reference does not have (rest of MPI 16.4), in random programs that use everything. Their calls of MPI contain
//! others and buffer flushes, so that exclusive times of calls say nothing of what was waited there.

use std::collections::{BTreeMap, BTreeSet};

use replay::Semantics;

use super::severities::{ROUNDING, coverage, negative};
use crate::oracle::random::trace;
use crate::support::report::Table;
use crate::support::{analyze, in_memory, write};

/// Number of random programs.
const PROGRAMS: u64 = 300;

/// Roots of metrics that are waiting, and the classes of delays with their costs. Waits for non-blocking operations are of many
/// classes, so these are together; scans have no costs.
const COSTS: [(&[&str], &[&str]); 4] = [
    (&["mpi_latesender", "mpi_latereceiver"], &["latesender", "latereceiver"]),
    (&["mpi_p2p_wait_for_progress"], &["progress"]),
    (&["mpi_rma_"], &["rma"]),
    (
        &[
            "mpi_barrier_wait",
            "mpi_wait_nxn",
            "mpi_latebroadcast",
            "mpi_earlyreduce",
            "mpi_wait_neighbor",
            "mpi_comm_wait_",
            "mpi_nbcoll_wait",
            "mpi_mgmt_file_wait",
            "mpi_io_collective_wait",
        ],
        &["barrier", "n2n", "12n", "n21", "neighbor", "mgmt", "io"],
    ),
];

/// The metrics of MPI's wait states, without those that are part of another one.
fn waits() -> Vec<&'static str> {
    let is_waiting =
        |id: &str| patterns::PATTERNS.iter().any(|pattern| pattern.is_waiting && pattern.metric.id == id);
    let metrics = patterns::PATTERNS.iter().map(|pattern| pattern.metric);
    let outermost = metrics
        .filter(|it| is_waiting(it.id) && !it.parent.is_some_and(is_waiting) && it.id.starts_with("mpi_"));
    outermost.map(|metric| metric.id).collect()
}

/// Parts of waiting are not more than all of it.
fn parts(table: &Table) -> Vec<String> {
    let mut sums: BTreeMap<(&str, usize, usize), f64> = BTreeMap::new();
    for metric in patterns::PATTERNS.iter().filter(|pattern| pattern.is_waiting).map(|pattern| pattern.metric)
    {
        let Some(all) =
            metric.parent.filter(|parent| parent.starts_with("mpi_") && table.metric(parent).is_some())
        else {
            continue;
        };
        let is_waiting = patterns::PATTERNS.iter().any(|it| it.is_waiting && it.metric.id == all);
        for path in (0..table.paths.len()).filter(|_| is_waiting) {
            for location in 0..table.locations {
                *sums.entry((all, path, location)).or_default() += table.value(metric.id, path, location);
            }
        }
    }
    let exceeded = sums
        .into_iter()
        .filter(|&((all, path, location), sum)| sum > table.value(all, path, location) + ROUNDING);
    exceeded
        .map(|((all, path, location), sum)| {
            format!("{sum} s in parts of {all} at {} @{location}", table.paths[path])
        })
        .collect()
}

/// What is hidden and what is usable add up to the overlap.
fn overlap(table: &Table) -> Vec<String> {
    let mut problems = Vec::new();
    for path in 0..table.paths.len() {
        for location in 0..table.locations {
            let [all, hidden, usable] = ["mpi_overlap", "mpi_overlap_hidden", "mpi_overlap_usable"]
                .map(|metric| table.value(metric, path, location));
            if (all - hidden - usable).abs() > ROUNDING {
                problems.push(format!("{all} s of overlap in {} @{location}", table.paths[path]));
            }
        }
    }
    problems
}

/// All waiting in a call is part of its time, with the calls inside of it.
fn waiting(table: &Table) -> Vec<String> {
    let waits = waits();
    let mut times: BTreeMap<(&str, usize), (f64, f64)> = BTreeMap::new();
    for path in 0..table.paths.len() {
        for location in 0..table.locations {
            let time = table.value("time", path, location);
            let waiting: f64 = waits.iter().map(|wait| table.value(wait, path, location)).sum();
            let mut name = &*table.paths[path];
            times.entry((name, location)).or_default().1 += waiting;
            loop {
                times.entry((name, location)).or_default().0 += time;
                let Some((above, _)) = name.rsplit_once('/') else { break };
                name = above;
            }
        }
    }
    let exceeded = times.into_iter().filter(|(_, (time, waiting))| *waiting > time + ROUNDING);
    exceeded
        .map(|((path, location), (time, waiting))| {
            format!("{waiting} s of waiting in {time} s of {path} @{location}")
        })
        .collect()
}

/// The costs of delays are not more than what was waited.
fn costs(table: &Table) -> Vec<String> {
    let all = |metric: &str| (0..table.locations).map(|location| table.sum(metric, location)).sum::<f64>();
    let waits = waits();
    let mut problems = Vec::new();
    for (roots, classes) in COSTS {
        let of_roots = waits.iter().filter(|wait| roots.iter().any(|root| wait.starts_with(root)));
        let waiting: f64 = of_roots.map(|wait| all(wait)).sum();
        let costs = |class: &&str| all(&format!("delay_{class}")) + all(&format!("delay_{class}_longterm"));
        let costs: f64 = classes.iter().map(costs).sum();
        if costs > waiting * (1.0 + 1e-9) + ROUNDING {
            problems.push(format!("delays {classes:?} cost {costs} s, the waiting is {waiting} s"));
        }
    }
    problems
}

#[test]
fn laws_hold_for_random_programs_with_all_of_mpi() {
    let (mut problems, mut seen) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for seed in 0..PROGRAMS {
        let directory = in_memory();
        write::write(&trace(seed), directory.path());
        let report = directory.path().join("laws.cubex");
        analyze(directory.path(), &report, Semantics::Corrected).unwrap();
        let table = Table::read(&report);
        let found = [negative, coverage, parts, overlap, waiting, costs].map(|law| law(&table)).concat();
        problems.extend(found.into_iter().map(|problem| format!("random program {seed}: {problem}")));
        let values: BTreeSet<&str> = table.values.keys().map(|key| &*table.metrics[key.0].0).collect();
        for wait in waits().into_iter().filter(|wait| values.contains(wait)) {
            *seen.entry(wait).or_default() += 1;
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    // A law about metrics that never occur proves nothing.
    for wait in waits() {
        assert!(
            seen.get(wait).is_some_and(|&traces| traces >= 5),
            "{wait} occurs in {:?} traces",
            seen.get(wait)
        );
    }
}

#[test]
fn clocks_that_are_all_later_change_nothing() {
    for seed in 0..PROGRAMS / 6 {
        let values = [0, 123_456_789].map(|later| {
            let mut trace = trace(seed);
            trace.offset += later;
            let directory = in_memory();
            write::write(&trace, directory.path());
            let report = directory.path().join("shifted.cubex");
            analyze(directory.path(), &report, Semantics::Corrected).unwrap();
            Table::read(&report).values
        });
        assert!(values[0] == values[1], "random program {seed}");
    }
}
