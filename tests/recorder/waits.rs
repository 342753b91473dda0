//! Proof 1: each program of `expectations.txt` provokes one wait state, by a delay in a region of its own.
//! Other readers agree with ours on its archive, and the analysis finds the wait state where it is and no
//! other, with the severity of the delay, and names the delay as its cause.

use crate::support::archive;
use crate::support::build::Mpi;
use crate::support::expectations::{self, Expectation};
use crate::support::process::{Ended, run};
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::{NamedReport, SourceLine, is_end, simple};
use crate::support::turns::Turn;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

/// Tolerance of a severity, relative to the delay.
const TOLERANCE: f64 = 0.01;

/// Number of attempts to record a program with accurate times: other programs on the machine can delay a rank
/// by more than the tolerance, but not every time.
const ATTEMPTS: usize = 5;

/// A recorded program and its analysis.
#[derive(Debug)]
struct Recording {
    expectations: Vec<Expectation>,
    experiment: PathBuf,
    run: Ended,
    analysis: Ended,
}

impl Recording {
    fn is_python(&self) -> bool {
        self.expectations[0].program.ends_with(".py")
    }
}

/// All programs that can be run here, recorded once.
fn recordings() -> &'static [Recording] {
    static RECORDINGS: OnceLock<Vec<Recording>> = OnceLock::new();
    RECORDINGS.get_or_init(|| {
        let table = expectations::read();
        let programs =
            table.chunk_by(|one, other| one.program == other.program && one.arguments == other.arguments);
        let (waiting, done) = (Mutex::new(programs), Mutex::new(Vec::new()));
        let work = || {
            let next = || waiting.lock().unwrap().next();
            while let Some(expectations) = next() {
                done.lock().unwrap().extend(record(expectations));
            }
        };
        std::thread::scope(|scope| {
            (0..2).for_each(|_| drop(scope.spawn(work)));
        });
        done.into_inner().unwrap()
    })
}

/// Records a program beside another one, if the MPI allows it.
fn record(expectations: &[Expectation]) -> Option<Recording> {
    record_as(&expectations[0].program, expectations, Turn::shared)
}

/// Records a program again, beside no other one.
fn record_alone(earlier: &Recording) -> Recording {
    let name = format!("{}.again", earlier.expectations[0].program);
    record_as(&name, &earlier.expectations, |_| Turn::alone()).unwrap()
}

fn record_as(name: &str, expectations: &[Expectation], turn: impl Fn(&Mpi) -> Turn) -> Option<Recording> {
    let Expectation { program, ranks, arguments, .. } = expectations.first()?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let subject = Subject::new(name, program, *ranks, &arguments)?;
    let subject = subject.with("OMPI_MCA_mpi_yield_when_idle", "1");
    let turn = turn(subject.mpi);
    let run = run(&mut subject.recorded(Invocation::InFront), &subject.folder);
    drop(turn);
    let analysis = analyze(&subject.experiment, &subject.folder);
    Some(Recording { expectations: expectations.to_vec(), experiment: subject.experiment, run, analysis })
}

