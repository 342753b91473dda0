//! Efficiencies of all threads and of phases, with values by hand, by closed form, and by another program (what-if 5.1, 5.2).

use std::path::Path;

use cubex::Report;
use details::what_if::{WHAT_IF, WhatIfFile};
use generate::{Job, PATTERNS};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::report::{PhaseSummary, WhatIfSummary};
use replay::what_if::{Efficiency, LevelShares, Levels, PhaseWindows, SameThreads};
use replay::{DetailsPlace, Options, Semantics, WhatIf};

use crate::oracle::random::program;
use crate::support::parse::Case;
use crate::support::report::Table;
use crate::support::{
    archive, archives, in_memory, name, options, random, random_tasks, run, workers, write, written,
};

fn asking(experiment: &Path, report: &Path, scenarios: &str, phases: &[&str]) -> Options {
    Options {
        what_if: Some(WhatIf::parse(scenarios).unwrap()),
        phases: phases.iter().map(|&path| path.to_owned()).collect(),
        details: Some(DetailsPlace::Nowhere),
        structure: false,
        causes: false,
        ..options(experiment, report, Semantics::Corrected)
    }
}

fn what_if(experiment: &Path, scenarios: &str, phases: &[&str]) -> Result<WhatIfSummary, String> {
    let directory = in_memory();
    let options = asking(experiment, &directory.path().join("trace.cubex"), scenarios, phases);
    let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent());
    Ok(outcome.map_err(|error| error.to_string())?.summary.unwrap().what_if.unwrap())
}

/// What is found in a trace by its script.
fn of_script(script: &str, phases: &[&str]) -> WhatIfSummary {
    let directory = in_memory();
    write::write(&Case::parse(script).unwrap().trace, directory.path());
    what_if(directory.path(), "ideal", phases).unwrap()
}

fn windows(summary: &PhaseSummary) -> &PhaseWindows {
    summary.phase.windows.as_ref().unwrap()
}

/// What is wrong with efficiencies of any trace.
fn broken(efficiency: &Efficiency, levels: &Levels, is_phase: bool) -> Vec<String> {
    let mut broken = Vec::new();
    let is_near = |one: f64, other: f64| (one - other).abs() < 1e-9;
    let (factors, differences, idle) = (levels.multiplicative(), levels.additive(), levels.idle());
    let all = |of: LevelShares| {
        let known = [of.serialisation, of.transfer].map(|share| share.unwrap_or(1.0));
        [of.load_balance, of.process, of.region, of.serial, of.thread, known[0], known[1]]
    };
    let mut shares = [all(factors), all(differences)].concat();
    shares.extend([idle.outside, idle.waiting, idle.rest, levels.efficiency(), efficiency.load_balance()]);
    shares.extend([efficiency.parallel(), efficiency.communication()]);
    if !shares.iter().all(|share| (0.0..=1.0).contains(share)) {
        broken.push(format!("not in [0, 1]: {shares:?}"));
    }
    if efficiency.most > efficiency.ideal {
        broken.push(format!("more work than time on an ideal network: {efficiency:?}"));
    }
    if !is_phase && efficiency.ideal > efficiency.run {
        broken.push(format!("longer on an ideal network: {efficiency:?}"));
    }
    if !is_near(factors.process * factors.thread, levels.efficiency())
        || !is_near(factors.region * factors.serial, factors.thread)
    {
        broken.push(format!("no product: {factors:?}, {}", levels.efficiency()));
    }
    let lacking = |parts: &[f64]| parts.iter().map(|part| 1.0 - part).sum::<f64>();
    if !is_near(lacking(&[differences.region, differences.serial]), 1.0 - differences.thread)
        || !is_near(idle.outside + idle.waiting + idle.rest, 1.0 - differences.thread)
    {
        broken.push(format!("threads do not add up: {differences:?}, {idle:?}"));
    }
    if let (Some(serialisation), Some(transfer)) = (factors.serialisation, factors.transfer)
        && !is_near(factors.load_balance * serialisation * transfer, factors.process)
    {
        broken.push(format!("processes are no product: {factors:?}"));
    }
    if let (Some(serialisation), Some(transfer)) = (differences.serialisation, differences.transfer) {
        let parts =
            [differences.load_balance, serialisation, transfer, differences.region, differences.serial];
        if !is_near(lacking(&parts), 1.0 - levels.efficiency()) {
            broken.push(format!("differences do not add up: {differences:?}"));
        }
    }
    broken
}

