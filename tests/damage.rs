//! Damaged archives: cut at every byte, and with flipped bits. The analysis ends in time, with a message or a
//! report, and ranks whose files are intact keep the metrics that do not depend on other ranks.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use otf2::Archive;
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, Outcome, Semantics, WhatIf};

use crate::support::deadline::{LIMIT, Watch};
use crate::support::parse::Case;
use crate::support::random::Random;
use crate::support::report::{Named, Table};
use crate::support::{SMALL, analyze, archive, copy, in_memory, local, options, write};

/// Number of flipped bits for each fixture, one per run.
const FLIPS: usize = 1000;

/// Threads of a test; each has an archive of its own to damage.
const WORKERS: usize = 2;

/// An intact archive and the severities of its report.
struct Fixture {
    directory: tempfile::TempDir,
    files: Vec<File>,
    /// The process of each location of the report.
    process_of: Vec<usize>,
    local: BTreeMap<usize, Named>,
}

/// A file of an archive.
struct File {
    name: String,
    bytes: Vec<u8>,
    /// The process that the file belongs to, if it is one's.
    process: Option<usize>,
}

impl File {
    /// Length of the end marks, which hold no other information.
    fn marks(&self) -> usize {
        if self.name.ends_with(".otf2") { 3 } else { 1 }
    }
}

/// A damaged file: its new content.
struct DamagedFile {
    file: usize,
    what: String,
    bytes: Vec<u8>,
}

/// Result of the analysis of a damaged archive.
enum Ending {
    Message(String),
    Report(Table),
}

impl Fixture {
    /// A copy of a real archive.
    fn real(name: &str) -> Fixture {
        Fixture::new(|directory| {
            let from = archive(name);
            for file in ["traces.otf2", "traces.def"] {
                fs::copy(from.join(file), directory.join(file)).unwrap();
            }
            copy(&from.join("traces"), &directory.join("traces"));
        })
    }

    /// The archive of a script.
    fn script(text: &str) -> Fixture {
        Fixture::new(|directory| write::write(&Case::parse(text).unwrap().trace, directory))
    }

    fn new(make: impl FnOnce(&Path)) -> Fixture {
        let directory = in_memory();
        make(directory.path());
        let archive = Archive::open(directory.path()).unwrap();
        let definitions = archive.definitions().unwrap();
        let locations = &definitions.locations;
        let mut references: Vec<(usize, u64)> =
            (0..locations.len()).map(|at| (locations[at].group, locations.reference(at))).collect();
        references.sort_unstable();
        let file = |path: PathBuf, process| File {
            name: path.strip_prefix(directory.path()).unwrap().to_str().unwrap().to_owned(),
            bytes: fs::read(&path).unwrap(),
            process,
        };
        let mut files =
            vec![file(archive.anchor_path().to_owned(), None), file(archive.definition_path(), None)];
        for &(process, location) in &references {
            files.push(file(archive.local_definition_path(location), Some(process)));
            files.push(file(archive.event_path(location), Some(process)));
        }
        let report = directory.path().join("whole.cubex");
        analyze(directory.path(), &report, Semantics::Corrected).unwrap();
        let local = local::severities(&Table::read(&report));
        Fixture { files, process_of: references.iter().map(|it| it.0).collect(), local, directory }
    }

    /// Applies each damage in turn; returns a description of each wrong result.
    fn damage(
        &self,
        damages: &[DamagedFile],
        problem: impl Fn(&DamagedFile, &Ending) -> Option<String> + Sync,
    ) -> Vec<String> {
        let next = AtomicUsize::new(0);
        let work = || {
            let place = in_memory();
            copy(self.directory.path(), place.path());
            let watch = Watch::new();
            let mut problems = Vec::new();
            loop {
                let turn = next.fetch_add(1, Ordering::Relaxed);
                let Some(damage) = damages.get(turn) else { return problems };
                let file = &self.files[damage.file];
                fs::write(place.path().join(&file.name), &damage.bytes).unwrap();
                let run = |corrects_clocks| {
                    let what = format!("{}: {}", file.name, damage.what);
                    watch.run(&what, || end(place.path(), 1 + turn % 2, corrects_clocks))
                };
                let ending = run(false);
                if turn.is_multiple_of(4) {
                    // No value is right in a damaged trace, but the kind of result must be the same.
                    let is_report = |ending: &Result<Ending, _>| matches!(ending, Ok(Ending::Report(_)));
                    let corrected = run(true);
                    if corrected.is_err() || is_report(&corrected) != is_report(&ending) {
                        problems.push(format!("{}, {}: clocks corrected", file.name, damage.what));
                    }
                }
                fs::write(place.path().join(&file.name), &file.bytes).unwrap();
                let found = match ending {
                    Ok(ending) => {
                        self.problem(damage, &ending, place.path()).or_else(|| problem(damage, &ending))
                    }
                    Err(problem) => Some(problem),
                };
                problems.extend(found.map(|found| format!("{}, {}: {found}", file.name, damage.what)));
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        })
    }

