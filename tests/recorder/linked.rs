//! Statically linked recorder, as `make static-library` builds it: a program runs unchanged unless it is to
//! be recorded, and then writes the trace that a preloaded recorder would. With MPICH the MPI library is
//! linked statically, too, and everything else, where a system has the libraries for it.

use crate::support::archive;
use crate::support::build::{self, LINKAGES, Linkage};
use crate::support::process::Ended;
use crate::support::record::{INVOCATIONS, Invocation, Subject, finish};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// A program that prints the number of records it must leave, which is the same every time.
const PROGRAM: &str = "calls/requests.c";
const RANKS: u32 = 3;

/// Option as in the tests of all calls.
const FUNCTIONS: &str = "+err,+ext,+misc,+type";

/// Invariants of the recordings of one program: the number of records of each kind, and all call paths.
type TraceInvariants = (BTreeMap<String, u64>, Vec<String>);

#[track_caller]
fn trace(experiment: &Path) -> TraceInvariants {
    assert_eq!(archive::refusal(experiment), None);
    (archive::counts(experiment), archive::paths(experiment))
}

/// Run of the program without a linked recorder, and the trace of a preloaded recorder.
fn preloaded() -> Option<&'static (Ended, TraceInvariants)> {
    static PRELOADED: OnceLock<Option<(Ended, TraceInvariants)>> = OnceLock::new();
    let record = || {
        let subject =
            Subject::new("linked_reference", PROGRAM, RANKS, &[])?.with("REPLAY_FUNCTIONS", FUNCTIONS);
        let bare = subject.run_bare();
        bare.expect_success();
        subject.run_recorded(Invocation::InFront).expect_success();
        let trace = trace(&subject.experiment);
        assert!(trace.1.iter().any(|path| path.starts_with("/main ")), "{:?}", trace.1);
        Some((bare, trace))
    };
    PRELOADED.get_or_init(record).as_ref()
}

/// A program with a linked recorder.
fn linked(test: &str, source: &str, ranks: u32, linkage: Linkage) -> Option<Subject> {
    let program = build::linked(build::mpi(test)?, source, linkage)?;
    Some(Subject::any(&format!("{test}.{linkage:?}"), ranks, program)?.with("REPLAY_FUNCTIONS", FUNCTIONS))
}

/// The program with a linked recorder, for all ways of linking.
fn all_linked(test: &str) -> impl Iterator<Item = Subject> {
    LINKAGES.into_iter().filter_map(move |linkage| linked(test, PROGRAM, RANKS, linkage))
}

#[track_caller]
fn assert_same(bare: &Ended, linked: &Ended) {
    assert_eq!((&bare.stdout, bare.status), (&linked.stdout, linked.status), "{}", linked.stderr);
}

/// Names of the entries of a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn nothing_is_recorded_unless_it_is_asked_for() {
    let Some((bare, _)) = preloaded() else { return };
    for subject in all_linked("linked_bare") {
        let linked = subject.run_bare();
        assert_same(bare, &linked);
        assert_eq!(linked.stderr, bare.stderr);
        let names = names(&subject.folder);
        // Files with the output of the run are no traces.
        let others = names.iter().find(|name| !name.starts_with("stdout.") && !name.starts_with("stderr."));
        assert_eq!(others, None);
    }
}

#[test]
fn trace_is_that_of_a_preloaded_recorder_if_a_variable_asks_for_it() {
    let Some((bare, expected)) = preloaded() else { return };
    for subject in all_linked("linked_variable") {
        let subject = subject.with("REPLAY_OUTPUT", "recording");
        assert_same(bare, &subject.run_bare());
        // There is no launcher that completes the archive.
        finish(&subject.experiment, &subject.folder).expect_success();
        archive::expect_promised(&subject.experiment, &bare.stdout);
        assert_eq!(&trace(&subject.experiment), expected);
    }
}

#[test]
fn program_is_recorded_once_by_a_linked_and_a_preloaded_recorder() {
    let Some((bare, expected)) = preloaded() else { return };
    for subject in all_linked("linked_and_preloaded") {
        for way in INVOCATIONS {
            let recorded = subject.run_recorded(way);
            assert_same(bare, &recorded);
            // A program into which nothing can be preloaded is recorded all the same.
            assert!(!recorded.stderr.contains("statically linked"), "{}", recorded.stderr);
            assert_eq!(&trace(&subject.experiment), expected);
            std::fs::remove_dir_all(&subject.experiment).unwrap();
            let recordings = names(&subject.folder).into_iter().find(|name| name.starts_with("recording"));
            assert_eq!(recordings, None);
        }
    }
}

/// The trace of a linked recorder is that of a preloaded one, in which a path ends like this.
#[track_caller]
fn expect_same_traces(name: &str, source: &str, ending: &str) {
    let Some(preloaded) = Subject::new(&format!("linked_reference_{name}"), source, 2, &[]) else { return };
    let preloaded = preloaded.with("REPLAY_FUNCTIONS", FUNCTIONS);
    preloaded.run_recorded(Invocation::InFront).expect_success();
    let expected = trace(&preloaded.experiment);
    assert!(expected.1.iter().any(|path| path.ends_with(ending)), "{:?}", expected.1);
    let Some(linked) = linked(&format!("linked_{name}"), source, 2, Linkage::Recorder) else { return };
    linked.run_recorded(Invocation::InFront).expect_success();
    assert_eq!(trace(&linked.experiment), expected);
}

#[test]
fn regions_are_those_that_the_program_names() {
    expect_same_traces("regions", "waits/late_sender.c", "/delay");
}

#[test]
fn calls_that_start_mpi_behind_a_session_have_the_paths_of_the_program() {
    expect_same_traces("sessions_and_world", "calls/sessions_and_world.c", "/MPI_Finalize");
}

#[test]
fn functions_that_few_mpi_libraries_have_are_taken_out_of_a_static_one() {
    let Some(program) = Subject::new("linked_reference_sessions", "calls/sessions.c", 2, &[]) else { return };
    let bare = program.run_bare();
    bare.expect_success();
    let Some(linked) = linked("linked_sessions", "calls/sessions.c", 2, Linkage::Mpi) else { return };
    assert_same(&bare, &linked.run_bare());
}
