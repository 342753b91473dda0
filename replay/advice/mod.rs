//! Advice: what to change first, where, and what that would save (`docs/advice.md`).
//!
//! ```text
//!   severities ─► sums ─► culprits ─┐
//!        └──────► places ───────────┼─► rules ─► candidates ─► replay ─► choose ─► advice
//!                          bounds ──┘
//! ```
//!
//! Waiting is evidence, never the gain: what a change saves is replayed, and bounded (advice 3.1).

mod bounds;
mod candidates;
mod choose;
mod culprits;
mod evidence;
mod names;
mod places;
mod schema;
mod shipped;
mod sums;

use model::Ticks;

use crate::causes::ComparedWork;
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::findings::Findings;
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::results::Results;
use crate::tools::Tools;
use crate::walk::WalkedProcess;
use crate::what_if::{Scenario, TimedGraph};

pub use bounds::Bounds;
use candidates::Candidate;
pub use evidence::Evidence;
use sums::PathSums;

/// What is advised, best first.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// What bounds all gains.
    pub bounds: Bounds,
    /// Each by itself.
    pub list: Vec<Advised>,
    /// The run time with all of it together, in ticks; `None` without two.
    pub together: Option<Ticks>,
}

/// A change that is advised.
#[derive(Clone, PartialEq, Debug)]
pub struct Advised {
    /// The rule, `PREFIX/NAME`.
    pub rule: String,
    /// The place to change.
    pub path: ReportPath,
    /// What is the matter.
    pub title: String,
    /// What to do.
    pub text: String,
    /// What it saves at most, in ticks, and by which bound.
    pub most: Ticks,
    /// Which bound that is.
    pub by: &'static str,
    /// What it saves, as replayed, in ticks.
    pub expected: Ticks,
    /// Waiting, or time of calls, that it explains, in ticks over all locations.
    pub severity: f64,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// What was replayed.
    pub scenario: Scenario,
    /// Other advice that this one makes worthless: rule, title, place, what it would save alone.
    pub also: Vec<Also>,
}

/// Advice that saves little once another one was followed.
#[derive(Clone, PartialEq, Debug)]
pub struct Also {
    /// The rule.
    pub rule: String,
    /// What is the matter.
    pub title: String,
    /// The place to change.
    pub path: ReportPath,
    /// What it would save by itself, in ticks.
    pub expected: Ticks,
    /// What was replayed.
    pub scenario: Scenario,
}

/// What is known when advice is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Known<'k> {
    /// The timed graph.
    pub timed: &'k TimedGraph,
    /// The processes of this worker, and their results with root causes.
    pub processes: &'k [WalkedProcess],
    /// Those results.
    pub results: &'k [Results],
    /// The call paths of the report.
    pub paths: &'k ReportPaths,
    /// What root causes have compared.
    pub stretches: &'k [ComparedWork],
}

/// Looks for advice; the same at all workers.
///
/// # Errors
/// If a worker failed.
pub fn find(
    tools: &Tools<'_>,
    known: Known<'_>,
    evidence: &Evidence,
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<Advice, Error> {
    let schema = schema::schema(tools.metrics);
    let rules = shipped::rules(&schema);
    let bounds = Bounds::find(tools, known, exchange)?;
    let sums = PathSums::find(tools, known, exchange)?;
    let culprits = culprits::find(tools, known, &sums, exchange)?;
        for c in &culprits {
            eprintln!("{} {c:?}", tools.trace.region_name(known.paths.region(c.path)));
        }
        eprintln!("{bounds:?}");
    }
    let run = bounds.facts(tools);
    let names = names::ReportNames { trace: tools.trace, paths: known.paths };
    let mut totals = rules.totals();
    places::scan(tools, known, (&rules, &schema, &run, &names), &mut totals);
    evidence.scan(tools, known, (&rules, &schema, &run, &names), &mut totals, exchange)?;
    if exchange.worker() == 0 {
        culprits::scan(known.paths, &culprits, (&rules, &schema, &run, &names), &mut totals);
    }
    let mut all = rules.totals();
    for words in share(exchange, totals.to_words())? {
        match rules.totals_from_words(&words) {
            Ok(totals) => all.merge(totals),
            Err(malformed) => unreachable!("{malformed}"),
        }
    }
    let context = rules::Context { run: &run, names: &names, cause: &|_, _| None };
    let outcome = rules.evaluate(&all, &context);
        for f in &outcome.findings {
            eprintln!("{} sev {} change {:?} {}", rules.rules()[f.rule].id(), f.severity, f.change, f.title);
        }
        for n in &outcome.not_evaluated {
            eprintln!("{n:?}");
        }
    }
    let candidates = Candidate::all(tools, known.paths, &rules, outcome, (&bounds, &culprits));
    choose::choose(tools, known, candidates, &bounds, findings, exchange)
}
