//! Asynchronous transfers have the records of the program, those of MPI have an end, and mappings say of which file they are.

use std::fs;

use crate::support::archive;
use crate::support::files::{calls, records, transfers};
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::findings;

/// Functions that `aio.c` promises records of.
const FUNCTIONS: [&str; 9] = [
    "aio_read",
    "aio_read64",
    "aio_write",
    "aio_fsync",
    "lio_listio",
    "aio_error",
    "aio_return",
    "aio_cancel",
    "msync",
];
/// Bytes that MPI writes at a time, and how often each rank does.
const PAGE: u64 = 4096;
const STEPS: u64 = 4;

#[test]
fn requests_begin_are_tested_and_end_as_the_program_says() {
    let Some(subject) = Subject::new("aio", "files/aio.c", 2, &[]) else { return };
    // Below MPICH UCX puts functions of its own in the place of mmap and munmap, unless it is told not to.
    let subject = subject.option("--io=posix").with("UCX_MEM_EVENTS", "no");
    let ended = subject.run_recorded(Invocation::InFront);
    ended.expect_success();
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);
    let found = records(experiment, &FUNCTIONS);
    // The C library's own threads have no locations.
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), [0, 1]);
    let mapped = calls(experiment, &["mmap", "mmap64", "munmap"]);
    for rank in 0..2 {
        let promised = fs::read_to_string(subject.folder.join(format!("promised.{rank}"))).unwrap();
        let own: Vec<&String> = found[&rank].iter().take(promised.lines().count()).collect();
        assert_eq!(own, promised.lines().collect::<Vec<_>>());
        let of = |function: &str| format!("{function} Handle=own.{rank}");
        let [maps, other, unmaps] = ["mmap", "mmap64", "munmap"].map(of);
        assert_eq!(mapped[&rank], [&maps, &other, &unmaps, &unmaps, &unmaps, "mmap"]);
    }
    let said = "20480 bytes of files were mapped";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
    // What MPI issues and completes in calls of its own reaches the system as a whole.
    for (paradigm, written) in [("MPI-IO", 2 * STEPS * PAGE), ("POSIX", 2 * STEPS * PAGE)] {
        let of = |((_, name, is_written, bytes), count): (&(u64, String, bool, u64), &u64)| {
            if name == paradigm && *is_written { bytes * count } else { 0 }
        };
        assert_eq!(transfers(experiment, "shared.out").iter().map(of).sum::<u64>(), written, "{paradigm}");
    }
    assert!(archive::visits(experiment)["aio_suspend"] > 0);
    analyze(experiment, &subject.folder).expect_success();
    assert_eq!(findings(experiment), []);
}
