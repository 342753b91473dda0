//! Masters and their workers: what is known of made-up and of recorded ones, and that nobody else is taken for one (what-if 6).

use std::path::Path;

use details::what_if::{Advice, MasterFacts, WHAT_IF, WhatIfFile};
use generate::{Job, Pattern};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, Semantics, WhatIf};

use crate::support::{archive, archives, in_memory, name, options, workers};

fn asking(experiment: &Path, report: &Path) -> Options {
    let what_if = Some(WhatIf::Standard);
    Options { what_if, structure: false, causes: false, ..options(experiment, report, Semantics::Corrected) }
}

/// What the report has for programs, and the lines of the summary about masters.
fn what_if(experiment: &Path) -> (WhatIfFile, Vec<String>) {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let outcome = replay::analyze(&asking(experiment, &report), &mut Solo, &mut Progress::silent()).unwrap();
    let bytes = cubex::Report::open(&report).unwrap().member(WHAT_IF).unwrap().unwrap();
    let summary = outcome.summary.unwrap().what_if.unwrap().to_string();
    let lines = summary.lines().filter(|line| line.starts_with("Master rank")).map(Into::into).collect();
    (WhatIfFile::parse(&bytes).unwrap(), lines)
}

fn generated(pattern: &str, ranks: u32, steps: u64, clocks: (f64, u64)) -> (WhatIfFile, Vec<String>) {
    let directory = in_memory();
    let experiment = directory.path().join("trace");
    let (drift, clock_error) = clocks;
    let job = Job::new(Pattern::find(pattern).unwrap(), ranks, 0);
    generate::generate(&Job { iterations: Some(steps), drift, clock_error, ..job }, &experiment).unwrap();
    what_if(&experiment)
}

/// Of a farm in nanoseconds: service, a message, and the task with four workers.
const SERVICE: i64 = 2000;
const MESSAGE: i64 = 520;
const TASK: i64 = 50_000 + 2 * SERVICE * 5;

/// Ticks of so many equal tasks with a number of workers that divides it and does not keep the master busy: rounds of a service, a
/// message, the task, and a message; each worker is served behind the one before.
fn equal_tasks(tasks: i64, workers: i64) -> i64 {
    tasks / workers * (SERVICE + MESSAGE + TASK + MESSAGE) + (workers - 1) * SERVICE
}

#[test]
fn times_of_equal_tasks_are_those_of_the_closed_form() {
    let (file, lines) = generated("farm", 5, 60, (0.0, 0));
    let [master] = &file.masters[..] else { panic!("{:?}", file.masters) };
    assert_eq!((master.rank, &master.workers[..], master.tasks), (0, &[1, 2, 3, 4][..], 240));
    assert_eq!((master.iterations, master.work.ticks, &master.unknown), (1, 240 * TASK, &None));
    assert_eq!((master.bytes_there, master.bytes_back), (240 * 16, 240 * 64));
    assert!((master.service.unwrap() - 2e-6).abs() < 1e-12 && (master.latency - 0.52e-6).abs() < 1e-12);
    assert!(master.unit_deviation == 0.0 && master.model_error.unwrap().abs() < 0.001);
    for workers in [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30] {
        let found = master.times.iter().find(|it| i64::from(it.workers) == workers).unwrap();
        assert_eq!(found.ticks, equal_tasks(240, workers), "{workers}");
    }
    // More than 36 workers keep the master busy; the best of those tried do not.
    let best = master.best.as_ref().unwrap();
    assert_eq!(master.limit.as_ref().unwrap().ticks, 240 * SERVICE);
    assert!(best.ticks <= equal_tasks(240, 30) && best.workers > 15, "{best:?}");
    let advice: Vec<&Advice> =
        file.advice.iter().filter(|it| it.tuning_point.parameter == "number of workers of rank 0").collect();
    assert_eq!(advice.len(), 1);
    assert_eq!(
        (advice[0].tuning_point.now, advice[0].tuning_point.proposed),
        (4.0, Some(best.workers.into()))
    );
    let now = equal_tasks(240, 4);
    assert_eq!(advice[0].predicted.ticks, file.run_time.ticks - (now - best.ticks));
    assert!(lines[0].contains("with 4 workers") && lines[0].contains("service 2.0 µs a task"), "{lines:?}");
}

#[test]
fn clocks_do_not_change_who_is_a_master() {
    for clocks in [(1.0, 0), (1.0, 20_000)] {
        let (file, _) = generated("farm", 5, 60, clocks);
        let masters: Vec<(u32, u64)> = file.masters.iter().map(|it| (it.rank, it.tasks)).collect();
        assert_eq!(masters, [(0, 240)], "{clocks:?}");
    }
}

