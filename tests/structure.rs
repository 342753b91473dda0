//! Structure of the run: iterations of the archives, their sums, and the same for any workers.

use std::path::Path;

use replay::exchange::Solo;
use replay::metrics::Metrics;
use replay::progress::Progress;
use replay::structure::{FoundStructure, MetricSeries, Spread, Structure};
use replay::{Options, Semantics};

use crate::support::report::Table;
use crate::support::{archive, archives, in_memory, name, options, workers};

fn of_loop(found: FoundStructure) -> Option<Structure> {
    match found {
        FoundStructure::Loop(structure) => Some(structure),
        _ => None,
    }
}

fn structure(options: &Options) -> Option<Structure> {
    of_loop(replay::analyze(options, &mut Solo, &mut Progress::silent()).unwrap().structure)
}

/// Number of iterations, messages between iterations of different numbers, and operations whose members disagree.
fn counts(experiment: &Path) -> [u64; 3] {
    let directory = in_memory();
    let options = options(experiment, &directory.path().join("r.cubex"), Semantics::Corrected);
    structure(&options).map_or([0; 3], |structure| {
        let iterations = structure.iterations.len() as u64;
        [iterations, structure.correspondence.crossing, structure.correspondence.disagreeing]
    })
}

/// All were recorded without call sites (structure 9).
#[test]
fn iterations_of_the_archives_are_those_of_the_specification() {
    let expected = [
        ("barrier.4", [3, 0, 0]),
        ("comms.4", [3, 0, 0]),
        ("comms.7", [3, 0, 0]),
        ("hybrid.2x3", [3, 0, 0]),
        ("hybrid.3x3", [5, 0, 0]),
        ("imbalance_chain.4", [3, 0, 0]),
        ("imbalance_chain.8", [3, 0, 0]),
        ("io.4", [12, 0, 0]),
        ("late_receiver.4", [3, 0, 0]),
        ("late_receiver_nb.4", [3, 0, 0]),
        ("late_sender.4", [3, 0, 0]),
        // Each of the three iterations of the program is unlike the others.
        ("late_sender_nb.3", [6, 0, 0]),
        ("late_sender_nb.4", [6, 0, 0]),
        ("master_worker.4", [12, 72, 0]),
        ("master_worker.6", [12, 93, 0]),
        ("nbcoll.4", [3, 0, 0]),
        ("nxn.4", [3, 0, 0]),
        ("nxn.8", [3, 0, 0]),
        ("persistent.4", [3, 0, 0]),
        ("rma.4", [3, 0, 0]),
        ("rooted.4", [3, 0, 0]),
        ("rooted.5", [3, 0, 21]),
        ("self_and_null.4", [0, 0, 0]),
        ("sendrecv.2", [3, 0, 0]),
        ("sendrecv.4", [3, 0, 0]),
        // All patterns one after the other have no loop in common.
        ("skewed.4", [2, 12, 14]),
        ("test_loop.4", [3, 0, 0]),
        ("wildcard.4", [3, 3, 0]),
        ("wrong_order.4", [6, 12, 0]),
        ("wrong_order_diff.4", [3, 0, 0]),
    ];
    let found: Vec<(String, [u64; 3])> =
        expected.iter().map(|(name, _)| (name.to_string(), counts(&archive(name)))).collect();
    assert_eq!(found, expected.map(|(name, counts)| (name.to_string(), counts)));
}

#[test]
fn structure_is_the_same_for_any_workers() {
    let directory = in_memory();
    for experiment in archives() {
        let report = directory.path().join("r.cubex");
        let options = options(&experiment, &report, Semantics::Corrected);
        let one = structure(&options);
        for (processes, threads) in [(2, 1), (1, 2), (3, 1), (7, 1)] {
            let options = Options { threads, ..options.clone() };
            let outcomes = workers::analyze_with(&options, processes);
            let other = of_loop(outcomes.into_iter().next().unwrap().unwrap().structure);
            assert_eq!(other, one, "{} with {processes} x {threads}", name(&experiment));
        }
    }
}

/// The values of iterations and those outside are together the values of the report.
#[test]
fn iterations_and_what_is_outside_sum_up_to_the_report() {
    let directory = in_memory();
    let metrics = Metrics::new(true, Semantics::Corrected);
    let mut compared = 0;
    for experiment in archives() {
        let report = directory.path().join("r.cubex");
        let options = options(&experiment, &report, Semantics::Corrected);
        let Some(structure) = structure(&options) else { continue };
        let table = Table::read(&report);
        let archive = otf2::Archive::open(&experiment).unwrap();
        let file = archive.definition_file().unwrap();
        let clock = archive.definition_records(&file).resolve().unwrap().clock;
        for (&metric, MetricSeries { values, .. }) in &structure.metrics {
            let id = metrics.list[metric].id;
            let is_leaf = table.metric(id).is_some_and(|at| table.metrics.iter().all(|it| it.2 != Some(at)));
            if !is_leaf {
                continue;
            }
            let all: f64 = (0..table.locations).map(|location| table.sum(id, location)).sum();
            let sum: i128 = values.iter().map(|spread: &Spread| spread.sum).sum();
            let sum = if table.is_time(id) { clock.seconds(sum) } else { sum as f64 };
            assert!((sum - all).abs() <= 1e-9 * all.abs(), "{}: {id}: {sum} {all}", name(&experiment));
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}