/// What is wrong with the run and all phases.
fn all_broken(summary: &WhatIfSummary) -> Vec<String> {
    let mut found = broken(&summary.efficiency.unwrap(), &summary.levels, false);
    for phase in &summary.phases {
        if let Some(PhaseWindows { efficiency, levels, overlap, .. }) = &phase.phase.windows {
            found.extend(broken(efficiency, levels, true));
            if !(0..=efficiency.run).contains(overlap) || efficiency.run - overlap > summary.run_ticks {
                found.push(format!("windows of {} ticks overlap by {overlap}", efficiency.run));
            }
        }
    }
    found
}

/// By archive, in ticks: the run time; and by rank the time of the main thread in parallel regions, its work outside, work of all three
/// threads in there, and their waiting in barriers and for the end of the team. They come from what otf2-print prints, by a program that
/// shares nothing with this one.
const HYBRIDS: [(&str, i64, &[[i64; 4]]); 2] = [
    (
        "hybrid.2x3",
        462_062_836,
        &[
            [219_355_572, 183_200_954, 430_212_938, 175_820_084],
            [219_309_551, 52_370_298, 430_175_609, 175_813_428],
        ],
    ),
    (
        "hybrid.3x3",
        339_475_268,
        &[
            [171_874_824, 107_089_068, 334_220_374, 133_649_224],
            [172_345_901, 47_421_044, 332_892_540, 135_771_501],
            [171_773_230, 23_731_434, 333_796_758, 133_617_704],
        ],
    ),
];

#[test]
fn sums_of_hybrid_archives_are_those_of_another_program() {
    for (name, run, ranks) in HYBRIDS {
        let summary = what_if(&archive(name), "ideal", &["main"]).unwrap();
        let sum = |at: usize| ranks.iter().map(|rank| i128::from(rank[at])).sum::<i128>();
        let wanted = Levels {
            ranks: ranks.len() as u64,
            run,
            ideal: summary.gains[0].ticks,
            parallel: sum(0),
            most: ranks.iter().map(|rank| rank[0] + rank[1]).max().unwrap(),
            by_threads: vec![SameThreads {
                threads: 3,
                ranks: ranks.len() as u64,
                worked: sum(2),
                waited: sum(3),
                serial: sum(1),
            }],
        };
        assert_eq!(summary.levels, wanted, "{name}");
        assert_eq!(all_broken(&summary), [""; 0], "{name}");
        let text = summary.to_string();
        assert!(text.contains("Parallel efficiency of all threads:"), "{text}");
    }
}

#[test]
fn phase_of_all_of_main_has_the_efficiencies_of_the_run() {
    for experiment in archives() {
        let summary = what_if(&experiment, "ideal", &["main"]).unwrap();
        let windows = windows(&summary.phases[0]);
        assert_eq!(Some(windows.efficiency), summary.efficiency, "{}", name(&experiment));
        assert_eq!(windows.levels, summary.levels, "{}", name(&experiment));
        assert_eq!((windows.overlap, windows.is_split), (0, false), "{}", name(&experiment));
    }
}

