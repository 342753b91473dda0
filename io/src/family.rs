//! Similar phases, of which one characterisation serves all (io.md 4.6), and which of them matter (io.md 4.7).

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::numbers::{count, sum, to_f64};
use crate::origin::{Origin, over_occurrences};
use crate::phase::Phase;
use crate::ranks::Ranges;

/// Phases with equal family of files, pattern, cluster of sizes, ranks that move data, repetitions and mode.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Family {
    /// Numbers of its phases, from 1 on.
    pub numbers: Ranges,
    /// Number of the first of them.
    pub first: u64,
    /// Number of the last of them.
    pub last: u64,
    /// How many there are.
    pub count: u64,
    /// Bytes moved.
    pub weight: u64,
    /// Sum of T_MD in ticks of the clock.
    pub time: u64,
    /// From the first begin to the last end, in ticks of the clock.
    pub window: u64,
    /// Mean distance of begins in ticks of the clock, of more than one.
    pub period: Option<u64>,
    /// Where ranks begin in what they see, over all occurrences.
    pub view: Origin,
    /// Where ranks begin in the file, over all occurrences.
    pub file: Origin,
    /// Where ranks would begin if their bytes lay side by side and occurrences one behind the other.
    pub dense: Origin,
}

impl Family {
    /// Its first phase among all phases of a run.
    pub fn example<'a>(&self, phases: &'a [Phase]) -> Option<&'a Phase> {
        phases.get(usize::try_from(self.first).ok()?.checked_sub(1)?)
    }

    /// Its phases among all phases of a run.
    pub fn phases<'a>(&self, phases: &'a [Phase]) -> impl Iterator<Item = &'a Phase> {
        let numbers = self.numbers.0.clone().into_iter().flat_map(|(first, last)| first..=last);
        numbers.filter_map(|number| phases.get(usize::try_from(number).ok()?.checked_sub(1)?))
    }

    /// Whether it takes at least a share of the time of the run in ticks, or moves such a share of all bytes (io.md 4.7).
    pub fn is_relevant(&self, share: f64, run: u64, bytes: u64) -> bool {
        let has = |part: u64, all: u64| part > 0 && to_f64(part) >= share * to_f64(all);
        has(self.time, run) || has(self.weight, bytes)
    }
}

/// The families of all phases of a run, which are in the order of their begin; in the order of their first phases.
pub fn families(phases: &[Phase]) -> Vec<Family> {
    let mut at = FxHashMap::default();
    let mut groups: Vec<Vec<(u64, &Phase)>> = Vec::new();
    for (number, phase) in (1..).zip(phases) {
        let key = &phase.key;
        let kind = (&key.family, &key.pattern, key.residue, key.cluster, phase.np, phase.rep, phase.mode);
        let group = *at.entry(kind).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push((number, phase));
    }
    groups.iter().filter_map(|group| family(group)).collect()
}

fn family(group: &[(u64, &Phase)]) -> Option<Family> {
    let ((first, example), (last, latest)) = (*group.first()?, *group.last()?);
    let members = || group.iter().map(|(_, phase)| *phase);
    let begin = members().map(|phase| phase.begin).min()?;
    let end = members().map(|phase| phase.end).max()?;
    let is_equal = members().all(|phase| phase.ranks == example.ranks);
    let origin = |which: fn(&Phase) -> Origin| {
        if is_equal { over_occurrences(members().map(which)) } else { Origin::Irregular }
    };
    let mut before = 0_u64;
    let dense = over_occurrences(members().map(|phase| {
        let start = before;
        before = before.saturating_add(phase.weight);
        match phase.dense {
            Origin::Linear { rank, .. } => Origin::Linear { start, rank, occurrence: 0 },
            other => other,
        }
    }));
    let distances = count(group.len()) - 1;
    Some(Family {
        numbers: Ranges::of(group.iter().map(|(number, _)| *number)),
        first,
        last,
        count: count(group.len()),
        weight: sum(members().map(|phase| phase.weight)),
        time: sum(members().map(|phase| phase.time)),
        window: end.saturating_sub(begin),
        period: latest.begin.saturating_sub(example.begin).checked_div(distances),
        view: origin(|phase| phase.view),
        file: origin(|phase| phase.file),
        dense,
    })
}
