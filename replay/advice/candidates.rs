//! Candidates: groups that fulfil a rule, each with what bounds its gain and what is to be replayed.

use std::cmp::Reverse;

use model::Ticks;
use rules::{Claims, Finding, Gain, Outcome, Place, Rule, Rules, Shown};

use super::Bounds;
use super::culprits::Culprit;
use super::names::numbered;
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
    pub title: String,
    pub text: String,
    /// Further values that the rule shows.
    pub evidence: Vec<Shown>,
    pub severity: f64,
    pub most: Ticks,
    pub by: &'static str,
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
        rules: &Rules,
        outcome: Outcome,
        (bounds, culprits): (&Bounds, &[Culprit]),
    ) -> Vec<Candidate> {
        let mut findings = outcome.findings;
        findings.sort_by(|one, other| {
            one.rule.cmp(&other.rule).then_with(|| other.severity.total_cmp(&one.severity))
        });
        let mut all: Vec<Candidate> = findings
            .chunk_by(|one, other| one.rule == other.rule)
            .flat_map(|of_rule| of_rule.iter().take(OF_RULE))
            .filter_map(|finding| Candidate::of(tools, paths, rules, finding, (bounds, culprits)))
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
        rules: &Rules,
        finding: &Finding,
        (bounds, culprits): (&Bounds, &[Culprit]),
    ) -> Option<Candidate> {
        let rule = &rules.rules()[finding.rule];
        let path = numbered(paths, finding.change?)?;
        let scenario = match rule.scenario() {
            Some(scenario) => {
                let place = match scenario.place {
                    Some(Place::Key(key)) => numbered(paths, finding.keys[key])?,
                    _ => path,
                };
                let change = change(&scenario.word, words(tools, paths, place), &scenario.rest).ok()?;
                Some(Scenario::of_change(change))
            }
            None => None,
        };
        let balance =
            || culprits.iter().find(|it| it.path == path).map_or(bounds.run, |it| it.balance.max(0));
        let (most, by) = match rule.gain() {
            Some(Gain::Work) if balance() <= bounds.conserve => (balance(), "path"),
            Some(Gain::Work | Gain::Phase) => (bounds.conserve, "conserve"),
            // No rank waits longer on the way to the end than all of them together.
            Some(Gain::Calls) => (ticks(finding.severity), "calls"),
            Some(Gain::Edges) if rule.claims() == Claims::Waits && ticks(finding.severity) < bounds.wait => {
                (ticks(finding.severity), "edges")
            }
            Some(Gain::Edges | Gain::Order) | None => (bounds.wait, "wait"),
            Some(Gain::Value) => (ticks(finding.gain?), "rule"),
        };
        Some(Candidate {
            rule: rule.id().to_owned(),
            library: rule.library().map(str::to_owned),
            refines: rule.refines().to_vec(),
            path,
            title: finding.title.clone(),
            text: finding.advice.clone(),
            evidence: finding.shows.clone(),
            severity: finding.severity,
            most: most.min(bounds.run),
            by,
            model: finding.confidence.unwrap_or(MODEL),
            scenario,
        })
    }

    /// Whether it may save a hundredth of the run, and is a hundredth of all time (advice 3.2).
    #[expect(clippy::cast_precision_loss)]
    fn is_worth(&self, bounds: &Bounds) -> bool {
        self.most >= bounds.run / 100 && self.severity >= bounds.all as f64 / 100.0
    }
}

/// Whole ticks of a number.
#[expect(clippy::cast_possible_truncation)]
pub(super) fn ticks(number: f64) -> Ticks {
    number as Ticks
}

/// The names of a call path with slashes between them, without that of the program: processes may have it under other names.
fn words(tools: &Tools<'_>, paths: &ReportPaths, path: ReportPath) -> String {
    let from_inside = std::iter::successors(Some(path), |&path| paths.parent(path));
    let mut names: Vec<&str> = from_inside.map(|path| tools.trace.region_name(paths.region(path))).collect();
    if names.len() > 1 {
        names.pop();
    }
    names.reverse();
    names.join("/")
}

/// The change that a rule names.
///
/// # Errors
/// The word that is none.
fn change(word: &str, path: String, rest: &str) -> Result<Change, String> {
    let wrong = |expected: &str| format!("scenario \"{word}\" with \"{rest}\", expected {expected}");
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
pub(super) fn problem(rule: &Rule) -> Option<String> {
    if !matches!(rule.change(), Some(Place::Key(_) | Place::Most(_))) {
        return Some(format!(
            "rule {}: no place to change, expected change = with a call path of the table",
            rule.id()
        ));
    }
    let scenario = rule.scenario()?;
    let wrong = change(&scenario.word, String::new(), &scenario.rest).err()?;
    Some(format!("rule {}: {wrong}", rule.id()))
}