/// Rank 0 with two threads, rank 1 with one. Ticks by hand:
///
/// rank 0: s = 10 to 20, 62 to 66, 76 to 90 = 28. p = 20 to 62 without MPI from 40 to 50 = 32. Main thread: work 22 to 30, 34 to 40,
/// 50 to 52, and a task in the barrier from 54 to 56 = 18. Thread 1: work 24 to 30, 32 to 38, 44 to 58, of which 2 in a critical section,
/// and 59 to 60 = 27. Waiting: the main thread in the first barrier no tick, as both come at once; in the second one from 52 to 58 without
/// the task = 4; and at the end none.
const TWO_LEVELS: &str = "
program prog
rank 0
  0 > main ; > MPI_Init ; 10 <
  20 fork ; 22 team ; > !$omp parallel
  30 > !$omp barrier ; 34 < ; 40 > MPI_Comm_rank ; 50 <
  51 task-create 1 ; 52 > !$omp implicit barrier ; 54 task-switch 1 ; > !$omp task ; 56 < ; task-complete 1 ; 60 < ; 60 < ; team-end ; 62 join
  66 > MPI_Barrier ; begin ; 76 end barrier ; < ; 90 > MPI_Finalize ; 95 < ; 96 <
rank 0 thread 1
  24 team ; > !$omp parallel ; 30 > !$omp barrier ; 32 <
  38 > !$omp critical ; 44 acquire 1 order 1 ; > !$omp critical sblock ; 46 < ; release 1 order 1 ; <
  58 > !$omp implicit barrier ; 59 < ; 60 < ; team-end
rank 1
  0 > main ; > MPI_Init ; 10 < ; 70 > MPI_Barrier ; begin ; 76 end barrier ; < ; 90 > MPI_Finalize ; 95 < ; 96 <
";

#[test]
fn time_of_threads_in_a_small_trace_is_that_by_hand() {
    let summary = of_script(TWO_LEVELS, &[]);
    let one = SameThreads { threads: 1, ranks: 1, worked: 0, waited: 0, serial: 74 };
    let two = SameThreads { threads: 2, ranks: 1, worked: 18 + 27, waited: 4, serial: 28 };
    assert_eq!(summary.levels.by_threads, [one, two]);
    let Levels { ranks, run, ideal, parallel, most, .. } = summary.levels;
    // Without MPI rank 1 comes to MPI_Barrier last, at 70, and works for 14 more ticks.
    assert_eq!((ranks, run, ideal, parallel, most), (2, 80, 74, 32, 74));
    assert_eq!(all_broken(&summary), [""; 0]);
}

#[test]
fn threads_that_work_while_the_main_one_is_in_mpi_are_no_gain_above_all() {
    // The main thread is in MPI for nearly all of the region, and another one works.
    let script = "
program prog
rank 0
  0 > main ; > MPI_Init ; 10 < ; 10 fork ; team ; > !$omp parallel ; 11 > MPI_Comm_rank ; 49 < ; 50 < ; team-end ; join
  60 > MPI_Finalize ; 61 < ; 62 <
rank 0 thread 1
  10 team ; > !$omp parallel ; 50 < ; team-end
";
    let summary = of_script(script, &[]);
    // Work of 2 and 40 ticks: the region counts as 21, not as the 2 ticks that the main thread was outside of MPI.
    assert_eq!(summary.levels.parallel, 21);
    assert_eq!(summary.levels.by_threads[0].worked, 42);
    assert_eq!(summary.levels.multiplicative().region, 1.0);
    assert_eq!(all_broken(&summary), [""; 0]);
}

