//! Simple phases: what one rank repeats on a file (io.md 4.3).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::access::{Access, Pointer};
use crate::burst::{Ended, Entry};
use crate::numbers::{distance, moved, sum, times};
use crate::repetition::{Repeat, Same, repeats};
use crate::sizes::{are_one, core};

/// How often a file was flushed among requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flushes {
    /// Never.
    #[default]
    None,
    /// Now and then.
    Some,
    /// Behind each request.
    Each,
}

/// Steps between requests that are equally far apart, behind each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Steps {
    /// From the first byte of a request to that of the next one, in bytes of the file.
    pub step: i64,
    /// From the first byte to the last one of the request before the step.
    pub length: u64,
    /// How many steps there are.
    pub count: u64,
}

/// All requests at one position of a pattern.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Lane {
    /// Bytes of the first request; of the largest one in residue.
    pub size: u64,
    /// Number of requests.
    pub requests: u64,
    /// Bytes of all requests.
    pub bytes: u64,
    /// Bytes of the smallest and of the largest request.
    pub least: u64,
    /// Bytes of the largest request.
    pub most: u64,
    /// Requests with holes: their last byte is farther from the first one than their size says.
    pub holes: u64,
    /// Whether offsets of requests are unknown.
    pub unknown: bool,
    /// Steps from each request to the next one, in their order.
    pub steps: Vec<Steps>,
}

impl Lane {
    /// Adds a request, from its first byte on if that is known; `before` is where the one before it begins, and its length.
    fn push(&mut self, size: u64, length: u64, before: &mut Option<(u64, u64)>, first: Option<u64>) {
        if self.requests == 0 {
            (self.size, self.least) = (size, size);
        }
        self.requests = self.requests.saturating_add(1);
        self.bytes = self.bytes.saturating_add(size);
        (self.least, self.most) = (self.least.min(size), self.most.max(size));
        self.holes = self.holes.saturating_add(u64::from(length > size));
        let Some(first) = first else {
            // What moves nothing is nowhere.
            self.unknown |= size > 0;
            return;
        };
        if let Some((from, length)) = before.replace((first, length)) {
            self.go(Steps { step: distance(from, first), length, count: 1 });
        }
    }

    /// Adds `more` requests that are like the last one and follow it equally far apart up to this one.
    fn repeat(&mut self, entry: &Entry, more: u64, last: u64, before: &mut Option<(u64, u64)>) {
        let Entry { size, length, .. } = *entry;
        self.requests = self.requests.saturating_add(more);
        self.bytes = self.bytes.saturating_add(size.saturating_mul(more));
        self.holes = self.holes.saturating_add(if length > size { more } else { 0 });
        self.go(Steps { step: entry.step(), length, count: more });
        *before = Some((last, length));
    }

    /// Adds steps behind the others.
    fn go(&mut self, next: Steps) {
        match self.steps.last_mut() {
            Some(last) if (last.step, last.length) == (next.step, next.length) => last.count += next.count,
            _ => self.steps.push(next),
        }
    }
}

/// A pattern that one rank repeats on a file without much communication in between. Ranks exchange these.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Simple {
    /// The rank.
    pub rank: u32,
    /// Number of the file.
    pub file: u32,
    /// Position among the simple phases of the rank on the file.
    pub number: u64,
    /// Number of the opening of the file by the rank, from 1 on.
    pub opening: u64,
    /// Ticks at the first operation (io.md 4.1).
    pub tick: u64,
    /// Epoch at the first operation (io.md 4.1).
    pub epoch: u64,
    /// Call path of the first operation.
    pub call_path: u32,
    /// What is repeated; all kinds of access, sorted, in residue.
    pub pattern: Vec<Access>,
    /// Whether it is the residue of a burst: small requests among those that move 99 % of the bytes.
    pub residue: bool,
    /// How often the pattern comes; 1 for residue.
    pub rep: u64,
    /// The requests by position of the pattern; all together in residue.
    pub lanes: Vec<Lane>,
    /// Where the first operation begins in what the rank sees of the file, in bytes.
    pub offset: Option<u64>,
    /// First byte of the first operation in the file.
    pub first: Option<u64>,
    /// Whether views are known. If not, offsets of what the rank sees stand for those in the file.
    pub is_view_known: bool,
    /// When the first operation began, in ticks of the clock.
    pub begin: u64,
    /// When all were complete, in ticks of the clock.
    pub end: u64,
    /// Sum of durations, in ticks of the clock.
    pub time: u64,
    /// Begin and end of each operation, if all are collective; empty else.
    pub instances: Vec<(u64, u64)>,
    /// How often the file was flushed in the burst.
    pub flushes: Flushes,
    /// What the opening says of itself.
    pub manner: Manner,
}

