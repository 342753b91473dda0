//! Choice among candidates: the best first, and of the others those that still save something once it was followed.

use std::cmp::Reverse;

use model::Ticks;

use super::candidates::{Candidate, ticks};
use super::{Advice, Advised, Also, Bounds, Hidden, Known, Trust};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::findings::Findings;
use crate::ids::ReportPath;
use crate::tools::Tools;
use crate::what_if::Scenario;

/// Advice that is shown at most.
const SHOWN: usize = 5;

/// A finer rule speaks in place of a coarser one from this share of its gain on (advice 3.3).
const FINER: f64 = 0.8;

/// What saves less than this share of its gain once the best was followed is explained by that.
const LEFT: f64 = 0.2;

/// The least confidence that is shown.
const SURE: f64 = 0.4;

/// A candidate with its gain.
#[derive(Clone, Debug)]
struct Replayed {
    candidate: Candidate,
    gain: Ticks,
    confidence: f64,
}

/// Replays all candidates, and chooses.
///
/// # Errors
/// If a worker failed.
pub(super) fn choose(
    tools: &Tools<'_>,
    known: Known<'_>,
    candidates: Vec<Candidate>,
    (bounds, trust): (&Bounds, &Trust),
    exchange: &mut dyn Exchange,
) -> Result<Advice, Error> {
    // What is odd about the graph was said when the standard set was replayed.
    let mut unreported = Findings::default();
    let mut gains = |scenarios: &[Scenario]| -> Result<Vec<Option<Ticks>>, Error> {
        let asked = (known.processes, known.stretches);
        let run_times = known.timed.run_times_of(tools, asked, scenarios, &mut unreported, exchange)?;
        Ok(run_times.into_iter().map(|ticks| Some(bounds.run - ticks?)).collect())
    };
    let asked = candidates.iter().filter_map(|it| it.scenario.clone());
    let mut of_all = gains(&asked.collect::<Vec<_>>())?.into_iter();
    let replayed = |candidate: Candidate| {
        let gain = match candidate.scenario {
            Some(_) => of_all.next().flatten()?,
            None => candidate.most,
        };
        let confidence = trust.of(candidate.is_of_calls()) * confidence(&candidate, gain);
        let least =
            if candidate.is_close() { bounds.least } else { bounds.least.max(bounds.run / BOUND_WORTH) };
        (gain >= least && gain > 0).then_some(Replayed { candidate, gain, confidence })
    };
    let mut left: Vec<Replayed> = candidates.into_iter().filter_map(replayed).collect();
    left.sort_by(|one, other| order(one).cmp(&order(other)));
    let (mut left, mut unsure): (Vec<_>, Vec<_>) = left.into_iter().partition(|it| it.confidence >= SURE);
    let mut list: Vec<Advised> = Vec::new();
    while !left.is_empty() {
        let is_same = |one: &Replayed, other: &Replayed| {
            let function = |it: &Replayed| known.paths.functions.of(it.candidate.path);
            one.candidate.rule == other.candidate.rule && function(one) == function(other)
        };
        let best = left.remove(finest(&left, is_same));
        // What is replayed is of the function, wherever in it ranks were.
        left.retain(|it| !is_same(it, &best) || !saves_nearly(it, &best));
        let joint = |it: &Replayed| {
            Some(Scenario::together(&[best.candidate.scenario.as_ref()?, it.candidate.scenario.as_ref()?]))
        };
        let asked: Vec<Option<Scenario>> = left.iter().chain(&unsure).map(joint).collect();
        let together = gains(&asked.iter().flatten().cloned().collect::<Vec<_>>())?;
        let mut together = together.into_iter();
        let mut is_said = |it: &Replayed, joint: Option<Scenario>| {
            let together = joint.and_then(|_| together.next().flatten());
            let more = together.map_or(it.gain, |together| together - best.gain);
            is_coarser(it, &best) || is_explained(it, more, bounds.least)
        };
        let (mut also, mut others) = (Vec::new(), Vec::new());
        let mut asked = asked.into_iter();
        for (it, joint) in left.into_iter().zip(asked.by_ref()) {
            if is_said(&it, joint) { also.push(it) } else { others.push(it) }
        }
        left = others;
        // What is not sure and saves nothing more is no advice at all.
        unsure = unsure
            .into_iter()
            .zip(asked)
            .filter_map(|(it, joint)| (!is_said(&it, joint)).then_some(it))
            .collect();
        let hidden = (list.len() >= SHOWN).then_some(Hidden::BeyondFive);
        list.push(Advised { hidden, ..advised(best, also) });
    }
    let expected = list.iter().take(SHOWN).filter(|it| it.expected.is_some());
    let all: Vec<&Scenario> = expected.filter_map(|it| it.scenario.as_ref()).collect();
    let together = match all.len() {
        0 | 1 => None,
        _ => gains(&[Scenario::together(&all)])?[0],
    };
    // What is not sure makes nothing else worthless.
    let unsure = unsure.into_iter().map(|it| advised(it, Vec::new()));
    list.extend(unsure.map(|it| Advised { hidden: Some(Hidden::LowConfidence), ..it }));
    let least_percent = known.least_percent;
    Ok(Advice { bounds: *bounds, trust: *trust, least_percent, list, not_evaluated: Vec::new(), together })
}

