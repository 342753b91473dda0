//! What rules refine: known rules, and no cycles.

use std::collections::BTreeMap;

use super::{Known, place_of};
use crate::source::{Problems, quoted};
use crate::suggest::suggestion;

/// Checks what rules refine.
pub(super) fn check(rules: &BTreeMap<String, Known>, problems: &mut Problems) {
    for known in rules.values() {
        for refined in &known.raw.refines {
            if !rules.contains_key(&refined.text) && !problems.is_full() {
                let hint = suggestion(&refined.text, rules.keys().map(String::as_str));
                problems.add(refined.start(), format!("unknown rule {}{hint}", quoted(&refined.text)));
            }
        }
    }
    if let Some(cycle) = cycle(rules) {
        let message = format!("rules refine each other: {}", cycle.join(" > "));
        problems.add(place_of(&rules[cycle[0]]), message);
    }
}

/// Rules of which each refines the next one, and the last one is the first one again.
fn cycle(rules: &BTreeMap<String, Known>) -> Option<Vec<&str>> {
    let ids: Vec<&str> = rules.keys().map(String::as_str).collect();
    let next: Vec<Vec<usize>> = rules
        .values()
        .map(|known| {
            known.raw.refines.iter().filter_map(|refined| ids.binary_search(&refined.text.as_str()).ok())
        })
        .map(Iterator::collect)
        .collect();
    // Takes away what refines nothing that is left, until nothing or only what leads to a cycle is left.
    let mut is_left = vec![true; ids.len()];
    loop {
        let gone: Vec<usize> = (0..ids.len())
            .filter(|&rule| is_left[rule] && !next[rule].iter().any(|&refined| is_left[refined]))
            .collect();
        if gone.is_empty() {
            break;
        }
        gone.into_iter().for_each(|rule| is_left[rule] = false);
    }
    // What is left refines something that is left: going on, one comes back.
    let mut path = vec![is_left.iter().position(|&is_left| is_left)?];
    loop {
        let refined = *next[path[path.len() - 1]].iter().find(|&&refined| is_left[refined])?;
        if let Some(begin) = path.iter().position(|&rule| rule == refined) {
            // Named from its first rule by the alphabet, whichever was met first.
            let ring = &path[begin..];
            let first = (0..ring.len()).min_by_key(|&at| ring[at])?;
            return Some((0..=ring.len()).map(|at| ids[ring[(first + at) % ring.len()]]).collect());
        }
        path.push(refined);
    }
}
