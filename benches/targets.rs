//! Targets of speed and memory, compared with this machine.
//!
//! Prints a line of a table for each target, or for those that are named; `all` adds those that take
//! gigabytes of disk. A time is the minimum of three runs of `replay-analyze`, from its start to its end; for
//! the largest traces it is one run. Memory is anonymous memory, the peak of allocated bytes in one run,
//! without mapped files. A core means one thread.

use std::error::Error;

use crate::bench::{Bench, megabytes};
use crate::{details, file_io, loops, offload, processes, rules, what_if};

pub(crate) type Outcome = Result<(String, bool), Box<dyn Error>>;

/// A target: name, measured quantity, limit, and measurement.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) wanted: &'static str,
    pub(crate) measure: fn(&Bench) -> Outcome,
}

/// Number of events of traces for speeds, large enough for the start to be negligible.
const SPEED: u64 = 2_500_000;

const TARGETS: &[Target] = &[
    Target {
        name: "calls",
        what: "decode with call stack, compute 4 × 2,500,000, a core",
        wanted: "≥ 100 M events/s",
        measure: |bench| {
            let trace = bench.trace("compute", 4, SPEED)?;
            at_least(bench.walk(&trace)?, 100.0, "M events/s")
        },
    },
    Target {
        name: "wait-states",
        what: "wait states end to end, stencil 4 × 2,500,000, a core",
        wanted: "≥ 25 M events/s",
        measure: |bench| {
            at_least(bench.rate("stencil", 4, SPEED, &["--no-root-causes"])?, 25.0, "M events/s")
        },
    },
    Target {
        name: "everything",
        what: "everything on, stencil 4 × 2,500,000, a core",
        wanted: "≥ 12 M events/s",
        measure: |bench| at_least(bench.rate("stencil", 4, SPEED, &[])?, 12.0, "M events/s"),
    },
    Target {
        name: "all-to-all",
        what: "everything on, all-to-all 4 × 2,500,000, a core",
        wanted: "≥ 8 M events/s",
        measure: |bench| everything(bench, "all-to-all"),
    },
    Target {
        name: "non-blocking",
        what: "everything on, non-blocking collectives 4 × 2,500,000, a core",
        wanted: "≥ 8 M events/s",
        measure: |bench| everything(bench, "non-blocking"),
    },
    Target {
        name: "neighborhood",
        what: "everything on, neighbourhoods 4 × 2,500,000, a core",
        wanted: "≥ 8 M events/s",
        measure: |bench| everything(bench, "neighborhood"),
    },
    Target {
        name: "fence",
        what: "everything on, fences 4 × 2,500,000, a core",
        wanted: "≥ 8 M events/s",
        measure: |bench| everything(bench, "fence"),
    },
    Target {
        name: "post-start",
        what: "everything on, post and start 4 × 2,500,000, a core",
        wanted: "≥ 8 M events/s",
        measure: |bench| everything(bench, "post-start"),
    },
    Target {
        name: "locks",
        what: "everything on, exclusive locks 4 × 2,500,000, a core",
        wanted: "≥ 8 M events/s",
        measure: |bench| everything(bench, "locks"),
    },
    Target {
        name: "lock-all",
        what: "everything on, shared locks 4 × 2,500,000, a core",
        wanted: "≥ 8 M events/s",
        measure: |bench| everything(bench, "lock-all"),
    },
    Target {
        name: "wavefront",
        what: "end to end, wavefront 8 × 240,000, all cores",
        wanted: "< 0.1 s",
        measure: |bench| {
            let trace = bench.trace("wavefront", 8, 240_000)?;
            at_most(bench.seconds(&trace, bench.cores, &[], 3)?, 0.1, "s")
        },
    },
    Target {
        name: "sweeps",
        what: "end to end, sweeps 8 × 240,000, all cores",
        wanted: "≤ 0.15 s",
        measure: |bench| {
            let trace = bench.trace("sweeps", 8, 240_000)?;
            at_most(bench.seconds(&trace, bench.cores, &[], 5)?, 0.15, "s")
        },
    },
    Target {
        name: "sweeps-cores",
        what: "1 → 2 cores, everything on, sweeps 8 × 240,000",
        wanted: "≥ 1.5 times",
        measure: |bench| {
            let trace = bench.trace("sweeps", 8, 240_000)?;
            let [one, two] = [1, 2].map(|threads| bench.seconds(&trace, threads, &[], 9));
            at_least(one? / two?, 1.5, "times")
        },
    },
    Target {
        name: "processes",
        what: "all phases on 1 to 16 processes, five patterns 8 × 240,000",
        wanted: "≤ 1.5 times those of one and 0.3 s",
        measure: |bench| on_processes(bench, false),
    },
    Target {
        name: "processes-beside",
        what: "the same of sweeps, beside two busy loops",
        wanted: "≤ 3 times that",
        measure: |bench| on_processes(bench, true),
    },
    Target {
        name: "many-processes",
        what: "all phases on 256 processes, stencil 4,096 × 1,000",
        wanted: "≤ 20 s",
        measure: |bench| {
            let trace = bench.trace("stencil", 4096, 1000)?;
            at_most(bench.on_processes(&trace, 256, 1)?, 20.0, "s")
        },
    },
    Target {
        name: "memory",
        what: "memory with everything on, stencil 4 × 2,500,000, a core",
        wanted: "≤ 24 bytes/event",
        measure: |bench| at_most(bench.memory_of_event("stencil", 4, SPEED)?, 24.0, "bytes/event"),
    },
    Target {
        name: "memory-of-calls",
        what: "memory with everything on, compute 4 × 2,500,000, a core",
        wanted: "< 8 bytes/event",
        measure: |bench| at_most(bench.memory_of_event("compute", 4, SPEED)?, 8.0, "bytes/event"),
    },
    Target {
        name: "report",
        what: "report, deep-calls 1,024 × 10,000, to memory",
        wanted: "≥ 1 GB/s",
        measure: |bench| {
            let trace = bench.trace("deep-calls", 1024, 10_000)?;
            at_least(bench.report(&trace)?, 1.0, "GB/s")
        },
    },
    Target {
        name: "cores",
        what: "1 → 2 cores, everything on, stencil 16 × 600,000",
        wanted: "≥ 1.6 times",
        measure: |bench| {
            let trace = bench.trace("stencil", 16, 600_000)?;
            let [one, two] = [1, 2].map(|threads| bench.seconds(&trace, threads, &[], 3));
            at_least(one? / two?, 1.6, "times")
        },
    },
    Target {
        name: "linear",
        what: "time for an event, stencil 4 × 250,000 to 4 × 25,000,000, a core",
        wanted: "× 10, × 100: ≤ 1.2 times",
        measure: |bench| {
            let mut each = Vec::new();
            for (events, runs) in [(250_000, 3), (2_500_000, 3), (25_000_000, 1)] {
                let trace = bench.trace("stencil", 4, events)?;
                each.push(bench.seconds(&trace, 1, &[], runs)? / trace.events as f64);
            }
            let (ten, hundred) = (each[1] / each[0], each[2] / each[0]);
            Ok((format!("{ten:.2}, {hundred:.2} times"), ten.max(hundred) <= 1.2))
        },
    },
    Target {
        name: "thousand-ranks",
        what: "everything on, stencil 1,024 × 20,000, one process",
        wanted: "< 2 s, ≤ 0.6 GiB",
        measure: |bench| scale(bench, "stencil", 1024, 20_000, 2.0, 0.6),
    },
    Target {
        name: "many-ranks",
        what: "everything on, stencil 65,536 × 200, one process",
        wanted: "< 15 s, ≤ 2 GiB",
        measure: |bench| scale(bench, "stencil", 65_536, 200, 15.0, 2.0),
    },
];

