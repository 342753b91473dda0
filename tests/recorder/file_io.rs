//! The model of file I/O of a recorded program has the phases that the program has.

use io_model::{Kind, Mode, Model, Origin, Pointer};
use replay::exchange::Solo;
use replay::io::{IoOptions, OutputFile};
use replay::progress::Progress;
use replay::{DetailsPlace, Options};

use crate::support::record::{Invocation, Subject};

/// Bytes of a request of the program, its ranks and its steps.
const BYTES: u64 = 65_536;
const RANKS: u64 = 4;
const STEPS: u64 = 10;

#[test]
fn phases_are_those_of_the_program() {
    let Some(subject) = Subject::new("phases", "files/phases.c", 4, &[]) else { return };
    subject.run_recorded(Invocation::InFront).expect_success();
    let [report, json] = ["model.cubex", "model.json"].map(|name| subject.folder.join(name));
    let io_model = IoOptions {
        files: vec![OutputFile::of_model(json.to_str().unwrap()).unwrap()],
        ..IoOptions::default()
    };
    let options = Options {
        details: Some(DetailsPlace::Nowhere),
        report: Some(report),
        structure: false,
        io_model,
        ..Options::new(&subject.experiment)
    };
    replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    let model = Model::from_json(&std::fs::read_to_string(json).unwrap()).unwrap();
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