/// Fails if `problem` finds one in any recording.
fn expect_all(problem: impl Fn(&Recording) -> Option<String>) {
    let named = |recording: &Recording| {
        Some(format!("{}: {}", recording.expectations[0].program, problem(recording)?))
    };
    let problems: Vec<String> = recordings().iter().filter_map(named).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn each_program_ends_well() {
    expect_all(|Recording { run, .. }| {
        (!run.status.success()).then(|| format!("{}\n{}", run.status, run.stderr))
    });
}

#[test]
fn otf2_print_accepts_each_archive() {
    expect_all(|recording| archive::refusal(&recording.experiment));
}

#[test]
fn python_reads_the_same_values_of_each_record() {
    expect_all(|recording| archive::difference(&recording.experiment));
}

#[test]
fn analyzer_finds_nothing_odd() {
    expect_all(|Recording { analysis, .. }| {
        let is_fine = analysis.status.success() && analysis.stdout.contains("\nFindings: none\n");
        (!is_fine).then(|| format!("{}\n{}{}", analysis.status, analysis.stdout, analysis.stderr))
    });
}

#[test]
fn severity_is_the_delay_at_the_call_that_waits_and_zero_elsewhere() {
    expect_all(|recording| {
        let mut problem = severities(recording);
        for attempt in 2..=ATTEMPTS {
            let Some(disturbed) = &problem else { break };
            println!("{}: attempt {attempt} because of {disturbed}", recording.expectations[0].program);
            problem = severities(&record_alone(recording));
        }
        problem
    });
}

/// Checks the severities of a recording; returns what is wrong.
fn severities(recording: &Recording) -> Option<String> {
    let findings = NamedReport::read(&recording.experiment);
    let problems = recording.expectations.iter().filter_map(|expected| severity(&findings, expected));
    let problems: Vec<String> = problems.collect();
    (!problems.is_empty()).then(|| problems.join("; "))
}

/// Checks the severities of a metric; returns what is wrong.
fn severity(findings: &NamedReport, expected: &Expectation) -> Option<String> {
    let Expectation { metric, wait, delay, factor, .. } = expected;
    let find = |end: &str, what| {
        let place = expected.here(what);
        let paths = findings.paths(end, &place);
        let problem = || format!("no call path …/{end} at {place:?}, but {:?}", findings.alike(end));
        if paths.is_empty() { Err(problem()) } else { Ok(paths) }
    };
    let (waits, delays) = match (find(wait, "wait"), find(delay, "delay")) {
        (Ok(waits), Ok(delays)) => (waits, delays),
        (Err(problem), _) | (_, Err(problem)) => return Some(problem),
    };
    let duration = findings.value("time", &delays, expected.delaying);
    if findings.value("visits", &delays, expected.delaying) != 1.0 || duration < 0.1 {
        return Some(format!("the delay takes {duration} s"));
    }
    let problem = |rank: &usize| {
        let severity = findings.value(metric, &waits, *rank);
        let right = if expected.waiting.contains(rank) { factor * duration } else { 0.0 };
        let is_right = (severity - right).abs() <= TOLERANCE * right;
        (!is_right).then(|| format!("{metric} of rank {rank} is {severity} s, expected {right} s"))
    };
    (0..findings.locations()).find_map(|rank| problem(&rank))
}

#[test]
fn summary_names_the_lines_of_the_wait_and_of_its_cause() {
    expect_all(|recording| {
        let Recording { expectations, analysis, .. } = recording;
        // Ranks of Python programs start at different times, as they load much after MPI_Init: there may be
        // waiting before that.
        let first = if recording.is_python() { usize::MAX } else { 1 };
        let is_named = |title: &str, end: &str, what: &str| {
            let lines = analysis.stdout.lines().skip_while(|line| !line.starts_with(title)).skip(1);
            let mut lines = lines.take_while(|line| !line.is_empty()).take(first).filter_map(named_place);
            lines.any(|(path, place)| is_end(end, &path) && place == expectations[0].here(what))
        };
        let Expectation { metric, wait, delay, .. } = &expectations[0];
        // Causes of this metric are not analyzed.
        let has_causes = metric != "mpi_earlyscan";
        let is_right = is_named("Largest wait states:", wait, "wait")
            && (!has_causes || is_named("Who made others wait", delay, "delay"));
        (!is_right).then(|| analysis.stdout.clone())
    });
}

/// The call path and its source location in a line `… in a/b/c (file:line)…` of the summary.
fn named_place(line: &str) -> Option<(String, SourceLine)> {
    let (path, rest) = line.split_once(" in ")?.1.rsplit_once(" (")?;
    let (file, line) = rest.split(')').next()?.split_once(':')?;
    let path: Vec<String> = path.split('/').map(simple).collect();
    Some((path.join("/"), (file.into(), line.parse().ok()?)))
}
