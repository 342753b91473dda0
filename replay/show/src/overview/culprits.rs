//! Actions of culprits: those of one call path and kind are one, and name all their places.

use cubex::CnodeId;
use details::manifest::{Culprit, Part};

use super::actions::{Action, Kind, id, pattern_of_words};
use super::findings::is_analysed;
use crate::error::Result;
use crate::opened::Opened;
use crate::output::numbers;
use crate::values::Values;
use crate::{paths, unrecorded};

/// An action for each culprit of the manifest, those of one call path and kind joined; `None` without a manifest.
///
/// # Errors
/// If values cannot be read.
pub fn culprits(opened: &Opened, values: &Values<'_>) -> Result<Option<Vec<Action>>> {
    let Some(manifest) = &opened.manifest else { return Ok(None) };
    let (summary, is_analysed) = (&manifest.summary, is_analysed(opened));
    let mut groups: Vec<(String, Vec<&Culprit>)> = Vec::new();
    for culprit in &summary.culprits {
        let cnode = CnodeId(culprit.cnode as usize);
        // Nobody knows what was done while recording was off: there is nothing to do about it.
        if cnode.0 >= values.cube().cnodes.len() || unrecorded::is_off(values.cube(), cnode) {
            continue;
        }
        let id = id(values, kind(culprit), cnode);
        match groups.iter_mut().find(|(before, _)| *before == id) {
            Some((_, group)) => group.push(culprit),
            None => groups.push((id, vec![culprit])),
        }
    }
    let actions =
        groups.into_iter().filter_map(|(id, group)| action(values, id, &group, is_analysed).transpose());
    actions.collect::<Result<Vec<Action>>>().map(Some)
}

fn kind(culprit: &Culprit) -> Kind {
    let not_running = culprit.not_running.as_ref().map_or(0.0, |part| part.share);
    Kind::of(culprit.is_unexplained, culprit.more_work, not_running)
}

/// The action of culprits of one call path and kind, of which the first one costs most.
fn action(values: &Values<'_>, id: String, group: &[&Culprit], is_analysed: bool) -> Result<Option<Action>> {
    let Some((first, others)) = group.split_first() else { return Ok(None) };
    let cnode = CnodeId(first.cnode as usize);
    let function = paths::name(values.cube(), cnode);
    let kind = kind(first);
    let places: Vec<&str> = group.iter().map(|culprit| &*culprit.place).collect();
    let place = joined(&places);
    // What only the first one has is said of it alone.
    let (text, evidence) = if others.is_empty() {
        (kind.sentence(function, &place, first.more_work, is_analysed), evidence(first))
    } else {
        let seconds = group.iter().map(|it| format!("{}: {}", it.place, numbers::seconds(it.seconds)));
        let mut all = vec![seconds.collect::<Vec<_>>().join(", ")];
        let more = first.more_work.filter(|_| kind == Kind::Balance);
        let more = more.map(|more| format!("{} more work than the mean", numbers::percent(more)));
        all.extend(more.into_iter().chain(evidence(first)));
        if let Some(own) = all.get_mut(1) {
            *own = format!("of {}: {own}", first.place);
        }
        (kind.sentence(function, &place, None, is_analysed), all)
    };
    let victims = first.victims.as_ref().map(|part| part.text.as_str());
    let pattern = pattern_of_words(values, &first.kind, victims)?;
    Ok(Some(Action {
        id,
        kind: kind.name(),
        text,
        cnode,
        place,
        seconds: group.iter().map(|culprit| culprit.seconds).sum(),
        evidence,
        pattern,
        advice: kind.advice(pattern),
    }))
}

/// What shows that a place is a culprit, in words.
fn evidence(culprit: &Culprit) -> Vec<String> {
    let victims = culprit.victims.as_ref().map_or(String::new(), |part| format!(" {}", part_text(part)));
    let mut evidence = vec![format!("{}{victims}", culprit.kind)];
    evidence.extend(culprit.between.as_ref().map(part_text));
    if culprit.is_critical {
        evidence.push("on the critical path".into());
    }
    if let Some(counted) = &culprit.counted {
        evidence.push(format!("against the mean: {counted}"));
    }
    if let Some(part) = &culprit.not_running {
        let share = numbers::percent(part.share);
        evidence.push(format!("not running in {share} of its excess over the mean: {}", part.text));
    }
    evidence.extend(culprit.samples.clone());
    evidence
}

/// A part of costs; with its share where there is much else.
fn part_text(part: &Part) -> String {
    if part.share < 0.95 {
        format!("{} ({})", part.text, numbers::percent(part.share))
    } else {
        part.text.clone()
    }
}

/// Several places in words: ranks as one list, if all are listed; others one after the other.
fn joined(places: &[&str]) -> String {
    let ranks: Option<Vec<Vec<u32>>> = places.iter().map(|place| ranks(place)).collect();
    let Some(mut ranks) = ranks.map(|lists| lists.concat()).filter(|_| places.len() > 1) else {
        return places.join(", ");
    };
    ranks.sort_unstable();
    ranks.dedup();
    let neighbours = ranks.chunk_by(|one, next| one + 1 == *next).map(|run| match run {
        [only] => only.to_string(),
        [first, .., last] => format!("{first}–{last}"),
        [] => String::new(),
    });
    format!("ranks {}", neighbours.collect::<Vec<_>>().join(", "))
}

/// The ranks of a place such as `rank 3` or `ranks 1, 5–7`; `None` of another one, or if some are left out (`…`).
fn ranks(place: &str) -> Option<Vec<u32>> {
    /// More than any list in words has.
    const MOST: u32 = 1 << 16;
    let list = place.strip_prefix("ranks ").or_else(|| place.strip_prefix("rank "))?;
    let mut all = Vec::new();
    for part in list.split(", ") {
        let (first, last) = part.split_once('–').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last.checked_sub(first)? > MOST {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_become_one_list_if_all_are_listed() {
        assert_eq!(joined(&["rank 1", "rank 2", "rank 0"]), "ranks 0–2");
        assert_eq!(joined(&["ranks 0–2, 7", "rank 4", "ranks 8–9"]), "ranks 0–2, 4, 7–9");
        assert_eq!(joined(&["rank 3"]), "rank 3");
    }

    #[test]
    fn other_places_come_one_after_the_other() {
        assert_eq!(joined(&["rank 0 thread 2", "rank 1 thread 2"]), "rank 0 thread 2, rank 1 thread 2");
        let cut = "ranks 8, 12, 14–15, 25 … (328 ranks)";
        assert_eq!(joined(&["ranks 1–2", cut]), format!("ranks 1–2, {cut}"));
        assert_eq!(joined(&["ranks 0–4294967295", "rank 1"]), "ranks 0–4294967295, rank 1");
        assert_eq!(joined(&["ranks 5–1", "rank 1"]), "ranks 5–1, rank 1");
    }
}
