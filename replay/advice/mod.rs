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
mod tables;

use model::Ticks;

use crate::causes::ComparedWork;
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::results::Results;
use crate::tools::Tools;
use crate::walk::WalkedProcess;
use crate::what_if::{Scenario, TimedGraph};
use rules::{Rules, Shown};

pub use bounds::Bounds;
use candidates::Candidate;
pub use evidence::Evidence;
pub use shipped::{check, print, rules};
use sums::PathSums;
use tables::Tables;

/// What is advised, best first.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// What bounds all gains.
    pub bounds: Bounds,
    /// Each by itself.
    pub list: Vec<Advised>,
    /// Rules that could not be judged, and why.
    pub not_evaluated: Vec<(String, String)>,
    /// What all that was replayed saves together, in ticks; `None` without two.
    pub together: Option<Ticks>,
}

/// A change that is advised.
#[derive(Clone, PartialEq, Debug)]
pub struct Advised {
    /// The rule, `PREFIX/NAME`.
    pub rule: String,
    /// The library that the rule's file is about.
    pub library: Option<String>,
    /// The place to change.
    pub path: ReportPath,
    /// What is the matter.
    pub title: String,
    /// What to do.
    pub text: String,
    /// Further values that the rule shows.
    pub evidence: Vec<Shown>,
    /// What it saves at most, in ticks, and by which bound.
    pub most: Ticks,
    /// Which bound that is.
    pub by: &'static str,
    /// What it saves, as replayed, in ticks; `None` if it cannot be replayed.
    pub expected: Option<Ticks>,
    /// Waiting, or time of calls, that it explains, in ticks over all locations.
    pub severity: f64,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// What was replayed.
    pub scenario: Option<Scenario>,
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
    pub scenario: Option<Scenario>,
}

/// What is known when advice is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Known<'k> {
    /// The timed graph.
    pub timed: &'k TimedGraph,
    /// All rules.
    pub rules: &'k Rules,
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
    exchange: &mut dyn Exchange,
) -> Result<Advice, Error> {
    let schema = schema::schema();
    let rules = known.rules;
    let bounds = Bounds::find(tools, known, exchange)?;
    let work = sums::work(tools, known);
    let sums = PathSums::find(known, &work, exchange)?;
    let culprits = culprits::find(known, (&work, &sums), bounds.ranks, exchange)?;
    let run = bounds.facts(tools);
    let names = names::ReportNames { trace: tools.trace, paths: known.paths };
    let mut totals = rules.totals();
    let tables = Tables { rules, schema: &schema, run: &run, names: &names };
    places::scan(tools, known, tables, &mut totals);
    evidence.scan(tools, (known, &bounds), tables, &mut totals, exchange)?;
    if exchange.worker() == 0 {
        let masters = known.timed.master_ranks();
        culprits::scan(known.paths, (&culprits, &masters), tables, &mut totals);
    }
    let mut all = rules.totals();
    for words in share(exchange, totals.to_words())? {
        match rules.totals_from_words(&words) {
            Ok(totals) => all.merge(totals),
            Err(malformed) => unreachable!("{malformed}"),
        }
    }
    let outcome = tables.evaluate(&all);
    let too_many = outcome.with_too_many_groups.iter().map(|&rule| (rule, "too many groups".to_owned()));
    let unjudged = outcome.not_evaluated.iter().map(|it| (it.rule, it.reason.clone())).chain(too_many);
    let unjudged = unjudged.map(|(rule, why)| (rules.rules()[rule].id().to_owned(), why)).collect();
    let candidates = Candidate::all(tools, known.paths, rules, outcome, (&bounds, &culprits));
    let advice = choose::choose(tools, known, candidates, &bounds, exchange)?;
    Ok(Advice { not_evaluated: unjudged, ..advice })
}
