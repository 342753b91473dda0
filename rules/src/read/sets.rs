//! What files change of rules: `[set."sync/barrier"]`.

use std::collections::{BTreeMap, BTreeSet};

use super::Known;
use super::raw::{FINDS, MOST_LETS, RawFile, RawSet};
use crate::source::{Problems, Text, quoted};
use crate::suggest::suggestion;

/// Changes rules. Two files may change the same rule, but not the same key of it: their order has no meaning.
pub(super) fn apply(files: &[RawFile], rules: &mut BTreeMap<String, Known>, problems: &mut Problems) {
    let mut was_set = BTreeSet::new();
    for set in files.iter().flat_map(|file| &file.sets) {
        if problems.is_full() {
            return;
        }
        let Some(known) = rules.get_mut(&set.id.text) else {
            let hint = suggestion(&set.id.text, rules.keys().map(String::as_str));
            problems.add(set.id.start(), format!("unknown rule {}{hint}", quoted(&set.id.text)));
            continue;
        };
        for key in keys(set) {
            if !was_set.insert((set.id.text.clone(), key.clone())) {
                let message = format!("{key} of {} is set twice", quoted(&set.id.text));
                problems.add(set.id.start(), message);
            }
        }
        change(set, known);
        if known.raw.lets.len() > MOST_LETS {
            let message = format!("more than {MOST_LETS} names in `let` of {}", quoted(&set.id.text));
            problems.add(set.id.start(), message);
        }
    }
}

/// What a set changes.
fn keys(set: &RawSet) -> Vec<String> {
    let has = |key: &str, is_there: bool| is_there.then(|| key.to_owned());
    let fixed = [
        has("off", set.is_off.is_some()),
        has("where", set.filter.is_some()),
        has("protects", set.protects.is_some()),
        has("finds.shows", set.shows.is_some()),
    ];
    let mut keys: Vec<String> = fixed.into_iter().flatten().collect();
    keys.extend(set.lets.iter().map(|(name, _)| format!("let.{}", name.text)));
    keys.extend(set.finds.keys().map(|key| format!("finds.{key}")));
    keys.extend(set.limits.iter().map(|(name, _)| format!("when.{}", name.text)));
    keys
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
