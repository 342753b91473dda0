//! OpenMP: constructs leave the records that they must leave, threads wait as long as the programs let them wait, and
//! no way to end in a parallel region makes a trace that contradicts itself.

use crate::support::archive::{self, counts, expect_promised, locations};
use crate::support::record::{INVOCATIONS, Invocation, Subject, analyze};
use crate::support::report::{NamedReport, findings};
use replay::findings::FindingClass;
use std::path::Path;

/// Number of threads of a team in all programs.
const THREADS: usize = 3;

/// Tolerance of a wait, relative to the delay, and the number of attempts: other programs on the machine make sleeping
/// longer, but not every time.
const TOLERANCE: f64 = 0.1;
const ATTEMPTS: usize = 8;

/// Two ranks of a program that leave the processors to each other.
fn subject(test: &str, source: &str, arguments: &[&str]) -> Option<Subject> {
    let subject = Subject::new(test, source, 2, arguments)?;
    Some(subject.with("OMPI_MCA_hwloc_base_binding_policy", "none").with("OMPI_MCA_mpi_yield_when_idle", "1"))
}

/// Fails the test unless other readers accept an archive, and its analysis finds no contradiction.
#[track_caller]
fn expect_sound(subject: &Subject) {
    assert_eq!(archive::refusal(&subject.experiment), None);
    assert_eq!(archive::difference(&subject.experiment), None);
    analyze(&subject.experiment, &subject.folder).expect_success();
    let odd = findings(&subject.experiment);
    assert!(odd.iter().all(|(_, class, _)| *class == FindingClass::Note), "{odd:?}");
}

fn has_threads(experiment: &Path) -> bool {
    counts(experiment).keys().any(|name| name.starts_with("Thread"))
}

#[test]
fn constructs_leave_the_records_that_they_must_leave() {
    for (number, way) in INVOCATIONS.into_iter().enumerate() {
        let test = format!("openmp_constructs_{number}");
        let Some(subject) = subject(&test, "openmp/constructs.c", &[]) else { return };
        let ended = subject.run_recorded(way);
        ended.expect_success();
        expect_sound(&subject);
        expect_promised(&subject.experiment, &ended.stdout);
    }
}

#[test]
fn program_is_recorded_without_its_threads_if_openmp_is_off() {
    let Some(subject) = subject("openmp_off", "openmp/constructs.c", &[]) else { return };
    let subject = subject.option("--openmp=off");
    subject.run_recorded(Invocation::InFront).expect_success();
    expect_sound(&subject);
    assert!(!has_threads(&subject.experiment));
    assert_eq!(locations(&subject.experiment), 2);
}

#[test]
fn ends_in_parallel_regions_leave_traces_that_do_not_contradict_themselves() {
    for (ending, cancels, is_success) in [
        ("fork", "false", true),
        ("cancel", "false", true),
        ("cancel", "true", true),
        ("quiet", "false", true),
        ("exit", "false", false),
        ("crash", "false", false),
    ] {
        let test = format!("openmp_{ending}_{cancels}");
        let Some(subject) = subject(&test, "openmp/endings.c", &[ending]) else { return };
        let subject = subject.with("OMP_CANCELLATION", cancels);
        let ended = subject.run_recorded(Invocation::InFront);
        assert_eq!(ended.status.success(), is_success, "{ending}: {}", ended.stderr);
        let is_crash = ending == "crash";
        // Whoever is killed leaves regions open, which is no law that a recorder could keep.
        if !is_crash {
            assert_eq!(archive::refusal(&subject.experiment), None, "{ending}");
        }
        analyze(&subject.experiment, &subject.folder).expect_success();
        let odd = findings(&subject.experiment);
        assert!(odd.iter().all(|(_, class, _)| *class == FindingClass::Note), "{ending}: {odd:?}");
        assert!(has_threads(&subject.experiment));
    }
}

#[test]
fn threads_that_cannot_be_recorded_do_not_hold_up_their_teams() {
    let Some(subject) = subject("openmp_lost", "openmp/endings.c", &["lost", "recording", "renamed"]) else {
        return;
    };
    let ended = subject.run_recorded(Invocation::InFront);
    assert!(ended.stdout.contains("2 ranks"), "{ended:?}");
    assert!(ended.stderr.contains("is not recorded any more"), "{ended:?}");
}

/// A metric's value in a function, of all threads.
fn value(report: &NamedReport, metric: &str, function: &str) -> f64 {
    let paths = report.within(function);
    (0..report.locations()).map(|location| report.value(metric, &paths, location)).sum()
}

/// The time in which threads are in the region `delay` of a function, without that of threads that are idle meanwhile.
fn delays(report: &NamedReport, function: &str) -> f64 {
    let paths = report.select(|path| path.contains(&format!("/{function}/")) && path.ends_with("/delay"));
    (0..report.locations()).map(|location| report.value("execution", &paths, location)).sum()
}

/// What is wrong with the waits of a program: function, metric, and the wait as a multiple of the delays there.
fn wrong(report: &NamedReport, expected: &[(&str, &str, f64)]) -> Vec<String> {
    let is_wrong = |&&(function, metric, factor): &&(&str, &str, f64)| {
        let (delays, found) = (delays(report, function), value(report, metric, function));
        delays < 0.1 || (found - factor * delays).abs() > TOLERANCE * factor.max(1.0) * delays
    };
    let told = |&(function, metric, factor): &(&str, &str, f64)| {
        let (delays, found) = (delays(report, function), value(report, metric, function));
        format!("{function}: {metric} is {found:.3} s, not {factor} times {delays:.3} s")
    };
    expected.iter().filter(is_wrong).map(told).collect()
}

#[track_caller]
fn expect_waits(source: &str, expected: &[(&str, &str, f64)]) {
    let mut failed = Vec::new();
    for attempt in 0..ATTEMPTS {
        let test = format!("openmp_waits_{}_{attempt}", source.replace(['/', '.'], "_"));
        let Some(subject) = subject(&test, source, &[]) else { return };
        subject.run_recorded(Invocation::InFront).expect_success();
        expect_sound(&subject);
        assert_eq!(locations(&subject.experiment), 2 * THREADS);
        failed = wrong(&NamedReport::read(&subject.experiment), expected);
        if failed.is_empty() {
            return;
        }
        println!("{source}: attempt {attempt}: {failed:?}");
    }
    panic!("{}", failed.join("\n"));
}

#[test]
fn threads_wait_as_long_as_others_delay_them() {
    expect_waits(
        "openmp/waits.c",
        &[
            ("end_late", "omp_ibarrier_wait", 2.0),
            ("end_late", "omp_ebarrier_wait", 0.0),
            ("come_late", "omp_ebarrier_wait", 2.0),
            ("come_late", "omp_ibarrier_wait", 0.0),
            ("take_turns", "omp_lock_contention_critical", 1.0),
            ("take_turns", "omp_lock_contention_api", 0.0),
            ("hold_long", "omp_lock_contention_api", 1.0),
            ("hold_long", "omp_lock_contention_critical", 0.0),
            ("run_tasks", "omp_ibarrier_wait", 0.0),
            ("work_alone", "omp_idle_threads", 2.0),
            ("end_late", "omp_idle_threads", 0.0),
        ],
    );
}

#[test]
fn threads_of_programs_in_fortran_wait_as_long_as_others_delay_them() {
    expect_waits(
        "openmp/waits_f90.f90",
        &[
            ("end_late", "omp_ibarrier_wait", 2.0),
            ("take_turns", "omp_lock_contention_critical", 1.0),
            ("hold_long", "omp_lock_contention_api", 1.0),
        ],
    );
}