/// Steps of three ranks: a balanced region of 12 ticks, and one in which rank r works for 10 (r + 1); a barrier ends each.
fn two_phases(steps: u64) -> String {
    let mut script = "program prog\n".to_owned();
    for rank in 0..3 {
        script += &format!("rank {rank}\n  0 > main ; > MPI_Init ; 10 <\n");
        for step in 0..steps {
            let begin = 10 + 48 * step;
            let barrier = |from: u64, to: u64| format!("{from} > MPI_Barrier ; begin ; {to} end barrier ; <");
            let work = 10 * (rank + 1);
            script += &format!(
                "  {begin} > even ; {} ; {} < ; {} > uneven ; {} ; {} <\n",
                barrier(begin + 12, begin + 14),
                begin + 14,
                begin + 14,
                barrier(begin + 14 + work, begin + 48),
                begin + 48
            );
        }
        let end = 10 + 48 * steps;
        script += &format!("  {end} > MPI_Finalize ; {} < ; {} <\n", end + 1, end + 2);
    }
    script
}

#[test]
fn phases_have_the_efficiencies_of_the_closed_form() {
    let steps = 5;
    let summary = of_script(&two_phases(steps), &["even", "main/uneven", "uneven/MPI_Barrier"]);
    let ticks = i64::try_from(steps).unwrap();
    let [even, uneven, barriers] = &summary.phases[..] else { panic!("three phases") };
    let of = |phase: &PhaseSummary| windows(phase).efficiency;
    // An ideal barrier is over when the last one comes.
    assert_eq!(
        of(even),
        Efficiency { work: 36 * ticks, most: 12 * ticks, ranks: 3, run: 14 * ticks, ideal: 12 * ticks }
    );
    assert_eq!(
        of(uneven),
        Efficiency { work: 60 * ticks, most: 30 * ticks, ranks: 3, run: 34 * ticks, ideal: 30 * ticks }
    );
    // From the first enter to the last leave: it waits for rank 2 for 20 ticks.
    assert_eq!(of(barriers), Efficiency { work: 0, most: 0, ranks: 3, run: 24 * ticks, ideal: 20 * ticks });
    assert_eq!((of(even).load_balance(), of(uneven).load_balance()), (1.0, 2.0 / 3.0));
    assert_eq!((of(uneven).serialisation(), of(uneven).transfer()), (1.0, 30.0 / 34.0));
    assert_eq!([even, uneven].map(|phase| phase.phase.visits[1].count), [steps; 2]);
    // Both together are the run.
    assert_eq!(of(even).run + of(uneven).run, summary.run_ticks);
    assert_eq!(of(even).ideal + of(uneven).ideal, summary.efficiency.unwrap().ideal);
    assert!((even.share + uneven.share - 1.0).abs() < 1e-12);
    assert_eq!(all_broken(&summary), [""; 0]);
    let text = summary.to_string();
    assert!(
        text.contains("  main/uneven: 58.8 % = load balance 66.7 % · serialisation 100.0 % · transfer 88.2 %, 5 visits, 70.8 %"),
        "{text}"
    );
}

#[test]
fn visits_inside_of_visits_are_none_and_different_numbers_of_visits_are_told() {
    let script = |times: u64| {
        format!(
            "
program prog
rank 0
  0 > main ; > MPI_Init ; 10 < ; 20 > f ; 22 > g ; 24 > f ; 30 < ; 31 < ; 32 < ; 40 > MPI_Finalize ; < ; <
rank 1
  0 > main ; > MPI_Init ; 10 <
  repeat {times} every 10: 20 > f ; 26 <
  60 > MPI_Finalize ; < ; <
"
        )
    };
    let summary = of_script(&script(1), &["f", "f/g", "g/f"]);
    let visits = |at: usize| summary.phases[at].phase.visits.map(|visits| (visits.count, visits.rank));
    assert_eq!((visits(0), windows(&summary.phases[0]).efficiency.run), ([(1, 0), (1, 0)], 12));
    // Rank 1 never calls g.
    assert_eq!((visits(1), &summary.phases[1].phase.windows), ([(0, 1), (1, 0)], &None));
    assert_eq!(visits(2), [(0, 1), (1, 0)]);
    let summary = of_script(&script(3), &["f"]);
    assert_eq!(summary.phases[0].phase.visits.map(|visits| (visits.count, visits.rank)), [(1, 0), (3, 1)]);
    assert_eq!(summary.phases[0].phase.windows, None);
    let text = summary.to_string();
    assert!(text.contains("f: unknown, as rank 0 comes there once and rank 1 3 times"), "{text}");
}