/// Best gain first, as replayed or at most, then what is severest, then by rule and call path (advice 3.3).
fn order(it: &Replayed) -> (Reverse<Ticks>, Reverse<i64>, &str, ReportPath) {
    (Reverse(it.gain), Reverse(ticks(it.candidate.severity)), &it.candidate.rule, it.candidate.path)
}

/// Which speaks first: the one with the best gain, or a finer one that saves nearly as much, at the same place or about as much waiting.
/// Of several places in one function, which save about the same by one rule, it is the severest.
fn finest(sorted: &[Replayed], is_same: impl Fn(&Replayed, &Replayed) -> bool) -> usize {
    let best = &sorted[0];
    let is_finer = |it: &Replayed| {
        it.candidate.refines.contains(&best.candidate.rule)
            && saves_nearly(it, best)
            && (it.candidate.path == best.candidate.path || it.candidate.severity >= best.candidate.severity)
    };
    let first = sorted.iter().position(is_finer).unwrap_or(0);
    let is_other =
        |(_, it): &(usize, &Replayed)| is_same(it, &sorted[first]) && saves_nearly(it, &sorted[first]);
    let others = sorted.iter().enumerate().filter(is_other);
    let severest =
        others.max_by(|one, other| one.1.candidate.severity.total_cmp(&other.1.candidate.severity));
    severest.map_or(first, |(at, _)| at)
}

/// Whether advice saves nearly as much as the best one.
fn saves_nearly(it: &Replayed, best: &Replayed) -> bool {
    it.gain as f64 >= FINER * best.gain as f64
}

/// Whether something says less about the same place than what refines it.
fn is_coarser(it: &Replayed, best: &Replayed) -> bool {
    best.candidate.refines.contains(&it.candidate.rule) && it.candidate.path == best.candidate.path
}

/// Whether what something saves more once another advice was followed is too little to be said by itself.
fn is_explained(it: &Replayed, more: Ticks, least: Ticks) -> bool {
    more < least || (more as f64) < LEFT * it.gain as f64
}

/// The part of the run that a bound has to be to be worth saying, where nothing was replayed: bounds are coarse.
const BOUND_WORTH: Ticks = 10;

/// What was not replayed is at most so sure.
const BOUND_ONLY: f64 = 0.6;

/// How sure it is of a trace that can be trusted (advice 3.2): a bound that is far above what the replay says is a reason for doubt.
fn confidence(candidate: &Candidate, gain: Ticks) -> f64 {
    let surest = if candidate.is_expected() { 1.0 } else { BOUND_ONLY };
    candidate.model.min(surest) * (gain as f64 / candidate.most.max(1) as f64 + 0.5).min(1.0)
}

fn advised(best: Replayed, also: Vec<Replayed>) -> Advised {
    let Replayed { candidate, gain, confidence } = best;
    // What is replayed as a bound is closer than the others, and may be above them where these are coarse.
    let is_by_replay = candidate.is_bound || gain > candidate.most;
    let (most, by) = if is_by_replay { (gain, "replay") } else { (candidate.most, candidate.by) };
    let expected = candidate.is_expected().then_some(gain);
    let of = |it: Replayed| Also {
        rule: it.candidate.rule,
        title: it.candidate.title,
        path: it.candidate.path,
        expected: it.gain,
        scenario: it.candidate.scenario,
    };
    Advised {
        rule: candidate.rule,
        library: candidate.library,
        path: candidate.path,
        rank: candidate.rank,
        title: candidate.title,
        text: candidate.text,
        evidence: candidate.evidence,
        most,
        by,
        expected,
        severity: candidate.severity,
        confidence,
        scenario: candidate.scenario,
        hidden: None,
        also: also.into_iter().map(of).collect(),
    }
}
