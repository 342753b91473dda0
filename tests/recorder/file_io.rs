//! The model of file I/O of a recorded program has the phases that the program has.

use io_model::{Kind, Mode, Origin, Pointer};
use replay::io::IoOptions;

use crate::support::modelled::analyzed;
use crate::support::record::{Invocation, Subject};

/// Bytes of a request of the program, its ranks and its steps.
const BYTES: u64 = 65_536;
const RANKS: u64 = 4;
const STEPS: u64 = 10;

#[test]
fn phases_are_those_of_the_program() {
    let Some(subject) = Subject::new("phases", "files/phases.c", 4, &[]) else { return };
    subject.run_recorded(Invocation::InFront).expect_success();
    let (model, _) = analyzed(&subject, IoOptions::default());
    assert!(model.findings.0.is_empty(), "{:?}", model.findings);
    let counts: Vec<u64> = model.families.iter().map(|family| family.count).collect();
    assert_eq!(counts, [STEPS, 1], "{:?}", model.families);
    let [writes, reads] = [0, 1].map(|at| &model.families[at]);
    let linear = |start: u64, rank: u64, occurrence: u64| Origin::Linear {
        start,
        rank: i64::try_from(rank).unwrap(),
        occurrence: i64::try_from(occurrence).unwrap(),
    };
    assert_eq!(writes.file, linear(0, BYTES, RANKS * BYTES));
    assert_eq!(reads.file, linear(0, STEPS * BYTES, 0));
    for (family, kind, rep, is_collective, pointer) in [
        (writes, Kind::Write, 1, true, Pointer::Explicit),
        (reads, Kind::Read, STEPS, false, Pointer::Individual),
    ] {
        let phase = family.example(&model.phases).unwrap();
        let access = phase.key.pattern[0];
        assert_eq!((access.kind, access.collective, access.pointer), (kind, is_collective, pointer));
        assert_eq!((phase.np, phase.rep, phase.positions[0].rs), (RANKS, rep, BYTES));
        assert_eq!((phase.weight, family.weight), (RANKS * rep * BYTES, RANKS * STEPS * BYTES));
        assert_eq!((phase.mode, phase.is_view_known), (Mode::Sequential, true));
    }
    assert_eq!(model.ior[&writes.first].lines, ["ior -a MPIIO -N 4 -b 65536 -t 65536 -s 1 -c -w -k -o FILE"]);
    // Ranks read what others wrote.
    assert_eq!(model.ior[&reads.first].lines, ["ior -a MPIIO -N 4 -b 655360 -t 65536 -s 1 -C -r -k -o FILE"]);
}

#[test]
fn others_wait_for_a_rank_that_writes_alone_as_long_as_it_writes() {
    let Some(subject) = Subject::new("one_writes", "files/one_writes.c", 4, &[]) else { return };
    subject.run_recorded(Invocation::InFront).expect_success();
    let (model, summary) = analyzed(&subject, IoOptions::default());
    let writing: u64 = model.families.iter().map(|family| family.time).sum();
    let writing = writing as f64 / model.resolution as f64;
    let most = summary.io.and_then(|io| io.waiting).unwrap().most;
    assert_eq!((&*most.rank, &*most.function), ("rank 0", "MPI_File_write"));
    assert!(most.file.as_ref().is_some_and(|file| file.ends_with("/one_writes.out")), "{most:?}");
    // Three ranks wait. They may come late to a barrier, too, and do so on a machine with fewer processors.
    assert!((0.7..1.1).contains(&(most.seconds / (3.0 * writing))), "{most:?}, {writing} s");
    assert!(most.critical > 0.7 * writing, "{most:?}, {writing} s");
}