#[test]
fn windows_that_overlap_say_by_how_much() {
    let script = "
program prog
rank 0
  0 > main ; > MPI_Init ; 10 < ; 10 > f ; 20 < ; 30 > f ; 40 < ; 90 > MPI_Finalize ; < ; <
rank 1
  0 > main ; > MPI_Init ; 10 < ; 25 > f ; 35 < ; 60 > f ; 70 < ; 90 > MPI_Finalize ; < ; <
";
    let summary = of_script(script, &["f"]);
    // From 10 to 35, and from 30 to 70.
    let windows = windows(&summary.phases[0]);
    assert_eq!((windows.efficiency.run, windows.overlap), (65, 5));
    assert_eq!(summary.phases[0].share, 60.0 / 80.0);
    let text = summary.to_string();
    assert!(text.contains("7.7 % of its time counts twice"), "{text}");
}

#[test]
fn phase_that_takes_longer_on_an_ideal_network_has_no_serialisation() {
    // The message takes 50 ticks, so that both come to f at 60. Without that rank 0 is there at 10, and waits for rank 1.
    let script = "
program prog
rank 0
  0 > main ; > MPI_Init ; 5 < ; 5 > MPI_Recv ; 60 recv 1 ; <
  60 > f ; 61 > MPI_Barrier ; begin ; 80 end barrier ; < ; < ; 80 > MPI_Finalize ; < ; <
rank 1
  0 > main ; > MPI_Init ; 5 < ; 10 > MPI_Send ; send 0 ; 11 <
  60 > f ; 78 > MPI_Barrier ; begin ; 80 end barrier ; < ; < ; 80 > MPI_Finalize ; < ; <
";
    let summary = of_script(script, &["f"]);
    let windows = windows(&summary.phases[0]);
    // Rank 1 works for 5, 49 and 18 ticks: at 77 it is at the barrier.
    assert_eq!((windows.efficiency.run, windows.efficiency.ideal), (20, 77 - 10));
    assert_eq!(windows.levels.multiplicative().serialisation, None);
    assert_eq!(windows.efficiency.communication(), 18.0 / 20.0);
    assert_eq!(all_broken(&summary), [""; 0]);
    let text = summary.to_string();
    assert!(text.contains("· communication 90.0 %, 1 visit"), "{text}");
    assert!(text.contains("cannot be told apart"), "{text}");
}

#[test]
fn threads_are_unknown_in_phases_inside_of_parallel_regions() {
    let script = "
program prog
rank 0
  0 > main ; > MPI_Init ; 10 < ; 10 fork ; team ; > !$omp parallel ; 12 > f ; 30 < ; 50 < ; team-end ; join
  50 > g ; 52 fork ; team ; > !$omp parallel ; 58 < ; team-end ; join ; 60 < ; 60 > MPI_Finalize ; < ; <
rank 0 thread 1
  10 team ; > !$omp parallel ; 40 < ; team-end
  52 team ; > !$omp parallel ; 56 < ; team-end
";
    let summary = of_script(script, &["f", "g", "g/!$omp parallel"]);
    let [f, g, region] = [0, 1, 2].map(|at| windows(&summary.phases[at]));
    assert_eq!([f, g, region].map(|phase| phase.is_split), [true, false, false]);
    // In g: 2 ticks before and 2 behind the region of 6 ticks, in which the other thread ends 2 before.
    let of = SameThreads { threads: 2, ranks: 1, worked: 6 + 4, waited: 2, serial: 4 };
    assert_eq!((&g.levels.by_threads[..], g.levels.parallel), (&[of][..], 6));
    // A visit of a parallel region has all of its team.
    let of = SameThreads { serial: 0, ..of };
    assert_eq!((&region.levels.by_threads[..], region.levels.parallel), (&[of][..], 6));
    let text = summary.to_string();
    assert!(text.contains("Of other threads nothing is known"), "{text}");
}

