//! Target of traces with streams of accelerators (site.md, 6.4).

use crate::bench::Bench;
use crate::targets::{Outcome, Target, at_most};

pub(crate) const TARGETS: &[Target] = &[Target {
    name: "offload",
    what: "waits for streams, offload 1,000 × 4 streams × 5,000 events, a core",
    wanted: "≤ 40 ns/event more",
    measure: more_time,
}];

/// Nothing beyond waits: what root causes and details cost depends on how many waits there are.
const WAITS: [&str; 5] = ["--no-root-causes", "--details", "none", "--structure", "none"];

/// Runs in turn with the semantics of the reference, which takes streams for threads that call kernels, so that both meet the same
/// machine and the same events. It has neither details nor a structure.
fn more_time(bench: &Bench) -> Outcome {
    let trace = bench.trace("offload", 1000, 5000)?;
    let [mut without, mut with] = [f64::INFINITY; 2];
    for _ in 0..5 {
        let reference = ["--semantics", "reference", "--no-root-causes"];
        without = without.min(bench.seconds(&trace, 1, &reference, 1)?);
        with = with.min(bench.seconds(&trace, 1, &WAITS, 1)?);
    }
    at_most((with - without) * 1e9 / trace.events as f64, 40.0, "ns/event")
}
