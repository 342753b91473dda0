//! Memory limit: the analysis of any archive takes at most 64 times the size of its files, 1 KiB for each location and 16 MiB.
//!
//! A binary of its own, because it counts the allocations of the whole process.

mod archives; // the archives
mod hostile; // writes an archive

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use archives::{ARCHIVES, Make, OPERATIONS, operations_of_a_byte};
use hostile::Hostile;
use io_model::Model;
use otf2::Archive;
use peak_alloc::PeakAlloc;
use replay::assignment::Owners;
use replay::clock_correction::{self, correct};
use replay::exchange::Solo;
use replay::findings::Findings;
use replay::formulas::Formulas;
use replay::io::{IoOptions, OutputFile};
use replay::matching;
use replay::memory::Memory;
use replay::metrics::Metrics;
use replay::progress::Progress;
use replay::shared::Shared;
use replay::structure::{self, Asked};
use replay::tools::Tools;
use replay::trace::Trace;
use replay::walk::{self, Notes, Positions, Walked};
use replay::{Options, Semantics, analyze};
use tempfile::TempDir;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Bytes of a step that need not be looked for: there is always room for them.
const SMALL: u64 = 1 << 20;

/// Limit of memory for an archive of this size, in bytes. Details have something of each location, and its definition may be
/// of a few bytes.
fn allowed(bytes: u64, locations: u64) -> u64 {
    64 * bytes + (locations << 10) + (16 << 20)
}

/// Size of all files of an archive.
fn size(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries
        .map(
            |entry| if entry.path().is_dir() { size(&entry.path()) } else { entry.metadata().unwrap().len() },
        )
        .sum()
}

/// What the process allocates is counted as a whole: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Writes an archive below a directory of its own, in memory if possible: each event file is synced, which takes long on a
/// disk.
fn written(make: Make) -> (TempDir, PathBuf, u64) {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory } else { Path::new(env!("CARGO_TARGET_TMPDIR")) };
    let directory = tempfile::tempdir_in(place).unwrap();
    let experiment = directory.path().join("archive");
    let mut hostile = Hostile::new(&experiment);
    make(&mut hostile);
    let locations = hostile.locations;
    hostile.archive.finish().unwrap();
    if !hostile.has_events {
        std::fs::remove_dir_all(experiment.join("traces")).unwrap();
    }
    (directory, experiment, locations)
}

/// The result of a step, and the bytes that it had allocated at most.
fn peak_of<R>(step: impl FnOnce() -> R) -> (R, u64) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let result = step();
    (result, (ALLOCATOR.peak_usage() - before) as u64)
}

#[test]
fn hostile_archive_takes_no_more_memory_than_promised() {
    let _alone = ALONE.lock();
    let mut problems = Vec::new();
    for (name, make) in ARCHIVES {
        let (directory, experiment, locations) = written(make);
        for clock_correction in [false, true] {
            let options = Options {
                report: Some(directory.path().join("report.cubex")),
                clock_correction,
                force: true,
                ..Options::new(&experiment)
            };
            let (outcome, peak) = peak_of(|| analyze(&options, &mut Solo, &mut Progress::silent()));
            let (bytes, outcome) =
                (size(&experiment), outcome.map_or_else(|error| error.to_string(), |_| "report".into()));
            let clocks = if clock_correction { ", clocks corrected" } else { "" };
            println!(
                "{name}{clocks}: {bytes} bytes, {peak} allocated ({:.1} times), {} allowed: {outcome}",
                peak as f64 / bytes as f64,
                allowed(bytes, locations)
            );
            if peak > allowed(bytes, locations) {
                problems.push(format!("{name}{clocks}"));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn model_of_operations_of_a_byte_takes_150_bytes_for_each() {
    let _alone = ALONE.lock();
    let (directory, experiment, _) = written(operations_of_a_byte);
    let model = directory.path().join("model.json");
    let peak = |files: Vec<OutputFile>| {
        let options = Options {
            report: Some(directory.path().join("report.cubex")),
            force: true,
            io_model: IoOptions { files, ..IoOptions::default() },
            ..Options::new(&experiment)
        };
        let (outcome, peak) = peak_of(|| analyze(&options, &mut Solo, &mut Progress::silent()));
        outcome.unwrap();
        peak
    };
    let without = peak(Vec::new());
    let with = peak(vec![OutputFile::of_model(model.to_str().unwrap()).unwrap()]);
    println!("{} bytes for each", with.saturating_sub(without) / OPERATIONS);
    let made = Model::from_json(&std::fs::read_to_string(model).unwrap()).unwrap();
    assert_eq!((made.bytes(), made.phases.len()), (OPERATIONS, 1));
    assert!(with <= without + 150 * OPERATIONS, "{without} bytes without the model, {with} with it");
}

#[test]
fn steps_take_no_more_memory_than_is_looked_for_before_them() {
    let _alone = ALONE.lock();
    let mut problems = Vec::new();
    let mut large = 0;
    for (name, make) in ARCHIVES {
        let (_directory, experiment, _) = written(make);
        let archive = Archive::open(&experiment).unwrap();
        let definitions = archive.definition_records(&archive.definition_file().unwrap()).resolve().unwrap();
        let trace = Trace::new(definitions, Semantics::Corrected).unwrap();
        let (metrics, processes) = (Metrics::new(true, trace.semantics), trace.processes.len());
        let (formulas, owners) = (Formulas::new(&trace, &metrics), Owners::new(&vec![0..processes; 1]));
        let (shared, memory) = (Shared::new(1), Memory::default());
        let tools = Tools {
            trace: &trace,
            metrics: &metrics,
            formulas: &formulas,
            owners: &owners,
            shared: &shared,
            memory: &memory,
            together: 0,
            has_details: false,
        };
        let walked = |positions| -> Vec<Walked> {
            let walked = |process| {
                let files = walk::open(&archive, &trace, process).unwrap();
                walk::walk(
                    &archive,
                    &trace,
                    &metrics,
                    &files,
                    Notes { has_steps: true, ..Notes::of(positions) },
                    &[],
                    &memory,
                )
                .unwrap()
            };
            (0..processes).map(walked).collect()
        };
        let mut check = |step: &str, needed: u64, peak: u64| {
            println!("{name}: {step}: {peak} bytes allocated, {needed} looked for");
            large += u64::from(peak > SMALL);
            if peak > needed + SMALL {
                problems.push(format!("{name}: {step}"));
            }
        };
        let processes = walked(Positions::Journal);
        let mut findings = Findings::default();
        let needed = matching::bytes_needed(&trace, &processes, true, false);
        let (matches, peak) = peak_of(|| {
            matching::match_operations(&tools, &processes, &mut findings, None, &mut Solo).unwrap()
        });
        check("match", needed, peak);
        let needed = structure::bytes_needed(&processes);
        let asked = Asked::default();
        let (_, peak) = peak_of(|| {
            structure::find(&tools, &processes, &matches, asked, &mut findings, &mut Solo).unwrap()
        });
        check("structure", needed, peak);
        drop((matches, processes));

        let processes = walked(Positions::Records);
        let needed = matching::bytes_needed(&trace, &processes, true, false)
            + clock_correction::bytes_needed(&processes);
        let (_, peak) = peak_of(|| correct(&tools, processes, &mut findings, &mut Solo).unwrap());
        check("correct clocks", needed, peak);
    }
    assert!(large >= 6, "{large} steps for which it matters");
    assert!(problems.is_empty(), "{problems:?}");
}