/// How a file was opened, as far as it matters for a line that reproduces what was done (io.md 4.8).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
pub struct Manner {
    /// Whether caches are avoided (`O_DIRECT`).
    pub direct: bool,
    /// Whether room was reserved before.
    pub preallocated: bool,
    /// Hints, `key=value;…`, sorted.
    pub hints: Option<String>,
}

impl Simple {
    /// Bytes moved.
    pub fn bytes(&self) -> u64 {
        sum(self.lanes.iter().map(|lane| lane.bytes))
    }

    /// Number of operations.
    pub fn operations(&self) -> u64 {
        sum(self.lanes.iter().map(|lane| lane.requests))
    }

    /// Bytes of the first request at each position of the pattern; of the largest one in residue.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> {
        self.lanes.iter().map(|lane| lane.size)
    }

    /// Bytes of the largest request of the pattern, by which it is clustered (io.md 4.4).
    pub(crate) fn largest(&self) -> u64 {
        self.sizes().max().unwrap_or(0)
    }

    /// Takes offsets as multiples of a size for each explicit access of a kind (io.md 3.3): the etype of an unknown view.
    pub(crate) fn scale(&mut self, factor: impl Fn(Access) -> u64) {
        let factors: Vec<u64> = self
            .pattern
            .iter()
            .map(|&it| if it.pointer == Pointer::Explicit { factor(it) } else { 1 })
            .collect();
        let Some(&leading) = factors.first() else { return };
        let mixed = self.residue && factors.iter().any(|&factor| factor != leading);
        for (lane, factor) in self.lanes.iter_mut().zip(&factors) {
            let by = i64::try_from(*factor).unwrap_or(i64::MAX);
            lane.steps.iter_mut().for_each(|it| it.step = it.step.saturating_mul(by));
            lane.unknown |= mixed;
        }
        self.offset = self.offset.and_then(|offset| times(offset, leading));
        self.first = self.first.and_then(|first| times(first, leading));
    }
}

/// Who does a burst, and how.
pub(crate) struct Source<'a> {
    pub rank: u32,
    pub file: u32,
    pub opening: u64,
    pub is_view_known: bool,
    pub manner: &'a Manner,
}

/// The simple phases of a burst: those of its core in their order, then the residue.
pub(crate) fn simple_phases(burst: Ended<'_>, source: &Source) -> Vec<Simple> {
    let (mut core, mut residue) = (Part::default(), Part::default());
    match core_sizes(burst.entries()) {
        None => {
            core = Part { entries: burst.entries().iter().collect(), instances: burst.instances().into() };
        }
        Some(sizes) => {
            let mut instances = burst.instances().iter();
            for entry in burst.entries() {
                let part = if sizes.contains(&entry.size) { &mut core } else { &mut residue };
                part.entries.push(entry);
                part.instances.to_mut().extend(instances.by_ref().take(collective(burst, entry)));
            }
        }
    }
    let mut list: Vec<Same> = Vec::new();
    for entry in &core.entries {
        let Some(access) = burst.access(entry) else { continue };
        match list.last_mut() {
            Some(last) if (last.access, last.size) == (access, entry.size) => last.count += entry.count(),
            _ => list.push(Same { access, size: entry.size, count: entry.count() }),
        }
    }
    let (mut entries, mut instances) = (&core.entries[..], &core.instances[..]);
    let mut made = Vec::new();
    for repeat in repeats(&list) {
        let (mut covered, mut number, mut all) = (0, 0, 0);
        while covered < repeat.length * repeat.times
            && let Some(next) = entries.get(number)
        {
            covered += next.count();
            all += collective(burst, next);
            number += 1;
        }
        let (own, own_instances) = (entries.split_at(number), instances.split_at(all.min(instances.len())));
        (entries, instances) = (own.1, own_instances.1);
        made.extend(simple(burst, source, (own.0, own_instances.0), Some(repeat)));
    }
    made.extend(simple(burst, source, (&residue.entries, &residue.instances), None));
    made
}

