//! What files change of rules: `[set."sync/barrier"]`.

use std::collections::BTreeMap;

use super::Known;
use super::raw::{FINDS, MOST_LETS, RawFile, RawSet};
use crate::source::{Place, Problems, Source, Text, quoted};
use crate::suggest::suggestion;

/// Changes rules. Two files may change the same rule, but not the same key of it: their order has no meaning.
pub(super) fn apply(
    (sources, files): (&[Source], &[RawFile]),
    rules: &mut BTreeMap<String, Known>,
    problems: &mut Problems,
) {
    let mut was_set: BTreeMap<(String, String), usize> = BTreeMap::new();
    for set in files.iter().flat_map(|file| &file.sets) {
        if problems.is_full() {
            return;
        }
        let Some(known) = rules.get_mut(&set.id.text) else {
            let hint = suggestion(&set.id.text, rules.keys().map(String::as_str));
            problems.add(set.id.start(), format!("unknown rule {}{hint}", quoted(&set.id.text)));
            continue;
        };
        for (key, place) in keys(set) {
            if let Some(first) = was_set.insert((set.id.text.clone(), key.clone()), place.file) {
                let (id, file) = (quoted(&set.id.text), &sources[first].name);
                problems.add(place, format!("{key} of {id} is set twice, first in {file}"));
            }
        }
        change(set, known);
        if known.raw.lets.len() > MOST_LETS {
            let message = format!("more than {MOST_LETS} names in `let` of {}", quoted(&set.id.text));
            problems.add(set.id.start(), message);
        }
    }
}

/// What a set changes, and where it says so.
fn keys(set: &RawSet) -> Vec<(String, Place)> {
    let start = |texts: &Vec<Text>| texts.first().map_or(set.id.start(), Text::start);
    let fixed = [
        ("off", set.is_off.map(|_| set.id.start())),
        ("where", set.filter.as_ref().map(Text::start)),
        ("protects", set.protects.as_ref().map(start)),
        ("finds.shows", set.shows.as_ref().map(start)),
    ];
    let fixed = fixed.into_iter().filter_map(|(key, place)| Some((key.to_owned(), place?)));
    let lets = set.lets.iter().map(|(name, _)| (format!("let.{}", name.text), name.start()));
    let finds = set.finds.iter().map(|(key, text)| (format!("finds.{key}"), text.start()));
    let limits = set.limits.iter().map(|(name, _)| (format!("when.{}", name.text), name.start()));
    fixed.chain(lets).chain(finds).chain(limits).collect()
}

fn change(set: &RawSet, known: &mut Known) {
    known.is_off |= set.is_off == Some(true);
    let raw = &mut known.raw;
    replace(&mut raw.filter, set.filter.as_ref());
    replace(&mut raw.protects, set.protects.as_ref());
    for (name, text) in &set.lets {
        match raw.lets.iter_mut().find(|known| known.0.text == name.text) {
            Some(known) => known.1 = text.clone(),
            None => raw.lets.push((name.clone(), text.clone())),
        }
    }
    // Which file came first must not decide which name may use which.
    raw.lets[known.own_lets..].sort_by(|a, b| a.0.text.cmp(&b.0.text));
    for key in FINDS {
        if let Some(text) = set.finds.get(key) {
            raw.finds.insert(key, text.clone());
        }
    }
    if let Some(shows) = &set.shows {
        raw.shows.clone_from(shows);
    }
    raw.limits.extend(set.limits.iter().map(|(name, text): &(Text, Text)| (name.clone(), text.clone())));
}

fn replace<T: Clone>(old: &mut Option<T>, new: Option<&T>) {
    if let Some(new) = new {
        *old = Some(new.clone());
    }
}