#[test]
fn one_task_each_says_nothing_of_other_numbers() {
    let (file, lines) = generated("master-worker", 6, 40, (0.0, 0));
    let [master] = &file.masters[..] else { panic!("{:?}", file.masters) };
    assert_eq!((master.tasks, master.iterations, master.workers.len()), (200, 40, 5));
    assert_eq!(master.unknown.as_deref(), Some("tasks"));
    // All messages take as long as any other, so nothing is known of the time of a byte, which the formula needs.
    assert_eq!((&master.best, &master.formula, master.times.len()), (&None, &None, 0));
    assert!(master.policies.is_empty());
    assert!(file.advice.iter().all(|it| !it.tuning_point.parameter.contains("workers")), "{:?}", file.advice);
    assert!(
        lines[0].ends_with("not known, as there are less than two tasks for each at a time"),
        "{lines:?}"
    );
}

#[test]
fn other_programs_have_no_master() {
    let patterns =
        ["stencil", "ring", "all-to-all", "wavefront", "sweeps", "non-blocking", "ping-pong", "random-sites"];
    for pattern in patterns {
        // A grid of three ranks is a chain, whose inner rank has messages with both others.
        for ranks in [3, 4, 6] {
            let (file, lines) = generated(pattern, ranks, 30, (0.0, 0));
            assert!(file.masters.is_empty() && lines.is_empty(), "{pattern} of {ranks}: {:?}", file.masters);
        }
    }
    for experiment in archives() {
        let name = name(&experiment);
        // All that the programs do, which hand out work in the end.
        let is_known = name.starts_with("master_worker") || name == "skewed.4";
        let masters = what_if(&experiment).0.masters;
        assert_eq!(masters.len(), usize::from(is_known), "{name}: {masters:?}");
    }
}

#[test]
fn archives_of_a_master_have_its_tasks_and_a_better_number() {
    for (name, workers, tasks) in [("master_worker.4", 3, 36), ("master_worker.6", 5, 60)] {
        let (file, lines) = what_if(&archive(name));
        let MasterFacts { best, service, tasks: found, policies, model_error, .. } = &file.masters[0];
        assert_eq!((file.masters[0].workers.len(), *found), (workers, tasks), "{name}");
        // The program sleeps 2 ms for each task but the first ones, for which the replay lets it sleep as well.
        assert!((service.unwrap() - 0.0021).abs() < 0.0002 && model_error.unwrap().abs() < 0.05, "{name}");
        assert!(best.as_ref().unwrap().workers > 2 * workers as u32, "{name}");
        assert_eq!(policies.len(), 9, "{name}");
        assert!(
            lines[0].starts_with(&format!("Master rank 0 with {workers} workers: ")),
            "{name}: {lines:?}"
        );
    }
}

#[test]
fn masters_do_not_depend_on_workers_of_the_analysis() {
    let directory = in_memory();
    let experiment = directory.path().join("trace");
    let job = Job::new(Pattern::find("farm").unwrap(), 7, 400);
    generate::generate(&job, &experiment).unwrap();
    for experiment in [experiment, archive("master_worker.6"), archive("skewed.4")] {
        let alone = what_if(&experiment).0;
        for (processes, threads) in [(1, 2), (2, 1), (3, 1), (2, 2)] {
            let report = directory.path().join("trace.cubex");
            let options = Options { threads, ..asking(&experiment, &report) };
            workers::analyze_with(&options, processes).swap_remove(0).unwrap();
            let bytes = cubex::Report::open(&report).unwrap().member(WHAT_IF).unwrap().unwrap();
            let found = WhatIfFile::parse(&bytes).unwrap();
            assert!(found == alone, "{} on {processes} times {threads}", name(&experiment));
        }
    }
}

#[test]
fn advice_is_what_gains_more_than_a_hundredth() {
    for experiment in archives() {
        let (file, _) = what_if(&experiment);
        let of_scenarios: Vec<&Advice> =
            file.advice.iter().filter(|it| WhatIf::parse(&it.performance_function).is_ok()).collect();
        let wanted = file.scenarios.iter().filter(|it| it.gain > Some(0.01) && !it.name.contains('+'));
        assert_eq!(of_scenarios.len(), wanted.clone().count(), "{}", name(&experiment));
        for scenario in wanted {
            let advice = of_scenarios.iter().find(|it| it.performance_function == scenario.name).unwrap();
            assert_eq!(Some(advice.predicted.ticks), scenario.ticks);
            let point = &advice.tuning_point;
            assert!(
                point.proposed.is_none_or(|proposed| proposed < point.now),
                "{}: {advice:?}",
                name(&experiment)
            );
        }
    }
    // The work of rank 0, and a quarter of the work of all four.
    let (file, _) = what_if(&archive("imbalance_chain.4"));
    let first = &file.advice[0];
    assert_eq!((first.measure_points[0].rank, &*first.measure_points[0].quantity), (Some(0), "work"));
    let values =
        [first.measure_points[0].value, first.tuning_point.now, first.tuning_point.proposed.unwrap()];
    let is_near = |(found, wanted): (f64, f64)| (found - wanted).abs() < 0.0001;
    assert!(values.into_iter().zip([0.1213, 0.1213, 0.0418]).all(is_near), "{values:?}");
    assert_eq!(first.predicted.ticks, 230_381_359);
}
