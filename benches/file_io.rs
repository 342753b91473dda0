//! Targets of traces with file access, and of the model of file I/O (io 7.5).

use crate::bench::Bench;
use crate::targets::{Outcome, Target};

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "io",
        what: "waits and the model of file I/O, io 4 × 2,500,000, a core",
        wanted: "≥ 10 M events/s",
        measure: speed,
    },
    Target {
        name: "io-model",
        what: "time for the model of file I/O, io 4 × 2,500,000, a core",
        wanted: "≤ +10 % of reading events",
        measure: more_time,
    },
];

/// Events of each of four ranks.
const EVENTS: u64 = 2_500_000;

/// Nothing beyond waits, to which the model is added.
const WAITS: [&str; 5] = ["--no-root-causes", "--details", "none", "--structure", "none"];

/// Where the model is written.
fn table(bench: &Bench) -> String {
    bench.target().with_extension("tsv").display().to_string()
}

fn speed(bench: &Bench) -> Outcome {
    let table = table(bench);
    let options = [&WAITS[..], &["--io-model", &table]].concat();
    let rate = bench.rate("io", 4, EVENTS, &options)?;
    Ok((format!("{rate:.2} M events/s"), rate >= 10.0))
}

/// Runs with and without the model in turn, so that both meet the same machine. It adds to the phase that reads events, and
/// to the last one, so that the whole time counts.
fn more_time(bench: &Bench) -> Outcome {
    let trace = bench.trace("io", 4, EVENTS)?;
    let table = table(bench);
    let options = [&WAITS[..], &["--io-model", &table]].concat();
    let [mut without, mut with, mut reading] = [f64::INFINITY; 3];
    for _ in 0..5 {
        let phases = bench.phases(&trace, 1, &WAITS, 1)?;
        let read = phases.iter().find(|(name, _)| name == "read events").ok_or("no events are read")?;
        reading = reading.min(read.1);
        without = without.min(phases.iter().map(|(_, seconds)| seconds).sum());
        let phases = bench.phases(&trace, 1, &options, 1)?;
        with = with.min(phases.iter().map(|(_, seconds)| seconds).sum());
    }
    let share = (with - without) / reading;
    let more = with - without;
    Ok((format!("{:+.0} %, {more:.3} s beside {reading:.3} s", 100.0 * share), share <= 0.1))
}