/// Phases of the archives and of generated traces: what the program names, and calls of MPI.
fn phases_of(experiment: &Path) -> Vec<String> {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    crate::support::analyze(experiment, &report, Semantics::Corrected).unwrap();
    let mut names: Vec<String> = Table::read(&report)
        .named()
        .into_iter()
        .filter(|((metric, path, _), value)| metric == "visits" && *value > 0.0 && !path.contains("THREADS"))
        .filter_map(|((_, path, _), _)| Some(path.rsplit_once('/')?.1.to_owned()))
        .filter(|name| !name.starts_with("MPI_Init") && name != "MPI_Finalize")
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The phases of these to which the main thread of somebody comes.
fn with_phases(experiment: &Path, scenarios: &str, phases: &[String]) -> WhatIfSummary {
    let mut phases: Vec<&str> = phases.iter().map(String::as_str).collect();
    loop {
        match what_if(experiment, scenarios, &phases) {
            Ok(summary) => return summary,
            Err(error) => {
                let before = phases.len();
                phases.retain(|path| !error.contains(&format!("{path:?}")));
                assert!(phases.len() < before, "{error}");
            }
        }
    }
}

const SCENARIOS: &str =
    "same,ideal,fitted,latency=0.7,bandwidth=3,add=10,cpu=0.3,cpu=1.7@main,eager=all,level=auto";

#[test]
fn run_times_and_moved_marks_are_the_same_with_phases_and_without() {
    for experiment in archives() {
        let phases = phases_of(&experiment);
        let without = what_if(&experiment, SCENARIOS, &[]).unwrap();
        let with = with_phases(&experiment, SCENARIOS, &phases);
        assert!(with.phases.len() > 2, "{}", name(&experiment));
        assert_eq!(with.gains, without.gains, "{}", name(&experiment));
        assert_eq!((&with.efficiency, &with.levels), (&without.efficiency, &without.levels));
        assert_eq!(all_broken(&with), [""; 0], "{}", name(&experiment));
    }
}

#[test]
fn efficiencies_of_generated_traces_keep_the_laws_whatever_their_clocks() {
    let directory = in_memory();
    for pattern in PATTERNS {
        for (clocks, drift, clock_error) in [("right", 0.0, 0), ("wrong", 1.0, 20_000)] {
            let experiment = directory.path().join(format!("{}-{clocks}", pattern.name));
            let job = Job { seed: 7, drift, clock_error, ..Job::new(pattern, 5, 300) };
            generate::generate(&job, &experiment).unwrap();
            let summary = with_phases(&experiment, "ideal", &phases_of(&experiment));
            assert_eq!(all_broken(&summary), [""; 0], "{} with clocks that are {clocks}", pattern.name);
        }
    }
}

#[test]
fn efficiencies_of_random_traces_with_threads_are_shares() {
    for seed in 0..60 {
        let directory = in_memory();
        let trace = match seed % 3 {
            0 => random::trace(seed),
            1 => program(seed).0,
            _ => random_tasks::trace(seed, seed % 2 == 0),
        };
        write::write(&trace, directory.path());
        let summary = with_phases(directory.path(), "ideal", &["main".into(), "work".into(), "f".into()]);
        let shares = |of: LevelShares| [of.load_balance, of.process, of.region, of.serial, of.thread];
        let all = [shares(summary.levels.multiplicative()), shares(summary.levels.additive())].concat();
        assert!(all.iter().all(|share| (0.0..=1.0).contains(share)), "seed {seed}: {all:?}");
    }
}

#[test]
fn phases_do_not_depend_on_workers() {
    for archive_name in ["hybrid.3x3", "nxn.8", "master_worker.6", "imbalance_chain.4"] {
        let experiment = archive(archive_name);
        let directory = in_memory();
        let options = asking(&experiment, &directory.path().join("trace.cubex"), "ideal", &[]);
        let names = phases_of(&experiment);
        let known = with_phases(&experiment, "ideal", &names).phases;
        let phases = known.iter().map(|phase| phase.phase.path.clone()).collect();
        let options = Options { phases, ..options };
        for (processes, threads) in [(1, 2), (2, 1), (3, 1), (2, 2)] {
            let mut outcomes = workers::analyze_with(&Options { threads, ..options.clone() }, processes);
            let summary = outcomes.swap_remove(0).unwrap().summary.unwrap().what_if.unwrap();
            assert_eq!(summary.phases, known, "{archive_name} on {processes} times {threads}");
        }
    }
}

#[test]
fn values_of_the_report_are_the_same_with_phases_and_without() {
    for experiment in [archive("late_sender_nb.4"), archive("hybrid.2x3"), archive("rma.4")] {
        let directory = in_memory();
        let [plain, asked] = ["plain.cubex", "asked.cubex"].map(|name| directory.path().join(name));
        crate::support::analyze(&experiment, &plain, Semantics::Corrected).unwrap();
        let known = with_phases(&experiment, "ideal", &phases_of(&experiment)).phases;
        let phases = known.iter().map(|phase| phase.phase.path.clone()).collect();
        let options = Options { phases, ..options(&experiment, &asked, Semantics::Corrected) };
        let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
        // Phases without scenarios need an ideal network.
        assert_eq!(outcome.summary.unwrap().what_if.unwrap().gains.len(), 1);
        let [[_, before], [_, behind]] = [&plain, &asked].map(|report| written(report));
        assert!(before == behind, "{}: statistics", name(&experiment));
        assert_eq!(Table::read(&plain).named(), Table::read(&asked).named(), "{}", name(&experiment));
    }
}

#[test]
fn member_for_programs_has_phases_and_threads() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let options = asking(&archive("hybrid.3x3"), &report, "ideal", &["main"]);
    replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    let file = WhatIfFile::parse(&Report::open(&report).unwrap().member(WHAT_IF).unwrap().unwrap()).unwrap();
    let windows = file.phases[0].windows.as_ref().unwrap();
    assert_eq!((&windows.threads, file.phases[0].path.as_str()), (&file.threads, "main"));
    assert_eq!(windows.run_time.ticks, file.run_time.ticks);
    let threads = file.threads.unwrap();
    assert_eq!((threads.least, threads.most), (3, 3));
    assert!(
        (threads.multiplicative.process * threads.multiplicative.thread - threads.parallel).abs() < 1e-12
    );
    let efficiency = file.efficiency.as_ref().unwrap();
    let additive = &efficiency.additive;
    assert_eq!(additive.transfer, Some(efficiency.transfer));
    let lacking = 2.0 - additive.load_balance - additive.serialisation.unwrap();
    assert!((lacking - (additive.transfer.unwrap() - threads.additive.process)).abs() < 1e-12);
}

#[test]
fn phase_that_is_nowhere_ends_the_analysis_with_a_message() {
    let error = what_if(&archive("barrier.4"), "ideal", &["main", "nowhere"]).unwrap_err();
    assert!(error.contains("\"nowhere\""), "{error}");
    let experiment = archive("barrier.4");
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let [experiment, report] = [&experiment, &report].map(|path| path.to_str().unwrap());
    let finished = run::analyze([experiment, "-o", report, "--phase", "main/nowhere"]);
    finished.expect(2);
    assert!(finished.stderr.contains("main/nowhere"), "{}", finished.stderr);
    let finished = run::analyze([experiment, "-o", report, "--phase", "/"]);
    finished.expect(2);
    assert!(finished.stderr.contains("names of a call path"), "{}", finished.stderr);
}
