//! What rules over operations cost (advice 5.3 and 8.7).

use std::fmt::Write;

use replay::advice::rules;

use crate::bench::Bench;
use crate::targets::{Outcome, Target};

pub(crate) const TARGETS: &[Target] = &[Target {
    name: "rules",
    what: "all rules of the program, 1,000,000 messages, stencil, a core",
    wanted: "≤ 10 % of the analysis",
    measure: share,
}];

/// Events of each of four ranks with a million messages.
const EVENTS: u64 = 2_420_000;

/// The share of an analysis that looks for advice, but replays nothing, which it does not take without the rules.
fn share(bench: &Bench) -> Outcome {
    let trace = bench.trace("stencil", 4, EVENTS)?;
    let mut off = String::from("format = 1\n");
    for rule in rules(&[])?.rules() {
        write!(off, "[set.\"{}\"]\noff = true\n", rule.id())?;
    }
    let file = bench.file("off.toml", &off)?;
    let all = ["--advice", "--advice-from", "100"];
    let none = [&all[..], &["--rules", &file]].concat();
    let [mut with, mut without] = [f64::INFINITY; 2];
    for _ in 0..5 {
        with = with.min(bench.seconds(&trace, 1, &all, 1)?);
        without = without.min(bench.seconds(&trace, 1, &none, 1)?);
    }
    let share = 1.0 - without / with;
    Ok((format!("{:.1} %", 100.0 * share), share <= 0.1))
}
