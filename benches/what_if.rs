//! Targets of the replay under other conditions (what-if 4).

use crate::bench::Bench;
use crate::targets::{Outcome, Target, at_most};

/// The name of the phase in progress output.
const PHASE: &str = "replay scenarios";

/// So many scenarios are replayed in one pass.
const LANES: f64 = 8.0;

/// Two scenarios, which are those that are always replayed, and eight.
const TWO: &str = "--what-if=ideal,fitted";
const EIGHT: &str = "--what-if=ideal,fitted,latency=0.5,bandwidth=2,eager=all,add=10,cpu=0.5,quiet";

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "what-if",
        what: "two scenarios, stencil 4 × 1,000,000, a core",
        wanted: "≥ 10 M events/s and scenario, ≤ +10 % time",
        measure: |bench| two(bench, "stencil"),
    },
    Target {
        name: "what-if-ring",
        what: "two scenarios, ring 4 × 1,000,000, a core",
        wanted: "≥ 10 M events/s and scenario, ≤ +10 % time",
        measure: |bench| two(bench, "ring"),
    },
    Target {
        name: "what-if-all-to-all",
        what: "two scenarios, all-to-all 4 × 1,000,000, a core",
        wanted: "≥ 10 M events/s and scenario, ≤ +10 % time",
        measure: |bench| two(bench, "all-to-all"),
    },
    Target {
        name: "what-if-lanes",
        what: "eight scenarios, stencil 4 × 1,000,000, a core",
        wanted: "≥ 32 M events × scenarios/s",
        measure: |bench| {
            let trace = bench.trace("stencil", 4, 1_000_000)?;
            let rate = LANES * trace.events as f64 / pass(bench, "stencil", EIGHT)? / 1e6;
            Ok((format!("{rate:.1} M events × scenarios/s"), rate >= 32.0))
        },
    },
    Target {
        name: "what-if-standard",
        what: "standard set, stencil 4 × 1,000,000, a core",
        wanted: "≤ +45 % time",
        measure: |bench| {
            let share = more(bench, "stencil", "--what-if")?;
            Ok((format!("{:+.0} %", 100.0 * share), share <= 0.45))
        },
    },
    Target {
        name: "what-if-memory",
        what: "graph, stencil 4 × 1,000,000, a core",
        wanted: "≤ 24 bytes/event",
        measure: |bench| memory(bench, "stencil"),
    },
    Target {
        name: "what-if-memory-ring",
        what: "graph, ring 4 × 1,000,000, a core",
        wanted: "≤ 24 bytes/event",
        measure: |bench| memory(bench, "ring"),
    },
    Target {
        name: "what-if-memory-all-to-all",
        what: "graph, all-to-all 4 × 1,000,000, a core",
        wanted: "≤ 24 bytes/event",
        measure: |bench| memory(bench, "all-to-all"),
    },
];

fn memory(bench: &Bench, pattern: &str) -> Outcome {
    let trace = bench.trace(pattern, 4, 1_000_000)?;
    at_most(bench.memory_of_what_if(&trace)? / trace.events as f64, 24.0, "bytes/event")
}

/// Seconds of the pass with these scenarios.
fn pass(bench: &Bench, pattern: &str, scenarios: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let trace = bench.trace(pattern, 4, 1_000_000)?;
    let phases = bench.phases(&trace, 1, &[scenarios], 3)?;
    let phase = phases.iter().find(|(name, _)| name == PHASE);
    Ok(phase.ok_or("there is no such phase")?.1)
}

/// How much longer an analysis takes, as a share; both kinds of runs in turn, so that both meet the same machine.
fn more(bench: &Bench, pattern: &str, scenarios: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let trace = bench.trace(pattern, 4, 1_000_000)?;
    let [mut without, mut with] = [f64::INFINITY; 2];
    for _ in 0..5 {
        without = without.min(bench.seconds(&trace, 1, &[], 1)?);
        with = with.min(bench.seconds(&trace, 1, &[scenarios], 1)?);
    }
    Ok(with / without - 1.0)
}

fn two(bench: &Bench, pattern: &str) -> Outcome {
    let trace = bench.trace(pattern, 4, 1_000_000)?;
    let rate = 2.0 * trace.events as f64 / pass(bench, pattern, TWO)? / 1e6;
    let share = more(bench, pattern, TWO)?;
    let measured = format!("{rate:.1} M events/s and scenario, {:+.0} %", 100.0 * share);
    Ok((measured, rate >= 10.0 && share <= 0.1))
}
