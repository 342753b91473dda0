//! Where transfers begin in files, by all kinds of pointers and views, compared with what the program itself writes down.

use std::collections::BTreeMap;
use std::fs;

use io_model::{Finding, Kind, Layer, Origin, Phase, Pointer};
use otf2::Definition;
use replay::io::IoOptions;

use crate::support::archive;
use crate::support::modelled::{analyzed, linear, model_of};
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

#[test]
fn files_that_were_open_before_are_known_and_go_on_where_they_are() {
    let Some(subject) = Subject::new("before", "files/before.c", 2, &[]) else { return };
    let subject = subject.option("--io=posix");
    subject.run_recorded(Invocation::InFront).expect_success();
    assert_eq!(archive::refusal(&subject.experiment), None);
    assert_eq!(archive::difference(&subject.experiment), None);
    let model = model_of(&subject);
    // Bytes, and where the first ones of each rank are.
    let mut found: BTreeMap<&str, (u64, Origin)> = BTreeMap::new();
    for phase in &model.phases {
        let name = phase.key.family.rsplit('/').next().unwrap();
        found.entry(name).or_insert((0, phase.file)).0 += phase.weight;
    }
    let expected = [
        ("buffered.{n}", (200_000, linear(300, 0, 0))),
        ("ends.{n}", (14, linear(8, 0, 0))),
        ("raw.{n}", (20_010, linear(10, 0, 0))),
        ("read.{n}", (100, linear(100, 0, 0))),
    ];
    assert_eq!(found, BTreeMap::from(expected));
    let opened: u64 = model.files.values().map(|file| file.facts.opens).sum();
    assert_eq!(opened, 0, "none was opened in the time that is recorded");
    let (mut flagged, mut states, mut all) = (0, 0, 0);
    archive::each_definition(&subject.experiment, |definition| match *definition {
        Definition::IoHandle { io_handle_flags, .. } => {
            all += 1;
            flagged += u32::from(io_handle_flags == 1);
        }
        Definition::IoPreCreatedHandleState { mode, status_flags, .. } => {
            states += 1;
            assert!(mode <= 1 && (status_flags == 0 || status_flags == 2), "{definition:?}");
        }
        _ => {}
    });
    // Of each rank five files, two of them by streams, too; and the duplicate.
    assert_eq!((flagged, states, all), (14, 14, 16));
}
