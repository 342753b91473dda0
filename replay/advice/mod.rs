//! Advice: what to change first, where, and what that would save (`docs/advice.md`).
//!
//! ```text
//!   events     ─► visits, pairs ────────────────────────────┐
//!   operations ─► sends, receives, collectives, late sends, ┤
//!                 messages ─────────────────────────────────┤
//!   files      ─► operations on files ──────────────────────┤
//!   severities ─► sums ─► culprits ─────────────────────────┼─► rules ─► candidates ─► replay ─► choose ─► advice
//!        └──────► places                                    │
//!        └──────► bounds ───────────────────────────────────┘
//! ```
//!
//! Waiting is evidence, never the gain: what a change saves is replayed, and bounded (advice 3.1).

mod bounds;
mod by_node;
mod calls;
mod candidates;
mod choose;
mod collectives;
mod collector;
mod culprits;
mod event_counts;
mod files;
mod in_mpi;
mod instances;
mod late_sends;
mod masters;
mod messages;
mod names;
mod places;
mod reader;
mod received;
mod receives;
mod rounds;
mod schema;
mod sends;
mod sequence;
mod serial;
mod shipped;
mod sums;
mod table;
mod tables;
mod trust;
mod wanted;
mod when;

use model::Ticks;

use crate::causes::ComparedWork;
use crate::clock_errors::Doubtful;
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::findings::Findings;
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::results::Results;
use crate::tools::Tools;
use crate::walk::WalkedProcess;
use crate::what_if::{Scenario, TimedGraph};
use rules::{Context, Shown};

pub use bounds::Bounds;
use by_node::BY_NODE;
use calls::CALLS;
use candidates::Candidate;
pub use collector::Collector;
use culprits::{COMPARABLE_COLUMN, CULPRITS};
pub(crate) use files::reads_files;
use late_sends::LATE_SENDS;
use masters::MASTERS;
pub use shipped::{check, named, print, rules};
use sums::{PathSums, Which};
use tables::Tables;
pub use trust::Trust;
pub use wanted::{AdviceJson, AdviceOptions, WantedAdvice};

/// What is advised, best first: what is shown, then what is not.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// What bounds all gains.
    pub bounds: Bounds,
    /// What lowers all confidence.
    pub trust: Trust,
    /// The least gain that is advice, in per cent of the run.
    pub least_percent: f64,
    /// Each by itself.
    pub list: Vec<Advised>,
    /// Rules that could not be judged, and why.
    pub not_evaluated: Vec<(String, String)>,
    /// What all that is shown and was replayed saves together, in ticks; `None` without two.
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
    /// The rank, if the rule looks at each by itself.
    pub rank: Option<i64>,
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
    /// Why it is not shown unless all advice is asked for.
    pub hidden: Option<Hidden>,
    /// Other advice that this one makes worthless: rule, title, place, what it would save alone.
    pub also: Vec<Also>,
}

/// Why advice is not shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hidden {
    /// Others are better.
    BeyondFive,
    /// It is not sure enough.
    LowConfidence,
}

impl Hidden {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Hidden::BeyondFive => "beyond five",
            Hidden::LowConfidence => "low confidence",
        }
    }
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
    /// The processes of this worker, and their results with root causes.
    pub processes: &'k [WalkedProcess],
    /// Those results.
    pub results: &'k [Results],
    /// The call paths of the report.
    pub paths: &'k ReportPaths,
    /// What root causes have compared.
    pub stretches: &'k [ComparedWork],
    /// What was found so far beside the results.
    pub findings: &'k Findings,
    /// Waiting within the error of the clocks.
    pub doubtful: &'k Doubtful,
    /// The least gain, in per cent of the run.
    pub least_percent: f64,
}

/// Looks for advice; the same at all workers.
///
/// # Errors
/// If a worker failed.
pub fn find(
    tools: &Tools<'_>,
    known: Known<'_>,
    collector: Collector<'_>,
    exchange: &mut dyn Exchange,
) -> Result<Advice, Error> {
    let Collector { rules, schema, span, mut totals, late, counts, .. } = collector;
    let bounds = Bounds::find(tools, (known, span), exchange)?;
    let trust = Trust::find(tools, known, exchange)?;
    let work = sums::work(tools, known, Which::Work);
    let sums = PathSums::find(known, &work, exchange)?;
    let in_calls = sums::work(tools, known, Which::Calls);
    let calls = PathSums::find(known, &in_calls, exchange)?;
    let mut culprits = culprits::find(known, (&work, &sums), span, exchange)?;
    let waited_for = culprits::find(known, (&in_calls, &calls), span, exchange)?;
    let run = bounds.facts(tools, span);
    let names = names::ReportNames { trace: tools.trace, paths: known.paths };
    let tables = Tables { rules, schema: &schema, run: &run };
    places::scan(tools, known, (tables, &names), &mut totals);
    let late = late_sends::rows(tools, (known, bounds.run), &late, exchange)?;
    tables.add(&LATE_SENDS, &late, &names, &mut totals);
    let when = when::find(tools, (known, span), &culprits, exchange)?;
    let serial = serial::find(known.paths, (&work, &late), &culprits, exchange)?;
    let by_node = by_node::rows(tools, known, (&work, &sums, &culprits), exchange)?;
    let master_ranks = known.timed.master_ranks();
    let of_calls = calls::rows(known.paths, (&in_calls, &waited_for, &master_ranks), exchange)?;
    if exchange.worker() == 0 {
        let found = (&culprits[..], &when[..], &serial[..]);
        let rows = culprits::rows(tools, known.paths, found, &master_ranks);
        tables.add(&CULPRITS, &rows, &names, &mut totals);
        tables.add(&BY_NODE, &by_node, &names, &mut totals);
        tables.add(&CALLS, &of_calls, &names, &mut totals);
        tables.add(&MASTERS, &masters::rows(tools, known, bounds.ranks), &names, &mut totals);
    }
    let mut all = rules.totals();
    for words in share(exchange, totals.to_words())? {
        match rules.totals_from_words(&words) {
            Ok(totals) => all.merge(totals),
            Err(malformed) => unreachable!("{malformed}"),
        }
    }
    let mut outcome = rules.evaluate(&all, &Context { run: &run, names: &names, cause: &|_, _| None });
    let of_events = counts.of_all(exchange)?.judge(rules, &mut outcome);
    let too_many = outcome.with_too_many_groups.iter().map(|&rule| (rule, "too many groups".to_owned()));
    let unjudged = outcome.not_evaluated.iter().map(|it| (it.rule, it.reason.clone())).chain(too_many);
    let unjudged = unjudged.chain(of_events);
    let not_compared = culprits::not_compared(tools, known.paths, &culprits, bounds.all);
    let comparing = rules.reading(CULPRITS.name, COMPARABLE_COLUMN);
    let unjudged = unjudged.chain(comparing.filter_map(|rule| Some((rule, not_compared.clone()?))));
    let unjudged = unjudged.map(|(rule, why)| (rules.rules()[rule].id().to_owned(), why)).collect();
    // Gains of work that is shared are bounded by what that saves, be it outside of MPI or in calls.
    culprits.extend(waited_for);
    let candidates =
        Candidate::all(tools, known.paths, (rules, &schema), outcome, (&bounds, &culprits, &calls));
    let advice = choose::choose(tools, known, candidates, (&bounds, &trust), exchange)?;
    Ok(Advice { not_evaluated: unjudged, ..advice })
}