/// Omitted unless named: 40 GB on a disk, where `TMPDIR` has to be.
const LARGE: &[Target] = &[Target {
    name: "billion",
    what: "everything on, stencil 16 × 62,500,000, --memory 4G, all cores",
    wanted: "≤ 4 GiB",
    measure: |bench| {
        let trace = bench.trace("stencil", 16, 62_500_000)?;
        let (seconds, bytes) = bench.within(&trace, "4G")?;
        let gibibytes = bytes / f64::from(1 << 30);
        Ok((format!("{gibibytes:.2} GiB, {seconds:.0} s"), gibibytes <= 4.0))
    },
}];

pub(crate) fn scale(
    bench: &Bench,
    pattern: &str,
    ranks: u32,
    events: u64,
    most_seconds: f64,
    most_gibibytes: f64,
) -> Outcome {
    let trace = bench.trace(pattern, ranks, events)?;
    let seconds = bench.seconds(&trace, bench.cores, &[], 1)?;
    let gibibytes = bench.memory(&trace, bench.cores)? / f64::from(1 << 30);
    let is_reached = seconds < most_seconds && gibibytes <= most_gibibytes;
    Ok((format!("{seconds:.2} s, {gibibytes:.2} GiB"), is_reached))
}

fn on_processes(bench: &Bench, has_loops: bool) -> Outcome {
    let (share, which) = processes::worst(bench, has_loops)?;
    Ok((format!("{:.0} % of it at worst: {which}", share * 100.0), share <= 1.0))
}

/// Speed of an analysis with everything on, of a pattern in which many calls wait for several ranks.
fn everything(bench: &Bench, pattern: &str) -> Outcome {
    at_least(bench.rate(pattern, 4, SPEED, &[])?, 8.0, "M events/s")
}

fn at_least(measured: f64, wanted: f64, unit: &str) -> Outcome {
    Ok((format!("{measured:.2} {unit}"), measured >= wanted))
}

pub(crate) fn at_most(measured: f64, wanted: f64, unit: &str) -> Outcome {
    Ok((format!("{measured:.3} {unit}"), measured <= wanted))
}

fn all() -> impl Iterator<Item = &'static Target> {
    TARGETS
        .iter()
        .chain(loops::TARGETS)
        .chain(what_if::TARGETS)
        .chain(rules::TARGETS)
        .chain(details::TARGETS)
        .chain(file_io::TARGETS)
        .chain(offload::TARGETS)
        .chain(LARGE)
}

/// Prints the table, or the named lines of it.
pub(crate) fn print(named: &[String]) -> Result<(), Box<dyn Error>> {
    let is_wanted = |target: &&Target| {
        let is_named = named.iter().any(|name| name == target.name || name == "all");
        is_named || named.is_empty() && !LARGE.iter().any(|large| large.name == target.name)
    };
    let wanted: Vec<&Target> = all().filter(is_wanted).collect();
    if let Some(unknown) =
        named.iter().find(|name| *name != "all" && !wanted.iter().any(|target| target.name == **name))
    {
        let names: Vec<_> = all().map(|target| target.name).collect();
        return Err(format!("no target {unknown}; there are {}", names.join(", ")).into());
    }
    let bench = Bench::new()?;
    println!("{} cores, {} free in {}", bench.cores, megabytes(bench.room()), bench.place());
    println!();
    println!("| what | wanted | measured | reached | command: `cargo bench --bench replay -- targets` |");
    println!("|---|---|---|---|---|");
    for Target { name, what, wanted, measure } in wanted {
        let (measured, is_reached) = measure(&bench)?;
        let reached = if is_reached { "yes" } else { "no" };
        println!("| {what} | {wanted} | {measured} | {reached} | `{name}` |");
    }
    Ok(())
}
