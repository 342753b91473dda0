//! Structure of the run: iterations of the archives, their sums, and the same for any workers.

use std::path::Path;

use generate::{Job, Pattern, Slow, Tuning, Work};
use replay::exchange::Solo;
use replay::fraction;
use replay::metrics::Metrics;
use replay::progress::Progress;

use replay::structure::{FoundStructure, MetricSeries, Spread, Structure};
use replay::{MainLoop, Options, Semantics, StructureSummary};

use crate::support::report::Table;
use crate::support::{archive, archives, in_memory, name, options, workers};

fn of_loop(found: FoundStructure) -> Option<Structure> {
    match found {
        FoundStructure::Loop(structure) => Some(*structure),
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

/// How many metrics of a report have the values of iterations and those outside as their sums; all do that have any.
pub(crate) fn compare_sums(structure: &Structure, experiment: &Path, report: &Path) -> usize {
    let metrics = Metrics::new(true, Semantics::Corrected);
    let table = Table::read(report);
    let archive = otf2::Archive::open(experiment).unwrap();
    let file = archive.definition_file().unwrap();
    let clock = archive.definition_records(&file).resolve().unwrap().clock;
    let mut compared = 0;
    for (&metric, MetricSeries { values, has_shares, .. }) in &structure.series.as_ref().unwrap().metrics {
        let id = metrics.list[metric].id;
        let is_leaf = table.metric(id).is_some_and(|at| table.metrics.iter().all(|it| it.2 != Some(at)));
        if !is_leaf {
            continue;
        }
        let all: f64 = (0..table.locations).map(|location| table.sum(id, location)).sum();
        let sum: i128 = values.iter().map(|spread: &Spread| spread.sum).sum();
        let sum = match has_shares {
            true => fraction::float(sum) * clock.seconds(1),
            false if table.is_time(id) => clock.seconds(sum),
            false => sum as f64,
        };
        assert!((sum - all).abs() <= 1e-9 * all.abs(), "{}: {id}: {sum} {all}", name(experiment));
        compared += 1;
    }
    compared
}

#[test]
fn iterations_and_what_is_outside_sum_up_to_the_report() {
    let directory = in_memory();
    let mut compared = 0;
    for experiment in archives() {
        let report = directory.path().join("r.cubex");
        let options = options(&experiment, &report, Semantics::Corrected);
        let Some(structure) = structure(&options) else { continue };
        compared += compare_sums(&structure, &experiment, &report);
    }
    assert!(compared > 100, "{compared}");
}

/// The main loop of a made-up trace, as the summary has it.
fn main_loop(job: &Job) -> Option<MainLoop> {
    let directory = in_memory();
    let experiment = directory.path().join("trace");
    generate::generate(job, &experiment).unwrap();
    let options = options(&experiment, &directory.path().join("r.cubex"), Semantics::Corrected);
    match replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap().summary.unwrap().structure {
        StructureSummary::MainLoop(main_loop) => Some(*main_loop),
        _ => None,
    }
}

/// A job whose call sites are known.
fn job(pattern: &str, ranks: u32, iterations: u64) -> Job {
    let pattern = Pattern::find(pattern).unwrap();
    Job { iterations: Some(iterations), call_sites: true, ..Job::new(pattern, ranks, 0) }
}

fn iterations_job(seed: u64, tuning: Tuning) -> Job {
    Job { seed, tuning, ..job("iterations", 16, 300) }
}

/// Structure 7.8: noise of 3 %, which is no outlier and no trend.
#[test]
fn iterations_of_a_program_with_noise_are_all_alike() {
    for seed in 1..=4 {
        let found = main_loop(&iterations_job(seed, Tuning::default())).unwrap();
        assert_eq!((found.iterations, found.locations, found.corresponds()), (300, [16, 16], true));
        assert!(
            found.share > 0.9 && found.trend.is_none() && found.unlike.is_empty(),
            "seed {seed}: {found}"
        );
    }
}

/// Structure 7.8.
#[test]
fn iteration_in_which_one_rank_is_slow_is_named_with_the_rank() {
    for (seed, rank, iteration) in [(1, 5, 33), (2, 0, 2), (3, 15, 299), (4, 9, 150)] {
        let slow = Slow { rank, iteration, factor: 3.0, work: Work::Relax };
        let found =
            main_loop(&iterations_job(seed, Tuning { slow: Some(slow), ..Tuning::default() })).unwrap();
        let [unlike] = &found.unlike[..] else { panic!("seed {seed}: {found}") };
        assert_eq!(
            (unlike.iteration, unlike.location.as_str()),
            (iteration, format!("rank {rank}").as_str())
        );
        assert!(unlike.is_computation(), "seed {seed}: {found}");
        let cause = unlike.notable_cause().unwrap_or_else(|| panic!("seed {seed}: {found}"));
        assert_eq!(cause.location, format!("rank {rank}"), "{found}");
        assert!(cause.call_path.ends_with("relax"), "{found}");
    }
}

/// Structure 7.8: the slope within 5 %.
#[test]
fn iterations_that_get_longer_show_as_a_trend() {
    let drifting = Tuning { trend: 0.1, ..Tuning::default() };
    let trend = main_loop(&iterations_job(1, drifting)).unwrap().trend.unwrap();
    // Relative to the median, which lies in the middle of the run.
    let expected = 0.001 * 299.0 / (1.0 + 0.001 * 299.0 / 2.0);
    assert!((trend / expected - 1.0).abs() < 0.05, "{trend} instead of {expected}");
}

#[test]
fn inner_loops_that_vary_change_nothing_in_the_number_of_iterations() {
    let varying = Tuning { inner: 2..=6, ..Tuning::default() };
    let found = main_loop(&iterations_job(1, varying)).unwrap();
    assert_eq!((found.iterations, found.locations, found.corresponds()), (300, [16, 16], true));
}

/// Without call sites the first iteration or the last one may lack something.
#[test]
fn iterations_without_call_sites_are_found_within_two() {
    let found = main_loop(&Job { call_sites: false, ..iterations_job(1, Tuning::default()) }).unwrap();
    assert!((298..=300).contains(&found.iterations) && found.corresponds(), "{found}");
}

#[test]
fn programs_without_a_common_loop_are_told_apart() {
    assert_eq!(main_loop(&job("straight", 4, 500)), None);
    let some = main_loop(&job("some-loops", 8, 100)).unwrap();
    assert_eq!((some.iterations, some.locations), (100, [4, 8]));
    let uneven = main_loop(&job("uneven-loops", 6, 100)).unwrap();
    // Two ranks have two more than two others, which no message contradicts.
    assert_eq!((uneven.iterations, uneven.locations, uneven.corresponds()), (102, [2, 6], true));
}

#[test]
fn random_calls_from_very_many_sites_are_irregular() {
    let random =
        Job { tuning: Tuning { sites: 200_000, ..Tuning::default() }, ..job("random-sites", 2, 300_000) };
    assert!(main_loop(&random).is_none_or(|found| found.irregular == 2));
    let found = main_loop(&Job {
        tuning: Tuning { sites: 2000, ..Tuning::default() },
        ..job("random-sites", 2, 50_000)
    });
    assert!(found.is_some_and(|found| found.irregular == 2));
}
