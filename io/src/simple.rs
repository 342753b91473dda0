//! Simple phases: what one rank repeats on a file (io.md 4.3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::access::{Access, Pointer};
use crate::burst::{Burst, Entry};
use crate::numbers::{distance, sum, times};
use crate::repetition::{Same, repeats};
use crate::sizes::core;

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
            let step = distance(from, first);
            match self.steps.last_mut() {
                Some(last) if (last.step, last.length) == (step, length) => last.count += 1,
                _ => self.steps.push(Steps { step, length, count: 1 }),
            }
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

    /// Bytes of the largest request of the pattern, by which it is clustered (io.md 4.4).
    pub(crate) fn largest(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.size).max().unwrap_or(0)
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
    pub is_view_known: bool,
    pub manner: &'a Manner,
}

/// The simple phases of a burst: those of its core in their order, then the residue.
pub(crate) fn simple_phases(burst: Burst, source: &Source) -> Vec<Simple> {
    let is_flushed = burst.is_flushed();
    let (entries, instances) = burst.finish();
    let mut bytes: BTreeMap<u64, u64> = BTreeMap::new();
    for entry in &entries {
        let all = bytes.entry(entry.first.size).or_default();
        *all = all.saturating_add(entry.first.size.saturating_mul(entry.count));
    }
    let core = core(&bytes);
    let mut instances = instances.into_iter();
    let timed = entries.into_iter().map(|entry| {
        let own = if entry.first.access.collective {
            usize::try_from(entry.count).unwrap_or(usize::MAX)
        } else {
            0
        };
        let instances = instances.by_ref().take(own).collect();
        (entry, instances)
    });
    let (core, residue): (Vec<Timed>, Vec<Timed>) =
        timed.partition(|(entry, _)| core.contains(&entry.first.size));
    let same =
        |(entry, _): &Timed| Same { access: entry.first.access, size: entry.first.size, count: entry.count };
    let list: Vec<Same> = core.iter().map(same).collect();
    let mut left = core.into_iter();
    let mut made = Vec::new();
    for repeat in repeats(&list) {
        let (mut covered, mut part) = (0, Vec::new());
        while covered < repeat.length * repeat.times
            && let Some(next) = left.next()
        {
            covered += next.0.count;
            part.push(next);
        }
        made.extend(simple(source, part, Some((repeat.length, repeat.times)), is_flushed));
    }
    made.extend(simple(source, residue, None, is_flushed));
    made
}

/// An entry, with begin and end of its operations if they are collective.
type Timed = (Entry, Vec<(u64, u64)>);

/// A simple phase of entries; of residue without length and number of repetitions.
fn simple(source: &Source, part: Vec<Timed>, repeat: Option<(u64, u64)>, is_flushed: bool) -> Option<Simple> {
    let first = part.first()?.0.first;
    let (length, rep) = repeat.unwrap_or((1, 1));
    let positions = usize::try_from(length).unwrap_or(1).max(1);
    let (mut pattern, mut lanes) = (Vec::new(), vec![Lane::default(); positions]);
    let mut before = vec![None; positions];
    let mut lane = 0;
    for (entry, _) in &part {
        if pattern.len() < positions || repeat.is_none() {
            pattern.extend((0..entry.count.min(length)).map(|_| entry.first.access));
        }
        let Entry { first: one, step, .. } = entry;
        for at in 0..entry.count {
            let first = one.first.and_then(|first| {
                crate::numbers::moved(first, i128::from(step.file.unwrap_or(0)) * i128::from(at))
            });
            lanes[lane].push(one.size, one.length, &mut before[lane], first);
            lane = (lane + 1) % positions;
        }
    }
    if repeat.is_none() {
        pattern.sort_unstable();
        pattern.dedup();
        lanes.iter_mut().for_each(|lane| lane.size = lane.most);
    } else {
        pattern.truncate(positions);
    }
    let entries = || part.iter().map(|(entry, _)| entry);
    let flushed = entries().all(|entry| entry.flushed == entry.count);
    let is_collective = pattern.iter().all(|access| access.collective);
    Some(Simple {
        rank: source.rank,
        file: source.file,
        number: 0,
        opening: first.opening,
        tick: first.tick,
        epoch: first.epoch,
        call_path: first.call_path,
        residue: repeat.is_none(),
        rep,
        lanes,
        offset: first.offset,
        first: first.first,
        is_view_known: source.is_view_known,
        begin: entries().map(|entry| entry.first.begin).min()?,
        end: entries().map(|entry| entry.end).max()?,
        time: sum(entries().map(|entry| entry.time)),
        flushes: match (flushed, is_flushed) {
            (true, _) => Flushes::Each,
            (false, true) => Flushes::Some,
            (false, false) => Flushes::None,
        },
        instances: if is_collective {
            part.iter().flat_map(|(_, own)| own.iter().copied()).collect()
        } else {
            Vec::new()
        },
        pattern,
        manner: source.manner.clone(),
    })
}
