//! Advice of runs: which one side has and the other one does not. The same advice is of one rule at one call path.

use details::advice::{AdviceFile, Advised};
use rustc_hash::FxHashSet;

use super::reading::Reading;
use super::side::Side;
use crate::overview::words;

/// A change that is advised.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// The rule.
    pub rule: String,
    /// The call path, as the summary of the analysis names it.
    pub path: String,
    /// What is the matter.
    pub title: String,
    /// Seconds that it saves at most.
    pub most: f64,
    /// Seconds that it saves, as replayed; `None` if it could not be.
    pub expected: Option<f64>,
    /// What it saves, in words.
    pub gain: String,
}

impl Advice {
    /// What is the same in all runs of the same code.
    fn key(&self) -> (&str, &str) {
        (&self.rule, &self.path)
    }
}

/// Advice of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunAdvice {
    /// What the summary shows, the best first; empty if there is none, though it was looked for.
    pub list: Vec<Advice>,
    /// What it shows only if asked for all: neither new where another run shows it, nor gone.
    pub hidden: Vec<Advice>,
    /// The run that gains are shares of, in seconds.
    pub run: f64,
}

impl RunAdvice {
    /// That of a report.
    pub fn of(file: &AdviceFile) -> RunAdvice {
        let advice = |it: &Advised| Advice {
            rule: it.rule.clone(),
            path: it.place.path.clone(),
            title: it.title.clone(),
            most: it.gain.most,
            expected: it.gain.expected,
            gain: words::gain(file, it),
        };
        let (shown, hidden): (Vec<&Advised>, Vec<&Advised>) =
            file.advice.iter().partition(|it| it.hidden.is_none());
        RunAdvice {
            list: shown.into_iter().map(advice).collect(),
            hidden: hidden.into_iter().map(advice).collect(),
            run: file.run.seconds,
        }
    }
}

/// Advice of some run of a side, shown or not; `None` if it was not looked for in one of them.
fn known<'s>(side: &'s Side<'_>) -> Option<FxHashSet<(&'s str, &'s str)>> {
    let mut known = FxHashSet::default();
    for run in &side.runs {
        let advice = run.advice.as_ref()?;
        known.extend(advice.list.iter().chain(&advice.hidden).map(Advice::key));
    }
    Some(known)
}

/// How much advice each run of B has that A does not; `None` if it was not looked for in one of the runs.
pub fn counts_of_new(a: &Side<'_>, b: &Side<'_>) -> Option<Vec<usize>> {
    let known = known(a)?;
    let count = |run: &Reading<'_>| {
        let list = &run.advice.as_ref()?.list;
        Some(list.iter().filter(|it| !known.contains(&it.key())).count())
    };
    b.runs.iter().map(count).collect()
}

/// Advice of most runs of B that A does not have, in the order in which it was found; `None` likewise.
pub fn new_advice(a: &Side<'_>, b: &Side<'_>) -> Option<Vec<Advice>> {
    let known = known(a)?;
    let mut found: Vec<(Advice, usize)> = Vec::new();
    for run in &b.runs {
        for advice in run.advice.as_ref()?.list.iter().filter(|it| !known.contains(&it.key())) {
            match found.iter_mut().find(|(other, _)| other.key() == advice.key()) {
                Some((_, count)) => *count += 1,
                None => found.push((advice.clone(), 1)),
            }
        }
    }
    found.retain(|(_, count)| 2 * count > b.runs.len());
    Some(found.into_iter().map(|(advice, _)| advice).collect())
}
