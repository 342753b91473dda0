//! Choice among candidates: the best first, and of the others those that still save something once it was followed.

use std::cmp::Reverse;

use model::Ticks;

use super::candidates::Candidate;
use super::{Advice, Advised, Also, Bounds, Known};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::findings::Findings;
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
    bounds: &Bounds,
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<Advice, Error> {
    let mut gains = |scenarios: &[Scenario]| -> Result<Vec<Option<Ticks>>, Error> {
        let asked = (known.processes, known.stretches);
        let run_times = known.timed.run_times_of(tools, asked, scenarios, findings, exchange)?;
        Ok(run_times.into_iter().map(|ticks| Some(bounds.run - ticks?)).collect())
    };
    let scenarios: Vec<Scenario> = candidates.iter().map(|it| it.scenario.clone()).collect();
    let of_all = gains(&scenarios)?;
        for (c, g) in candidates.iter().zip(&of_all) {
            eprintln!("{} {:?} most {} gain {g:?} {}", c.rule, c.path.index(), c.most, c.scenario);
        }
    }
    let least = bounds.run / 100;
    let mut left: Vec<Replayed> = candidates
        .into_iter()
        .zip(of_all)
        .filter_map(|(candidate, gain)| {
            let gain = gain.filter(|&gain| gain >= least && gain > 0)?;
            let confidence = confidence(&candidate, gain);
            (confidence >= SURE).then_some(Replayed { candidate, gain, confidence })
        })
        .collect();
    left.sort_by(|one, other| order(one).cmp(&order(other)));
    let mut list = Vec::new();
    while !left.is_empty() && list.len() < SHOWN {
        let at = finest(&left);
        let best = left.remove(at);
        let joint: Vec<Scenario> = left
            .iter()
            .map(|it| Scenario::together(&[&best.candidate.scenario, &it.candidate.scenario]))
            .collect();
        let (mut also, mut others) = (Vec::new(), Vec::new());
        for (it, together) in left.into_iter().zip(gains(&joint)?) {
            let more = together.map_or(it.gain, |together| together - best.gain);
            if is_explained(&it, more, least) { also.push(it) } else { others.push(it) }
        }
        left = others;
        list.push(advised(best, also));
    }
    let all: Vec<&Scenario> = list.iter().map(|it: &Advised| &it.scenario).collect();
    let together = match all.len() {
        0 | 1 => None,
        _ => gains(&[Scenario::together(&all)])?[0],
    };
    Ok(Advice { bounds: *bounds, list, together })
}

/// Best gain first, then what is severest, then by rule and call path.
fn order(it: &Replayed) -> (Reverse<Ticks>, Reverse<i64>, &str, crate::ids::ReportPath) {
    (
        Reverse(it.gain),
        Reverse(super::candidates::ordered(it.candidate.severity)),
        &it.candidate.rule,
        it.candidate.path,
    )
}

/// Which speaks first: the one with the best gain, or a finer one about the same that saves nearly as much.
fn finest(sorted: &[Replayed]) -> usize {
    let best = &sorted[0];
    let is_finer = |it: &Replayed| {
        it.candidate.refines.contains(&best.candidate.rule) && it.gain as f64 >= FINER * best.gain as f64
    };
    sorted.iter().position(is_finer).unwrap_or(0)
}

/// Whether what something saves more once another advice was followed is too little to be said by itself.
fn is_explained(it: &Replayed, more: Ticks, least: Ticks) -> bool {
    more < least || (more as f64) < LEFT * it.gain as f64
}

/// How sure it is (advice 3.2): a bound that is far above what the replay says is a reason for doubt.
fn confidence(candidate: &Candidate, gain: Ticks) -> f64 {
    candidate.model * (gain as f64 / candidate.most.max(1) as f64 + 0.5).min(1.0)
}

fn advised(best: Replayed, also: Vec<Replayed>) -> Advised {
    let Replayed { candidate, gain, confidence } = best;
    let of = |it: Replayed| Also {
        rule: it.candidate.rule,
        title: it.candidate.title,
        path: it.candidate.path,
        expected: it.gain,
        scenario: it.candidate.scenario,
    };
    Advised {
        rule: candidate.rule,
        path: candidate.path,
        title: candidate.title,
        text: candidate.text,
        most: candidate.most.max(gain),
        by: if gain > candidate.most { "replay" } else { candidate.by },
        expected: gain,
        severity: candidate.severity,
        confidence,
        scenario: candidate.scenario,
        also: also.into_iter().map(of).collect(),
    }
}
