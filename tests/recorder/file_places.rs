//! Where transfers begin in files, by all kinds of pointers and views, compared with what the program itself writes down.

use std::fs;

use io_model::{Finding, Kind, Layer, Origin, Phase, Pointer};
use replay::io::IoOptions;

use crate::support::modelled::{analyzed, linear};
use crate::support::record::{Invocation, Subject};

/// What a rank has written down of a transfer.
struct Told {
    file: String,
    kind: Kind,
    first: Option<u64>,
    bytes: u64,
}

fn told(line: &str) -> Told {
    let words: Vec<&str> = line.split(' ').collect();
    let [file, what, first, bytes] = words[..] else { panic!("{line}") };
    let kind = if what == "write" { Kind::Write } else { Kind::Read };
    Told { file: file.into(), kind, first: first.parse().ok(), bytes: bytes.parse().unwrap() }
}

/// Whether a file is one of a family.
fn is_of(file: &str, phase: &Phase) -> bool {
    let name = phase.key.family.rsplit('/').next().unwrap();
    file == name || name.strip_suffix("{n}").is_some_and(|begin| file.starts_with(begin))
}

#[test]
fn transfers_begin_where_the_program_says() {
    let Some(subject) = Subject::new("pointers", "files/io_pointers.c", 2, &[]) else { return };
    let subject = subject.option("--io=posix");
    subject.run_recorded(Invocation::InFront).expect_success();
    let (model, _) = analyzed(&subject, IoOptions::default());
    let logs = [0, 1].map(|rank| {
        let text = fs::read_to_string(subject.folder.join(format!("log.{rank}"))).unwrap();
        text.lines().map(told).collect::<Vec<Told>>()
    });
    // The log itself is a stream.
    let is_stream = |phase: &&Phase| phase.key.pattern[0].layer == Layer::Isoc;
    let phases: Vec<_> = model.phases.iter().filter(|phase| !is_stream(phase)).collect();
    assert_eq!((logs[0].len(), logs[1].len()), (phases.len(), phases.len()));
    let mut unknown = 0;
    for (at, (phase, (one, other))) in phases.iter().zip(logs[0].iter().zip(&logs[1])).enumerate() {
        let access = phase.key.pattern[0];
        let what = format!("{at}: {phase:?}");
        assert!(is_of(&one.file, phase) && is_of(&other.file, phase), "{what}");
        assert_eq!((access.kind, phase.rep, phase.np), (one.kind, 1, 2), "{what}");
        assert_eq!(phase.weight, one.bytes + other.bytes, "{what}");
        // Nobody knows in which order ranks come to a shared pointer by themselves.
        if access.pointer == Pointer::Shared && !access.collective {
            unknown += 2;
            assert_eq!(phase.file, Origin::Unknown, "{what}");
            continue;
        }
        let (first, second) = (one.first.unwrap(), other.first.unwrap());
        assert_eq!(phase.file, linear(first, second.cast_signed() - first.cast_signed(), 0), "{what}");
    }
    // Of the one file with operations at unknown places it is unknown, too, which bytes need not have been read.
    assert_eq!(model.findings.0, [(Finding::UnknownOffset, unknown), (Finding::UnknownReads, 1)].into());
}
