//! Cost of the analysis of one trace.
//!
//! Generates a trace of a pattern (see `docs/benchmarks.md`) with a total number of events, in a temporary
//! directory unless one is named, which must not exist; then prints, one figure a line:
//!
//! * events per second on one core, as OTF2 counts events: decoded; walked, that is decoded with call stack,
//!   exclusive times, visits and operations; analyzed, from opening the archive to the synced report. The
//!   best of three runs; and anonymous memory per event: the peak of allocated bytes, without mapped files;
//! * the traffic between workers, per message of the traced program if it sends any: messages and bytes that
//!   MPI would carry.

use std::error::Error;

use generate::{Job, Pattern, Written, generate};
use otf2::{Archive, Event};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, analyze};

use crate::costs::{self, fastest};
use crate::counting::{Traffic, traffic};

/// Number of workers for which traffic is counted.
const WORKERS: usize = 4;

/// Prints the cost of the analysis of a trace: events, ranks, pattern and directory are command-line
/// arguments.
pub(crate) fn print(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let mut arguments = arguments.iter();
    let wanted: u64 = arguments.next().map_or(Ok(10_000_000), |argument| argument.parse())?;
    let ranks: u32 = arguments.next().map_or(Ok(4), |argument| argument.parse())?.max(2);
    let pattern = arguments.next().map_or("stencil", String::as_str);
    let pattern = Pattern::find(pattern).ok_or_else(|| format!("no pattern {pattern}"))?;
    let directory = tempfile::tempdir()?;
    let experiment = arguments.next().map_or(directory.path().join("trace"), Into::into);
    let job = Job::new(pattern, ranks, wanted / u64::from(ranks));
    let Written { locations, events, messages, bytes } = generate(&job, &experiment)?;
    let archive = Archive::open(&experiment)?;
    println!(
        "trace     {events} events on {locations} locations, {:.2} bytes/event",
        bytes as f64 / events as f64
    );

    let rate = |seconds: f64| events as f64 / seconds / 1e6;
    println!("decode   {:8.1} million events/s", rate(fastest(3, || decode(&archive, &job))?));
    println!("walk     {:8.1} million events/s", rate(costs::walk(&archive)?));
    let options = costs::options(&experiment, &directory.path().join("report.cubex"));
    let variants = [
        ("wait states only", Options { causes: false, ..options.clone() }),
        ("with root causes", options.clone()),
        ("with corrected clocks only", Options { causes: false, clock_correction: true, ..options.clone() }),
    ];
    let mut of_wait_states = None;
    for (what, options) in variants {
        let seconds = fastest(3, || {
            analyze(&options, &mut Solo, &mut Progress::silent())?;
            Ok(())
        })?;
        let times = seconds / *of_wait_states.get_or_insert(seconds);
        let memory = costs::memory(&options)? / events as f64;
        let speed = rate(seconds);
        println!(
            "analyze  {speed:8.1} million events/s, {memory:.1} bytes/event at most, {what}: {times:.2} times the cost"
        );
    }

    let Traffic { rounds, messages: carried, bytes } = traffic(&options, WORKERS)?;
    println!("exchange {rounds:8} rounds of {WORKERS} workers, {carried} messages of {bytes} bytes");
    if messages > 0 {
        println!(
            "         {:8.6} messages and {:.1} bytes per message of the trace",
            carried as f64 / messages as f64,
            bytes as f64 / messages as f64
        );
    }
    Ok(())
}

fn decode(archive: &Archive, job: &Job) -> Result<(), Box<dyn Error>> {
    let mut count = 0;
    for location in job.locations() {
        let file = archive.event_file(location)?;
        let mut cursor = archive.events(&file);
        while let Some(record) = cursor.next()? {
            count += u64::from(matches!(record.event, Event::Enter { .. })) + record.time % 2;
        }
    }
    std::hint::black_box(count);
    Ok(())
}
