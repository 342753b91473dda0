//! Streams of ISO C have the records of the program, of which one stands for many calls.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use otf2::{Definition, Event};

use replay::io::IoOptions;

use crate::support::archive;
use crate::support::files::{handles, records};
use crate::support::modelled::analyzed;
use crate::support::record::{Invocation, Subject};

/// Functions that `stdio.c` promises records of.
const FUNCTIONS: [&str; 16] = [
    "fopen", "fdopen", "freopen", "fclose", "fseek", "fseeko", "rewind", "fwrite", "fputs", "fputc",
    "fprintf", "printf", "fread", "getc", "fflush", "tmpfile",
];

/// What the operations on a file sum up to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Sum {
    operations: u64,
    calls: u64,
    bytes: u64,
}

/// The sums by name of the file, paradigm, and whether they write. Operations without the attribute stand for one call.
fn sums(experiment: &Path) -> BTreeMap<(String, String, bool), Sum> {
    let handles = handles(experiment);
    let (mut strings, mut calls) = (BTreeMap::new(), None);
    archive::each_definition(experiment, |definition| match *definition {
        Definition::String { reference, string } => {
            strings.insert(reference, string.to_vec());
        }
        Definition::Attribute { reference, name, .. } if strings[&name] == b"Calls" => {
            calls = Some(reference);
        }
        _ => {}
    });
    let mut sums: BTreeMap<_, Sum> = BTreeMap::new();
    let mut open: BTreeMap<(u64, u32, u64), bool> = BTreeMap::new();
    archive::each_event(experiment, |at, event, _| match *event {
        Event::IoOperationBegin { handle, mode, matching_id, .. } => {
            open.insert((at.location, handle, matching_id), mode == 1);
            let of = &handles[&handle];
            let sum = sums.entry((of.file.clone(), of.paradigm.clone(), mode == 1)).or_default();
            let told = at.attributes.iter().find(|attribute| Some(attribute.attribute) == calls);
            sum.operations += 1;
            sum.calls += told.map_or(1, |told| told.value.bits);
        }
        Event::IoOperationComplete { handle, bytes_result, matching_id } => {
            let is_written = open.remove(&(at.location, handle, matching_id)).unwrap();
            let of = &handles[&handle];
            let sum = sums.entry((of.file.clone(), of.paradigm.clone(), is_written)).or_default();
            sum.bytes += bytes_result;
        }
        _ => {}
    });
    sums
}

fn check(experiment: &Path) {
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);
}

#[test]
fn streams_have_the_records_of_the_program() {
    let Some(subject) = Subject::new("stdio", "files/stdio.c", 2, &[]) else { return };
    let subject = subject.option("--io=posix");
    subject.run_recorded(Invocation::InFront).expect_success();
    let experiment = &subject.experiment;
    check(experiment);
    let found = records(experiment, &FUNCTIONS);
    for rank in 0..2 {
        let promised = fs::read_to_string(subject.folder.join(format!("promised.{rank}"))).unwrap();
        let promised: Vec<&str> = promised.lines().collect();
        let own: Vec<&String> = found[&rank].iter().take(promised.len()).collect();
        assert_eq!(own, promised);
    }
    // A descriptor of a stream that was opened by a path is below that, others are not.
    let handles = handles(experiment);
    let known = ["own.0", "own.1", "other.0", "other.1", "threads.0", "threads.1", "open.0", "open.1"];
    for handle in handles.values().filter(|handle| !handle.file.starts_with("promised.")) {
        assert!(known.contains(&handle.file.as_str()), "{handle:?}");
        let above = handle.parent.map(|parent| handles[&parent].paradigm.as_str());
        assert!(above.is_none() || (above, &*handle.paradigm) == (Some("ISOC"), "POSIX"), "{handle:?}");
    }
    let sums = sums(experiment);
    for rank in 0..2 {
        let sum = |file: &str| sums[&(format!("{file}.{rank}"), "ISOC".to_string(), true)];
        // What two threads write to one stream is counted without loss.
        let threads = sum("threads");
        assert_eq!((threads.calls, threads.bytes), (200_000, 1_600_000));
        assert!((390..400).contains(&threads.operations), "{threads:?}");
        // What nobody closes.
        assert_eq!((sum("open").calls, sum("open").bytes), (3, 24));
    }
}

