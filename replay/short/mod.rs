//! Short archives: iterations of the main loop that stand for all others, as an archive of their own (structure 3.7).
//!
//! ```text
//!     kinds of iterations ─► windows of each location ─► operations in them, on all members ─┐
//!                                                                                            ▼
//!     event files ─► second walk ─► numbers of records ─► records of dropped operations ─► copy ─► files
//! ```
//!
//! Windows are plain intervals of time of each location; behind them nothing depends on iterations.

mod archive;
mod chosen;
mod copy;
mod kept;
mod stack;
mod windows;

use std::fmt;
use std::fs;
use std::path::PathBuf;

use model::Ticks;
use otf2::Archive;

use crate::copied_archive::of_locations;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, broadcast, gather, share};
use crate::focus::Windows;
use crate::int::to_u64;
use crate::matching::Said;
use crate::report::{RecordedIterations, ShortProperties, loop_place, printable};
use crate::severity::MetricId;
use crate::structure::{Agreed, FoundStructure, Prediction, Structure, Weight};
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::{self, Notes, Positions, Walked};
use crate::wire::{self, Wire};

use archive::{Copied, Files};
use chosen::choose;
pub use kept::Dropped;
use kept::DroppedByKind;

/// The option that asks for it.
pub const OPTION: &str = "--short";

/// Iterations that are kept by default, at most.
pub const KEPT: usize = 10;

/// What to keep of a trace, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShortOptions {
    /// The directory of the new archive.
    pub directory: PathBuf,
    /// Iterations to keep, at most.
    pub keep: usize,
    /// Whether all that is in no iteration of the main loop is kept, too.
    pub keep_outside: bool,
}

/// What is kept of the processes of a worker.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The iterations, and how many each stands for.
    weights: Vec<Weight>,
    /// By process and location.
    windows: Vec<Vec<Windows>>,
    said: Vec<Said>,
    dropped: DroppedByKind,
}

/// A short archive that was written, for the summary.
#[derive(Clone, PartialEq, Debug)]
pub struct ShortArchive {
    /// Its directory.
    pub directory: PathBuf,
    /// How many iterations it has, and of how many.
    pub iterations: [u64; 2],
    /// Bytes of its event files, and of those of the source.
    pub bytes: [u64; 2],
    /// Dropped operations in words, if these are more than one in a hundred of a kind.
    pub unclean: Option<String>,
    /// Whether iterations of one number are the same on all ranks.
    pub corresponds: bool,
}

impl fmt::Display for ShortArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShortArchive { iterations: [kept, all], bytes: [bytes, of], unclean, corresponds, .. } = self;
        let share = 100.0 * *bytes as f64 / (*of).max(1) as f64;
        let directory = printable(&self.directory.display().to_string());
        writeln!(
            f,
            "Short archive: {directory}, {kept} of {all} iterations, {share:.1} % of {of} bytes of events"
        )?;
        if !corresponds {
            writeln!(
                f,
                "  Iterations of one number are not the same on all ranks: its waiting is not that of the run"
            )?;
        }
        match unclean {
            None => Ok(()),
            Some(dropped) => writeln!(
                f,
                "  Its borders cut operations, which are dropped on all sides: of those in it {dropped}"
            ),
        }
    }
}

/// Decides what to keep. `structure` is known at worker 0.
///
/// # Errors
/// If there are no iterations to keep, the trace has gaps, or a worker failed.
pub fn plan(
    tools: &Tools<'_>,
    options: &ShortOptions,
    processes: &[Walked],
    (agreed, structure): (Option<&Agreed>, &FoundStructure),
    exchange: &mut dyn Exchange,
) -> Result<Plan, Error> {
    let mut told = Batch::new();
    if exchange.worker() == 0 {
        representatives(tools.trace, options, structure)?.put(&mut told);
    }
    let weights: Vec<Weight> = wire::one(&broadcast(exchange, told)?);
    let mut numbers: Vec<u64> = weights.iter().map(|&(at, _)| to_u64(at) + 1).collect();
    numbers.sort_unstable();
    // Where there are iterations all workers know of them.
    let Some(agreed) = agreed else { return Err(no_iterations()) };
    let windows = windows::of_iterations(processes, agreed, &numbers, options.keep_outside);
    let (said, dropped) = kept::decide(tools, processes, &windows, exchange)?;
    Ok(Plan { weights, windows, said, dropped })
}

fn no_iterations() -> Error {
    Error::new(
        "--short: there is no loop of MPI calls with three iterations and more on all ranks; nothing stands for the run",
    )
}

/// The iterations that stand for others.
fn representatives(
    trace: &Trace,
    options: &ShortOptions,
    structure: &FoundStructure,
) -> Result<Vec<Weight>, Error> {
    let structure = match structure {
        FoundStructure::Loop(structure) => structure,
        FoundStructure::MemoryIsShort => {
            return Err(Error::new("--short: loops are not looked for, as memory is short (--memory)"));
        }
        FoundStructure::NotLookedFor | FoundStructure::NoLoop => return Err(no_iterations()),
    };
    let too_few = || match structure.choice {
        None => no_iterations(),
        Some(_) => Error::new(format!(
            "--short: {} has fewer than three iterations on all ranks; nothing stands for the run",
            structure.subject(trace)
        )),
    };
    let mut weights = structure.representatives(options.keep).ok_or_else(too_few)?;
    weights.sort_unstable();
    Ok(weights)
}

