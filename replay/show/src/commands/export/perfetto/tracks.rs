//! Tracks: their numbers, and how they are nested.

use super::messages::{CounterDescriptor, EXPLICIT, MERGE_NONE, TrackDescriptor};
use crate::commands::export::events::{Events, Series, What};
use crate::commands::export::source::Source;
use crate::commands::export::text::name;

/// Numbers of tracks: a kind, and a position.
const ROOT: u64 = 1;
/// The critical path.
pub(super) const CRITICAL: u64 = 2;

fn node(node: usize) -> u64 {
    1 << 40 | node as u64
}

fn process(process: usize) -> u64 {
    2 << 40 | process as u64
}

/// The calls of a location.
pub(super) fn location(location: usize) -> u64 {
    3 << 40 | location as u64
}

/// The waits of a location.
pub(super) fn waits(location: usize) -> u64 {
    4 << 40 | location as u64
}

/// A counter.
pub(super) fn counter(counter: usize) -> u64 {
    5 << 40 | counter as u64
}

fn track(uuid: u64, title: &str, parent: Option<u64>, order: usize) -> TrackDescriptor {
    TrackDescriptor {
        uuid: Some(uuid),
        name: Some(name(title)),
        parent_uuid: parent,
        child_ordering: Some(EXPLICIT),
        sibling_order_rank: Some(i32::try_from(order).unwrap_or(i32::MAX)),
        sibling_merge_behavior: Some(MERGE_NONE),
        counter: None,
    }
}

/// The tracks of everything that has events, parents first.
pub(super) fn descriptors(
    source: &Source<'_>,
    events: &Events,
    series: &[Series],
    has_critical: bool,
) -> Vec<TrackDescriptor> {
    let cube = source.cube();
    let mut has_events = vec![false; events.places.len()];
    let mut has_waits = has_events.clone();
    for event in &events.events {
        has_events[event.location] = true;
        has_waits[event.location] |= matches!(event.what, What::WaitBegin(_));
    }
    let mut has_node = vec![false; cube.system_tree_nodes.len()];
    let mut has_process = vec![false; cube.location_groups.len()];
    let mut all = vec![track(ROOT, "ranks", None, 1)];
    if has_critical {
        all.push(track(CRITICAL, "critical path", None, 0));
    }
    let mut add_node = |at: usize, all: &mut Vec<TrackDescriptor>| {
        if let Some(is_there) = has_node.get_mut(at).filter(|is_there| !**is_there) {
            *is_there = true;
            all.push(track(node(at), &cube.system_tree_nodes[at].name, Some(ROOT), at));
        }
    };
    for (at, series) in series.iter().enumerate() {
        let parent = series.node.map(node);
        if let Some(at) = series.node {
            add_node(at, &mut all);
        }
        all.push(TrackDescriptor {
            counter: Some(CounterDescriptor { unit_name: Some(series.unit.to_owned()) }),
            child_ordering: None,
            ..track(counter(at), series.name, parent, 0)
        });
    }
    for (at, place) in events.places.iter().enumerate().filter(|(at, _)| has_events[*at]) {
        add_node(place.node, &mut all);
        if let Some(is_there) = has_process.get_mut(place.process).filter(|is_there| !**is_there) {
            *is_there = true;
            let parent = Some(node(place.node));
            all.push(track(process(place.process), &place.process_name, parent, place.process + 1));
        }
        all.push(track(location(at), &place.thread_name, Some(process(place.process)), at));
        if has_waits[at] {
            all.push(track(waits(at), "waits", Some(location(at)), 0));
        }
    }
    all
}
