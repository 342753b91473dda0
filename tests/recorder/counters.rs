//! Counters are those of the system, at the call path where it has counted them; where there are none, one line says so.

use std::collections::BTreeMap;
use std::path::Path;

use otf2::Event;

use crate::support::archive;
use crate::support::process::Ended;
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::{NamedReport, findings};

const PROGRAM: &str = "counters/touch.c";

/// Records the program in so many rounds, unless the system permits no counters of its own.
fn recorded(test: &str, rounds: &str, options: &[&'static str]) -> Option<(Subject, Ended)> {
    let subject = Subject::new(test, PROGRAM, 2, &[rounds])?;
    let subject = options.iter().fold(subject, |subject, &option| subject.option(option));
    let ended = subject.run_recorded(Invocation::InFront);
    ended.expect_success();
    if ended.stderr.contains("the system does not permit it") {
        skip::skip(skip::Need::System, format!("{test}: {}", ended.stderr));
        return None;
    }
    assert_eq!(archive::refusal(&subject.experiment), None);
    assert_eq!(archive::difference(&subject.experiment), None);
    analyze(&subject.experiment, &subject.folder).expect_success();
    Some((subject, ended))
}

/// Processor time of the computation by rank, as the program has printed it.
fn computed(ended: &Ended) -> BTreeMap<usize, f64> {
    let line = |line: &str| {
        let (rank, seconds) = line.split_once(' ').unwrap();
        (rank.parse().unwrap(), seconds.parse().unwrap())
    };
    ended.stdout.lines().map(line).collect()
}

/// Checks the counters of both ranks, for so many rounds that are recorded.
///
/// The program measures the time of its thread that the scheduler knows, the counter also what interrupts and other machines on the
/// same processor take of it: the time of a counter is at least the program's, and at most that of the region.
fn expect_counted(report: &NamedReport, ended: &Ended, share: f64, rounds: f64) {
    for (rank, seconds) in computed(ended) {
        let of = |metric: &str, region: &str| report.value(metric, &report.within(region), rank);
        // The buffer of events takes pages, too.
        let touched = of("page_faults", "fresh");
        assert!((1000.0 * rounds..=1000.0 * rounds + 4.0).contains(&touched), "{touched}");
        assert!(of("page_faults", "again") <= 4.0);
        let (counted, told) = (of("task_clock", "compute"), seconds * share);
        let elapsed = of("time", "compute");
        assert!(counted > 0.95 * told - 0.002 * rounds, "{counted} s, {told} s told");
        assert!(counted < elapsed + 0.002 * rounds, "{counted} s in {elapsed} s");
        assert!(of("task_clock", "again") < 0.5 * counted);
    }
}

#[test]
fn touched_pages_and_processor_time_are_those_of_their_regions() {
    let options = ["--counters=page-faults,task-clock"];
    let Some((subject, ended)) = recorded("counters_software", "1", &options) else { return };
    assert!(ended.stderr.contains("page-faults, task-clock can be read by the system only, which takes "));
    assert_eq!(findings(&subject.experiment), []);
    expect_counted(&NamedReport::read(&subject.experiment), &ended, 1.0, 1.0);
}

#[test]
fn stretches_that_are_not_recorded_do_not_count() {
    let options = ["--counters=page-faults,task-clock", "--every=2"];
    let Some((subject, ended)) = recorded("counters_rounds", "4", &options) else { return };
    let report = NamedReport::read(&subject.experiment);
    expect_counted(&report, &ended, 0.5, 2.0);
    let everywhere = report.select(|_| true);
    for rank in 0..2 {
        let all = report.value("page_faults", &everywhere, rank);
        assert!((2000.0..2200.0).contains(&all), "{all}");
    }
}

#[test]
fn plain_records_have_the_same_counters() {
    let options = ["--counters=page-faults,task-clock", "--records=enter-leave"];
    let Some((subject, ended)) = recorded("counters_plain", "1", &options) else { return };
    expect_counted(&NamedReport::read(&subject.experiment), &ended, 1.0, 1.0);
}

#[test]
fn counters_that_a_machine_lacks_are_told_in_a_line_and_the_run_goes_on() {
    let Some((subject, ended)) = recorded("counters_hardware", "1", &["--counters=cycles,instructions"])
    else {
        return;
    };
    let report = NamedReport::read(&subject.experiment);
    let of = |name: &str| report.value(name, &report.within("compute"), 0);
    if ended.stderr.contains("are not recorded: ") {
        let lines: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("cycles")).collect();
        assert_eq!(lines.len(), 1, "{}", ended.stderr);
        assert!(!report.has("cycles") && !report.has("instructions"));
        let mut metrics = 0;
        archive::each_definition(&subject.experiment, |definition| {
            metrics += usize::from(matches!(definition, otf2::Definition::MetricClass { .. }));
        });
        assert_eq!(metrics, 0);
    } else {
        assert!(of("cycles") > 1e6 && of("instructions") > 1e6);
    }
}