/// The sizes of the core; `None` if all are of it.
fn core_sizes(entries: &[Entry]) -> Option<BTreeSet<u64>> {
    let sizes = || entries.iter().map(|entry| entry.size);
    if are_one(sizes().min()?, sizes().max()?) {
        return None;
    }
    let mut bytes: BTreeMap<u64, u64> = BTreeMap::new();
    for same in entries.chunk_by(|one, other| one.size == other.size) {
        let all = bytes.entry(same[0].size).or_default();
        *all = all.saturating_add(sum(same.iter().map(|it| it.size.saturating_mul(it.count()))));
    }
    let core = core(&bytes);
    (core.len() < bytes.len()).then_some(core)
}

/// How many operations of an entry are collective.
fn collective(burst: Ended<'_>, entry: &Entry) -> usize {
    match burst.access(entry) {
        Some(access) if access.collective => usize::try_from(entry.count()).unwrap_or(usize::MAX),
        _ => 0,
    }
}

/// Entries of a burst, and begin and end of the collective operations among them.
#[derive(Default)]
struct Part<'a> {
    entries: Vec<&'a Entry>,
    instances: Cow<'a, [(u64, u64)]>,
}

/// A simple phase of entries of a burst, and of the collective operations among them, which repeats something, or is residue.
fn simple(
    burst: Ended<'_>,
    source: &Source,
    (entries, instances): (&[&Entry], &[(u64, u64)]),
    repeat: Option<Repeat>,
) -> Option<Simple> {
    let first = *entries.first()?;
    let moment = burst.moment(first)?;
    let positions = usize::try_from(repeat.map_or(1, |repeat| repeat.length)).unwrap_or(1).max(1);
    let mut lanes = vec![Lane::default(); positions];
    let mut before = vec![None; positions];
    let mut position = 0;
    for entry in entries {
        let (more, step) = (entry.count() - 1, i128::from(entry.step()));
        let place = |at: u64| entry.first.get().and_then(|first| moved(first, step * i128::from(at)));
        let mut push = |first| {
            lanes[position].push(entry.size, entry.length, &mut before[position], first);
            position = if position + 1 == positions { 0 } else { position + 1 };
        };
        push(entry.first.get());
        match place(more) {
            _ if more == 0 => {}
            Some(last) if positions == 1 => lanes[0].repeat(entry, more, last, &mut before[0]),
            _ => (1..=more).for_each(|at| push(place(at))),
        }
    }
    let pattern = if repeat.is_some() {
        let each = entries.iter().flat_map(|it| (0..it.count()).filter_map(|_| burst.access(it)));
        each.take(positions).collect()
    } else {
        lanes.iter_mut().for_each(|lane| lane.size = lane.most);
        let kinds: BTreeSet<Access> = entries.iter().filter_map(|it| burst.access(it)).collect();
        kinds.into_iter().collect::<Vec<_>>()
    };
    let is_collective = pattern.iter().all(|access| access.collective);
    Some(Simple {
        rank: source.rank,
        file: source.file,
        number: 0,
        opening: source.opening,
        tick: moment.tick,
        epoch: moment.epoch,
        call_path: moment.call_path,
        residue: repeat.is_none(),
        rep: repeat.map_or(1, |repeat| repeat.times),
        lanes,
        offset: first.offset.get(),
        first: first.first.get(),
        is_view_known: source.is_view_known,
        begin: entries.iter().map(|entry| entry.begin).min()?,
        end: entries.iter().map(|entry| entry.end).max()?,
        time: sum(entries.iter().map(|entry| entry.time())),
        flushes: match (burst.is_flushed(), entries.iter().all(|entry| entry.is_flushed)) {
            (_, true) => Flushes::Each,
            (true, false) => Flushes::Some,
            (false, false) => Flushes::None,
        },
        instances: if is_collective { instances.to_vec() } else { Vec::new() },
        pattern,
        manner: source.manner.clone(),
    })
}