    /// Checks that hold for any damage.
    fn problem(&self, damage: &DamagedFile, ending: &Ending, place: &Path) -> Option<String> {
        let file = &self.files[damage.file];
        match ending {
            Ending::Message(message) => {
                let names_place = message.starts_with(place.to_str().unwrap());
                let is_fine = names_place && !message.contains('\n') && file.process.is_none();
                (!is_fine).then(|| format!("no report: {message}"))
            }
            Ending::Report(_) if file.process.is_none() => None,
            Ending::Report(table) => {
                let found = local::severities(table);
                let changed = (0..self.process_of.len())
                    .filter(|&location| file.process != Some(self.process_of[location]))
                    .find(|location| found.get(location) != self.local.get(location))?;
                Some(format!("location {changed} has other metrics: {:?}", found.get(&changed)))
            }
        }
    }
}

/// Analyzes a damaged archive.
fn end(experiment: &Path, threads: usize, clock_correction: bool) -> Result<Ending, String> {
    let report = experiment.join("damaged.cubex");
    let what_if = (!clock_correction).then_some(WhatIf::Standard);
    let options =
        Options { threads, clock_correction, what_if, ..options(experiment, &report, Semantics::Corrected) };
    let begin = Instant::now();
    let run = || replay::analyze(&options, &mut Solo, &mut Progress::silent());
    let outcome: Result<Outcome, _> =
        catch_unwind(AssertUnwindSafe(run)).map_err(|_| "a panic".to_owned())?;
    let elapsed = begin.elapsed();
    if elapsed > LIMIT {
        return Err(format!("took {elapsed:?}"));
    }
    match outcome {
        Err(error) => Ok(Ending::Message(error.to_string())),
        Ok(_) => {
            let table = Table::read(&report);
            fs::remove_file(&report).unwrap();
            Ok(Ending::Report(table))
        }
    }
}

/// Fails with the first problem.
fn expect_none(problems: &[String]) {
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems[..problems.len().min(20)].join("\n")
    );
}

#[test]
fn archive_cut_at_every_byte_gives_a_message_or_a_finding() {
    let fixture = Fixture::script(SMALL);
    let mut cuts = Vec::new();
    for (at, file) in fixture.files.iter().enumerate() {
        let cut = |length: usize| {
            let bytes = file.bytes[..length].to_vec();
            DamagedFile { file: at, what: format!("cut to {length} of {} bytes", file.bytes.len()), bytes }
        };
        cuts.extend((0..file.bytes.len()).map(cut));
    }
    let problems = fixture.damage(&cuts, |cut, ending| {
        let file = &fixture.files[cut.file];
        let is_whole = cut.bytes.len() + file.marks() >= file.bytes.len();
        match ending {
            Ending::Message(_) if is_whole => Some("a message, though no data is gone".into()),
            Ending::Message(message) => (!message.contains(&format!("{}: byte 0x", file.name)))
                .then(|| format!("the message does not name file and byte: {message}")),
            Ending::Report(_) if file.process.is_none() && !is_whole => {
                Some("a report without definitions".into())
            }
            Ending::Report(table) => {
                let kinds = ["damaged events", "unreadable local definitions"];
                let is_found = kinds.iter().any(|kind| table.findings().contains_key(*kind));
                (is_found == is_whole).then(|| format!("findings {:?}", table.findings()))
            }
        }
    });
    expect_none(&problems);
}

/// Flips one bit in each run, as many in events as in all definitions.
fn flip_bits(name: &str) {
    let fixture = Fixture::real(name);
    let seed = std::env::var("REPLAY_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut random = Random::new(seed);
    let kind = |wanted: fn(&str) -> bool| -> Vec<usize> {
        (0..fixture.files.len()).filter(|&at| wanted(&fixture.files[at].name)).collect()
    };
    let kinds = [
        kind(|name| name == "traces.otf2"),
        kind(|name| name == "traces.def"),
        kind(|name| name.starts_with("traces/") && name.ends_with(".def")),
        kind(|name| name.ends_with(".evt")),
    ];
    let mut flip = || {
        let kind = random.pick(&[0, 1, 1, 2, 3, 3, 3, 3]);
        let file = random.pick(&kinds[kind]);
        let mut bytes = fixture.files[file].bytes.clone();
        let (at, bit) = (random.below(bytes.len()), random.below(8));
        bytes[at] ^= 1 << bit;
        DamagedFile { file, what: format!("bit {bit} of byte {at:#x} flipped"), bytes }
    };
    let flips: Vec<DamagedFile> = (0..FLIPS).map(|_| flip()).collect();
    let (refused, odd) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let problems = fixture.damage(&flips, |_, ending| {
        match ending {
            Ending::Message(_) => refused.fetch_add(1, Ordering::Relaxed),
            Ending::Report(table) => odd.fetch_add(table.findings().len().min(1), Ordering::Relaxed),
        };
        None
    });
    expect_none(&problems);
    // Damage without any effect would prove nothing.
    let (refused, odd) = (refused.into_inner(), odd.into_inner());
    assert!(refused > FLIPS / 20 && odd > FLIPS / 4, "{refused} messages, {odd} reports with findings");
}

#[test]
fn flipped_bits_in_a_trace_of_messages_harm_only_their_rank() {
    flip_bits("late_sender.4");
}

#[test]
fn flipped_bits_in_a_trace_of_threads_harm_only_their_rank() {
    flip_bits("hybrid.2x3");
}

#[test]
fn flipped_bits_in_a_trace_of_communicators_harm_only_their_ranks() {
    flip_bits("comms.7");
}