#[test]
fn program_that_puts_files_in_the_place_of_counters_keeps_them_unread_and_counters_end() {
    let Some(subject) = Subject::new("counters_closed", PROGRAM, 2, &["1", "closed"]) else { return };
    let subject = subject.option("--counters=page-faults");
    let ended = subject.run_recorded(Invocation::InFront);
    ended.expect_success();
    if !ended.stderr.contains("the system does not permit it") {
        assert!(ended.stderr.contains("counters had no values at some events"), "{}", ended.stderr);
    }
    assert_eq!(archive::refusal(&subject.experiment), None);
}

/// How many records of transfers and of accesses to windows have the time of the call's begin, and how many another one.
fn begins(experiment: &Path) -> [usize; 2] {
    let mut entered: BTreeMap<u64, u64> = BTreeMap::new();
    let mut found = [0; 2];
    archive::each_event(experiment, |at, event, _| match event {
        Event::CallingContextEnter { .. } => drop(entered.insert(at.location, at.time)),
        Event::IoOperationBegin { .. }
        | Event::RmaPut { .. }
        | Event::RmaGet { .. }
        | Event::RmaAtomic { .. } => {
            found[usize::from(entered[&at.location] != at.time)] += 1;
        }
        _ => {}
    });
    found
}

#[test]
fn what_calls_begin_with_has_the_time_of_their_begin_with_and_without_metrics() {
    for (program, ranks) in [("files/posix.c", 2), ("calls/one_sided.c", 2)] {
        let of = |name: &str, option: &'static str| {
            let test = format!("counters_begins_{}_{name}", program.replace(['/', '.'], "_"));
            let subject = Subject::new(&test, program, ranks, &[])?.with("OMPI_MCA_osc", "^ucx");
            let subject = subject.option("--io=posix").option(option);
            subject.run_recorded(Invocation::InFront).expect_success();
            assert_eq!(archive::refusal(&subject.experiment), None);
            Some(begins(&subject.experiment))
        };
        let Some(plain) = of("plain", "--off-cpu=off") else { return };
        assert!(plain[0] > 0, "{program}");
        for (name, option) in [("counted", "--counters=page-faults"), ("switched", "--off-cpu=on")] {
            assert_eq!(of(name, option), Some(plain), "{program}, {option}");
        }
    }
}

#[test]
fn list_with_an_unknown_counter_is_refused_before_the_program_starts() {
    let Some(subject) = Subject::new("counters_unknown", PROGRAM, 2, &[]) else { return };
    let ended = subject.option("--counters=cycles,PAPI_FP_OPS").run_recorded(Invocation::InFront);
    assert_eq!(ended.status.code(), Some(125), "{}", ended.stderr);
    assert!(ended.stderr.contains("PAPI_FP_OPS, expected cycles, instructions, "), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
}