/// Where the files of a short archive come from, and how they are read.
#[derive(Clone, Copy, Debug)]
pub struct SourceArchive<'f> {
    /// The archive that is copied.
    pub archive: &'f Archive,
    /// Bytes of event files by process.
    pub bytes: &'f [u64],
    /// The first process of this worker.
    pub first: usize,
}

/// Writes the archive under the name that it has until it is complete. Returns what is said of it, at worker 0, where the
/// structure is known.
///
/// # Errors
/// If a file cannot be read or written, or a worker failed.
pub fn write(
    tools: &Tools<'_>,
    options: &ShortOptions,
    source: SourceArchive<'_>,
    plan: Plan,
    structure: &FoundStructure,
    exchange: &mut dyn Exchange,
) -> Result<Option<ShortArchive>, Error> {
    let Plan { weights, windows, said, mut dropped } = plan;
    let directory = new_directory::part_of(&options.directory);
    let files = Files { source: source.archive, trace: tools.trace, directory: &directory };
    if exchange.worker() == 0 {
        let path = of_locations(files.source, files.directory);
        fs::create_dir(&path).map_err(|cause| new_directory::failed(&path, &cause, OPTION))?;
    }
    share(exchange, Batch::new())?;
    let mut copied: Vec<Copied> = Vec::new();
    for (at, (windows, said)) in windows.iter().zip(&said).enumerate() {
        let process = source.first + at;
        copied.extend(copy_process(tools, &source, &files, process, (windows, said), &mut dropped)?);
    }
    let mut told = Batch::new();
    (copied, dropped.map(|it| [it.all, it.dropped])).put(&mut told);
    let told = gather(exchange, told)?;
    let FoundStructure::Loop(structure) = structure else { return Ok(None) };
    if exchange.worker() != 0 {
        return Ok(None);
    }
    let mut copied: Vec<Copied> = Vec::new();
    let mut dropped = DroppedByKind::default();
    for batch in &told {
        type Told = (Vec<Copied>, [[u64; 2]; kept::KINDS.len()]);
        let (of_worker, counts): Told = wire::one(batch);
        copied.extend(of_worker);
        for (sum, [all, dropped]) in dropped.iter_mut().zip(counts) {
            *sum += Dropped { all, dropped };
        }
    }
    files.write_iterations(&structure.iterations, &weights)?;
    files.finish(&copied, properties(tools, structure, &weights, &dropped))?;
    Ok(Some(ShortArchive {
        directory: options.directory.clone(),
        iterations: [weights.len(), structure.iterations.len()].map(to_u64),
        bytes: [copied.iter().map(|it| it.bytes).sum(), source.bytes.iter().sum()],
        unclean: kept::are_many(&dropped).then(|| kept::described(&dropped)),
        corresponds: structure.correspondence.holds(),
    }))
}

/// Copies the locations of a process.
fn copy_process(
    tools: &Tools<'_>,
    source: &SourceArchive<'_>,
    files: &Files<'_>,
    process: usize,
    (windows, said): (&[Windows], &Said),
    dropped: &mut DroppedByKind,
) -> Result<Vec<Copied>, Error> {
    let trace = tools.trace;
    let opened = walk::open(source.archive, trace, process)?;
    let notes = Notes::of(Positions::Records);
    let walked = walk::walk(source.archive, trace, tools.metrics, &opened, notes, &[], tools.memory)?;
    drop(opened);
    let all_chosen = choose(&walked, windows, said, dropped);
    let mut copied = Vec::new();
    for (thread, location) in walked.process.locations.iter().enumerate() {
        let times: &[Ticks] = &walked.records[thread].times;
        let (windows, chosen) = (&windows[thread], &all_chosen[thread]);
        let location = &trace.locations[location.location];
        copied.extend(files.copy(location, (windows, chosen, times))?);
    }
    Ok(copied)
}

/// Properties of the archive.
fn properties(
    tools: &Tools<'_>,
    structure: &Structure,
    weights: &[Weight],
    dropped: &DroppedByKind,
) -> Vec<(String, String)> {
    let kept: Vec<String> = weights.iter().map(|(at, weight)| format!("{}*{weight}", at + 1)).collect();
    let errors = |all: &[(&str, Prediction)]| -> String {
        let parts: Vec<String> = all.iter().map(|(name, it)| format!("{name} {:.6}", it.error())).collect();
        parts.join(", ")
    };
    let [of_loop, of_run] = [structure.loop_times(weights), structure.run_times(weights)];
    let all_of = |times: [Prediction; 3], metrics: Vec<(MetricId, Prediction)>| -> Vec<(&str, Prediction)> {
        let metrics = metrics.into_iter().map(|(metric, it)| (tools.metrics.list[metric].id, it));
        ["elapsed", "time", "mpi"].into_iter().zip(times).chain(metrics).collect()
    };
    let of_loop = all_of(of_loop, structure.loop_metrics(weights));
    let of_run = all_of(of_run, structure.run_metrics(weights));
    let place = loop_place(tools.trace, &structure.place);
    let phase = structure.phase.map(|region| tools.trace.region_name(region));
    let mut all = RecordedIterations::properties(structure.iterations.len(), place, phase);
    all.extend([
        (ShortProperties::KEPT.to_owned(), kept.join(",")),
        (ShortProperties::LOOP_ERRORS.to_owned(), errors(&of_loop)),
        (ShortProperties::RUN_ERRORS.to_owned(), errors(&of_run)),
        (ShortProperties::DROPPED.to_owned(), kept::described(dropped)),
    ]);
    all
}
