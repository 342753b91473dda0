//! Candidates: groups that fulfil a rule, each with what bounds its gain and what is to be replayed.

use std::cmp::Reverse;

use model::Ticks;
use rules::{Claims, Column, Finding, Gain, Objection, Outcome, Place, Rule, Rules, Schema, Shown, Type};

use super::Bounds;
use super::bounds::KNOWN_EARLY;
use super::culprits::Culprit;
use super::names::{numbered, words, words_alone};
use super::schema::is_early;
use super::sums::PathSums;
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::what_if::{Change, Scenario};

/// Groups of a rule that are looked at: those with the largest severity (advice 5.2).
const OF_RULE: usize = 16;

/// Candidates that are replayed.
const REPLAYED: usize = 15;

/// The model's confidence where a rule does not say.
const MODEL: f64 = 0.9;

/// What may be advised.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Candidate {
    pub rule: String,
    /// The library that the rule's file is about.
    pub library: Option<String>,
    /// Coarser rules.
    pub refines: Vec<String>,
    pub path: ReportPath,
    /// The rank of the group, if the rule has a group for each.
    pub rank: Option<i64>,
    pub title: String,
    pub text: String,
    /// Further values that the rule shows.
    pub evidence: Vec<Shown>,
    pub severity: f64,
    pub most: Ticks,
    pub by: &'static str,
    /// What it explains.
    pub claims: Claims,
    /// Whether what is replayed is a bound only, as it hangs on what the trace does not say.
    pub is_bound: bool,
    /// As the rule has it.
    pub model: f64,
    /// What is to be replayed; `None` if nothing of the model is changed by it, so that there is a bound only.
    pub scenario: Option<Scenario>,
}

impl Candidate {
    /// Of all findings of rules that can be replayed; those with the largest bounds.
    pub(super) fn all(
        tools: &Tools<'_>,
        paths: &ReportPaths,
        (rules, schema): (&Rules, &Schema),
        outcome: Outcome,
        (bounds, culprits, calls): (&Bounds, &[Culprit], &PathSums),
    ) -> Vec<Candidate> {
        let mut findings = outcome.findings;
        findings.sort_by(|one, other| {
            one.rule.cmp(&other.rule).then_with(|| other.severity.total_cmp(&one.severity))
        });
        let mut all: Vec<Candidate> = findings
            .chunk_by(|one, other| one.rule == other.rule)
            .flat_map(|of_rule| of_rule.iter().take(OF_RULE))
            .filter_map(|finding| {
                let rule = &rules.rules()[finding.rule];
                Candidate::of(tools, paths, (rule, schema), finding, (bounds, culprits, calls))
            })
            .filter(|candidate| candidate.is_worth(bounds))
            .collect();
        // What can be replayed comes first: bounds alone are coarse.
        all.sort_by_key(|it| {
            (it.scenario.is_none(), Reverse(it.most), Reverse(ticks(it.severity)), it.rule.clone(), it.path)
        });
        all.truncate(REPLAYED);
        all
    }

    fn of(
        tools: &Tools<'_>,
        paths: &ReportPaths,
        (rule, schema): (&Rule, &Schema),
        finding: &Finding,
        (bounds, culprits, calls): (&Bounds, &[Culprit], &PathSums),
    ) -> Option<Candidate> {
        let columns = columns(schema, rule);
        let path = numbered(paths, finding.change?)?;
        let scenario = match rule.scenario() {
            Some(scenario) => {
                let place = match scenario.place {
                    Some(Place::Key(key)) => numbered(paths, finding.keys[key])?,
                    _ => path,
                };
                // Work of a place is its own; calls are of what is called there, too.
                let names = match scenario.word.as_str() {
                    "balance" | "spread" | "quiet" => words_alone(tools, paths, place),
                    _ => words(tools, paths, place),
                };
                let change = change(&scenario.word, names, &scenario.rest).ok()?;
                Some(Scenario::of_change(change))
            }
            None => None,
        };
        // Without costs the critical path did not follow what waits for it, as where scans do.
        let culprit = culprits.iter().find(|it| it.path == path && it.sum.cost > 0);
        let balance = || culprit.map_or(bounds.run, |it| it.balance.max(0));
        let (most, by) = match rule.gain() {
            Some(Gain::Work) if balance() <= bounds.conserve => (balance(), "path"),
            Some(Gain::Work | Gain::Phase) => (bounds.conserve, "conserve"),
            Some(Gain::Calls) => (of_calls(tools, paths, (rule, columns, finding), (path, calls)), "calls"),
            Some(Gain::Edges) if rule.claims() == Claims::Waits && ticks(finding.severity) < bounds.wait => {
                (ticks(finding.severity), "edges")
            }
            Some(Gain::Edges | Gain::Order) | None => (bounds.wait, "wait"),
            Some(Gain::Value) => (ticks(finding.gain?), "rule"),
        };
        // What others wait for calls is explained by them as well.
        let waiting = match rule.claims() {
            Claims::Calls => calls.of(path).cost as f64 * share_of_calls(finding, path, calls),
            _ => 0.0,
        };
        Some(Candidate {
            rule: rule.id().to_owned(),
            library: rule.library().map(str::to_owned),
            refines: rule.refines().to_vec(),
            path,
            rank: rank(rule, columns, finding),
            title: finding.title.clone(),
            text: finding.advice.clone(),
            evidence: finding.shows.clone(),
            severity: finding.severity + waiting,
            most: most.min(bounds.run),
            by,
            claims: rule.claims(),
            is_bound: finding.is_bound && scenario.is_some(),
            model: finding.confidence.unwrap_or(MODEL),
            scenario,
        })
    }

