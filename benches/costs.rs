//! Measurement of time and memory.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use otf2::Archive;
use replay::exchange::Solo;
use replay::memory::Memory;
use replay::metrics::Metrics;
use replay::progress::Progress;
use replay::trace::Trace;
use replay::walk::{self, Notes, Positions};
use replay::{Options, Semantics, analyze};

use crate::ALLOCATOR;

/// Seconds of the fastest of several runs.
pub(crate) fn fastest(
    runs: usize,
    mut run: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Options with everything on and one thread.
pub(crate) fn options(experiment: &Path, report: &Path) -> Options {
    Options { report: Some(report.into()), ..Options::new(experiment) }
}

/// Seconds of the fastest of three walks over all events: decoding with call paths, times, visits and
/// operations.
pub(crate) fn walk(archive: &Archive) -> Result<f64, Box<dyn Error>> {
    let trace = Trace::new(archive.definitions()?, Semantics::Corrected)?;
    let metrics = Metrics::new(false, Semantics::Corrected);
    let notes = Notes::of(Positions::Nothing);
    fastest(3, || {
        for process in 0..trace.processes.len() {
            let files = walk::open(archive, &trace, process)?;
            walk::walk(archive, &trace, &metrics, &files, notes, &[], &Memory::default())?;
        }
        Ok(())
    })
}

/// Peak of allocated bytes, beyond those allocated before.
pub(crate) fn peak(run: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    run()?;
    Ok((ALLOCATOR.peak_usage() - before) as f64)
}

/// Peak of allocated bytes of an analysis.
pub(crate) fn memory(options: &Options) -> Result<f64, Box<dyn Error>> {
    peak(|| {
        analyze(options, &mut Solo, &mut Progress::silent())?;
        Ok(())
    })
}
