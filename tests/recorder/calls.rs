//! MPI calls: each program of `tests/programs/calls` makes calls of one kind in all ways, and prints how many
//! records of each kind its recording must have. The recording has them, other readers agree with ours, and
//! the program's output is unchanged.

use crate::support::archive;
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::findings;
use replay::findings::Finding;

/// Runs a program bare and recorded: output and status are the same, and the promised records exist. `known`
/// are findings of the analysis.
fn expect_records(test: &str, source: &str, ranks: u32, known: &[Finding]) {
    expect_with(test, source, ranks, &[], known);
}

/// The same with arguments of the program.
fn expect_with(test: &str, source: &str, ranks: u32, arguments: &[&str], known: &[Finding]) {
    let Some(subject) = Subject::new(test, source, ranks, arguments) else { return };
    // Programs count all of their calls, not only those that are recorded by default.
    let subject = subject.option("--functions=+err,+ext,+misc,+type");
    let bare = subject.run_bare();
    bare.expect_success();
    let recorded = subject.run_recorded(Invocation::InFront);
    assert_eq!((&bare.stdout, bare.status), (&recorded.stdout, recorded.status), "{}", recorded.stderr);
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);
    archive::expect_promised(experiment, &recorded.stdout);
    let analysis = analyze(experiment, &subject.folder);
    analysis.expect_success();
    for (name, class, count) in findings(experiment) {
        let is_known = known.iter().any(|finding| finding.name() == name);
        assert!(is_known, "{count} times {name} ({})\n{}", class.name(), analysis.stdout);
    }
}

#[test]
fn communicators_made_in_all_ways_are_each_defined_once() {
    expect_records("communicators", "calls/communicators.c", 4, &[]);
}

#[test]
fn requests_of_all_kinds_are_completed_in_all_ways() {
    expect_records("requests", "calls/requests.c", 3, &[]);
}

#[test]
fn collective_operations_of_all_kinds_have_their_root_and_bytes() {
    expect_records("collectives", "calls/collectives.c", 4, &[]);
}

#[test]
fn one_sided_communication_leaves_rma_records() {
    expect_records("one_sided", "calls/one_sided.c", 2, &[]);
}

#[test]
fn bytes_are_those_that_the_program_has_moved() {
    expect_records("bytes", "calls/bytes.c", 3, &[]);
}

#[test]
fn sends_and_receives_with_one_request_leave_the_records_of_two() {
    expect_records("exchanges", "calls/exchanges.c", 3, &[]);
}

#[test]
fn received_half_of_unknown_source_is_left_out_where_mpi_does_not_tell() {
    // So the send has no partner; the program says whether that is so.
    expect_with("wild_exchanges", "calls/exchanges.c", 3, &["any"], &[Finding::UnmatchedSend]);
}

#[test]
fn partitioned_messages_are_sent_when_the_last_partition_is_ready() {
    expect_records("partitioned", "calls/partitioned.c", 2, &[]);
}

#[test]
fn threads_in_operations_of_many_lose_no_record() {
    expect_records("thread_collectives", "calls/thread_collectives.c", 2, &[]);
}

#[test]
fn processes_that_find_each_other_by_a_port_or_a_socket_have_communicators() {
    expect_records("ports", "calls/ports.c", 2, &[]);
}

#[test]
fn fortran_programs_leave_the_same_records_by_all_interfaces() {
    for interface in ["mpifh", "mpi", "f08"] {
        let name = format!("kinds_{interface}");
        expect_records(&name, &format!("calls/{name}.f90"), 3, &[]);
    }
}

#[test]
fn python_programs_leave_the_same_records() {
    expect_records("kinds_of_python", "calls/kinds.py", 3, &[]);
}

#[test]
fn files_leave_io_records() {
    expect_records("files", "calls/files.c", 2, &[]);
}

#[test]
fn functions_with_large_counts_are_like_the_others() {
    expect_records("big_counts", "calls/big_counts.c", 2, &[]);
}

#[test]
fn processes_that_are_started_by_others_have_archives_of_their_own() {
    let Some(subject) = Subject::new("spawn", "calls/spawn.c", 1, &[]) else { return };
    let subject = subject.with("OMPI_MCA_btl", "self,vader,tcp");
    let (bare, recorded) = (subject.run_bare(), subject.run_recorded(Invocation::InFront));
    bare.expect_success();
    assert_eq!((bare.stdout, bare.status), (recorded.stdout, recorded.status), "{}", recorded.stderr);
    let children = subject.experiment.with_file_name("recording_2");
    for experiment in [subject.experiment, children] {
        assert_eq!(archive::refusal(&experiment), None);
        assert_eq!(archive::difference(&experiment), None);
        analyze(&experiment, &subject.folder).expect_success();
    }
}