    /// Whether it explains the time of calls, and not waiting.
    pub(super) fn is_of_calls(&self) -> bool {
        self.claims == Claims::Calls
    }

    /// Whether what is replayed is what to expect.
    pub(super) fn is_expected(&self) -> bool {
        self.scenario.is_some() && !self.is_bound
    }

    /// Whether its gain is close: it is replayed, or its bound is that of work or of calls, and not of waiting.
    pub(super) fn is_close(&self) -> bool {
        self.scenario.is_some() || matches!(self.claims, Claims::Costs | Claims::Calls)
    }

    /// Whether it may save enough, and is a hundredth of all time (advice 3.2).
    #[expect(clippy::cast_precision_loss)]
    fn is_worth(&self, bounds: &Bounds) -> bool {
        self.most >= bounds.least && self.severity >= bounds.all as f64 / 100.0
    }
}

/// What is saved at most if calls are left out: their time on the critical path (P, advice 3.1), of the call path to change and of the others
/// that the group is of, in the proportion of what is counted of it. Time of threads is not on the path: of it all that is counted.
fn of_calls(
    tools: &Tools<'_>,
    paths: &ReportPaths,
    (rule, columns, finding): (&Rule, &[Column], &Finding),
    (path, calls): (ReportPath, &PathSums),
) -> Ticks {
    if !tools.trace.is_mpi(paths.region(path)) {
        return ticks(finding.severity);
    }
    let keys = rule.by().iter().zip(&finding.keys).filter(|(column, _)| columns[**column].kind == Type::Path);
    let mut all: Vec<ReportPath> = keys.filter_map(|(_, &key)| numbered(paths, key)).chain([path]).collect();
    all.sort_unstable();
    all.dedup();
    let on_path = all.iter().map(|&path| calls.of(path).on_path).fold(0, Ticks::saturating_add);
    ticks(share_of_calls(finding, path, calls) * on_path as f64)
}

/// The columns of the table that a rule is over.
fn columns<'s>(schema: &'s Schema, rule: &Rule) -> &'s [Column] {
    &schema.tables[rule.over().table].columns
}

/// The part of the calls of a call path that is counted.
fn share_of_calls(finding: &Finding, path: ReportPath, calls: &PathSums) -> f64 {
    (finding.severity / calls.of(path).work.max(1) as f64).min(1.0)
}

/// The rank of a group, if it is one of its keys.
fn rank(rule: &Rule, columns: &[Column], finding: &Finding) -> Option<i64> {
    let key = rule.by().iter().position(|&column| columns[column].kind == Type::Rank)?;
    finding.keys.get(key).copied().filter(|&rank| rank != rules::ABSENT)
}

/// Whole ticks of a number.
#[expect(clippy::cast_possible_truncation)]
pub(super) fn ticks(number: f64) -> Ticks {
    number as Ticks
}

/// The change that a rule names.
///
/// # Errors
/// The word that is none.
fn change(word: &str, path: String, rest: &str) -> Result<Change, String> {
    let with = if rest.is_empty() { String::new() } else { format!(" with \"{rest}\"") };
    let wrong = |expected: &str| format!("scenario \"{word}\"{with}, expected {expected}");
    Ok(match word {
        "balance" => Change::Balance(path),
        "spread" => Change::Spread(path),
        "remove" => Change::Remove(path),
        "early-send" => Change::EarlySend(path),
        "arrival" => Change::Arrival(path),
        "progress" => Change::Progress(path),
        "posted" => Change::Posted(path),
        "overlap" => Change::Overlap(path),
        "quiet" => Change::Quiet(path),
        "split" => match rest.parse() {
            Ok(parts @ 2..=64) => Change::Split(path, parts),
            _ => return Err(wrong("2 to 64 parts, such as split=path:4")),
        },
        "eager" => match rest.parse() {
            Ok(bytes) => Change::Eager(Some(bytes)),
            Err(_) if rest == "all" => Change::Eager(None),
            Err(_) => return Err(wrong("all, or a number of bytes")),
        },
        _ => {
            return Err(wrong(
                "balance, spread, remove, early-send, arrival, progress, posted, overlap, quiet, split or eager",
            ));
        }
    })
}

/// What is wrong with a rule beyond its expressions: without a place, or with a scenario that is none, it would never be said.
pub(super) fn objection(rule: &Rule, schema: &Schema) -> Option<Objection> {
    let objection = |key: &'static str, message: String| Some(Objection { key, message });
    if !matches!(rule.change(), Some(Place::Key(_) | Place::Most(_))) {
        return objection(
            "change",
            "no place to change, expected change = with a call path of the table".to_owned(),
        );
    }
    let table = &schema.tables[rule.over().table].name;
    if let Some(&fact) = rule.facts_of_rows().iter().find(|fact| is_early(table) && **fact >= KNOWN_EARLY) {
        let message = format!(
            "run.{} is not known yet where rows of {table} are looked at, expected in when or another expression of groups",
            schema.run[fact].name
        );
        return objection("where", message);
    }
    let scenario = rule.scenario()?;
    if let Err(wrong) = change(&scenario.word, String::new(), &scenario.rest) {
        return objection("scenario", wrong);
    }
    let word = &scenario.word;
    match scenario.place {
        None if word != "eager" => {
            let message = format!(
                "scenario \"{word}\" without a place, expected {word}= with a call path of the table, such as {word}=path"
            );
            objection("scenario", message)
        }
        _ => None,
    }
}