#[test]
fn few_operations_stand_for_many_calls_of_a_stream() {
    const BYTES: u64 = 40_000_000;
    let Some(subject) = Subject::new("io_stdio", "files/io_stdio.c", 1, &[]) else { return };
    let subject = subject.option("--io=posix");
    subject.run_recorded(Invocation::InFront).expect_success();
    check(&subject.experiment);
    let sums = sums(&subject.experiment);
    let written = sums[&("io_stdio.0".to_string(), "ISOC".to_string(), true)];
    assert_eq!((written.calls, written.bytes), (5_000_000, BYTES));
    // Buffers of 4096 bytes, of which fclose writes the last one.
    assert_eq!(written.operations, 9766);
    assert_eq!(sums.len(), 1, "{sums:?}");
    let (model, _) = analyzed(&subject, IoOptions::default());
    assert!(model.findings.0.is_empty(), "{:?}", model.findings);
    let weight: u64 = model.families.iter().map(|family| family.weight).sum();
    assert_eq!(weight, BYTES);
    let layers = model.phases.iter().flat_map(|phase| &phase.key.pattern).map(|access| access.layer);
    assert!(layers.clone().count() > 0 && layers.into_iter().all(|layer| layer == io_model::Layer::Isoc));
}

#[test]
fn streams_of_cxx_are_recorded_as_what_they_make_of_their_own_buffers() {
    let Some(subject) = Subject::new("streams", "files/streams.cc", 2, &[]) else { return };
    let subject = subject.option("--io=posix");
    subject.run_recorded(Invocation::InFront).expect_success();
    check(&subject.experiment);
    let sums = sums(&subject.experiment);
    for rank in 0..2 {
        let bytes = [true, false]
            .map(|is_written| sums[&(format!("streams.{rank}"), "POSIX".to_string(), is_written)].bytes);
        assert_eq!(bytes, [110_000; 2]);
    }
}

#[test]
fn files_of_fortran_are_recorded_as_what_its_library_makes_of_them() {
    let Some(subject) = Subject::new("units", "files/units.f90", 2, &[]) else { return };
    let subject = subject.option("--io=posix");
    subject.run_recorded(Invocation::InFront).expect_success();
    check(&subject.experiment);
    let sums = sums(&subject.experiment);
    for rank in 0..2 {
        let bytes = [true, false]
            .map(|is_written| sums[&(format!("units.{rank}"), "POSIX".to_string(), is_written)].bytes);
        assert_eq!(bytes, [110_000; 2]);
    }
}

#[test]
fn standard_output_is_recorded_if_it_is_a_file() {
    let Some(subject) = Subject::new("stdout", "files/io_stdio.c", 1, &[]) else { return };
    let subject = subject.option("--io=posix").behind_shell("echo first > printed; exec \"$@\" >> printed");
    subject.run_recorded(Invocation::InFront).expect_success();
    check(&subject.experiment);
    let sums = sums(&subject.experiment);
    let printed = fs::read(subject.folder.join("printed")).unwrap();
    let written = sums[&("printed".to_string(), "ISOC".to_string(), true)];
    assert_eq!((written.calls, written.bytes), (1, printed.len() as u64 - 6));
    // It stays in the buffer until the end.
    let lines = &records(&subject.experiment, &["printf", "MPI_Finalize"])[&0];
    let bytes = written.bytes;
    let promised =
        [format!("MPI_Finalize Begin 1 0 {bytes} Calls=1"), format!("MPI_Finalize Complete {bytes}")];
    assert_eq!(lines[..], promised);
}
