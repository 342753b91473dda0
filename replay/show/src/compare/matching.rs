//! Matching: which call paths of two sides are the same part of the program.
//!
//! From both roots down: callees of matched callers match by name and paradigm; then those that were renamed, by what they
//! call and by similar names; then frames that are on one side only, such as inlined functions, are skipped. The rest is
//! new or gone. Exchanged sides give the mirrored result: no rule prefers a side.

use std::collections::{BTreeMap, BTreeSet};

use super::alignment::align;
use super::calls::Calls;
use super::similarity::{Similar, of_callees, similarity};

/// The least similarity of a function that was renamed, and how much more similar it has to be than any other one.
const LEAST: f64 = 0.7;
const AHEAD: f64 = 0.1;

/// Callees of each side that are looked at for new names: those with most time.
const CANDIDATES: usize = 256;

/// Pairs of call paths of one name that are looked at; of more, those are the same that have the same position.
const ALIGNED: usize = 1 << 14;

/// The programming model of functions that samples or call stacks have found.
const SAMPLING: &str = "sampling";

/// Frames in a row that are skipped.
const FRAMES: usize = 3;

/// A side of the comparison, as matching sees it. Positions are those of call paths.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'s> {
    /// The call paths.
    pub calls: &'s Calls,
    /// Normalised names.
    pub names: &'s [String],
    /// The line of the user's map that holds for a call path.
    pub mapped: &'s [Option<usize>],
    /// Exclusive time, in any unit.
    pub weights: &'s [f64],
}

/// Why two call paths match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// By name, or as roots.
    Same,
    /// As the user says.
    Mapped,
    /// By what they call, and similar names.
    Renamed,
    /// On one side only.
    Alone,
}

/// A call path of either side, or of both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// Position in A.
    pub a: Option<usize>,
    /// Position in B.
    pub b: Option<usize>,
    /// Why they match.
    pub way: Way,
}

/// The result of matching.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Matching {
    /// All pairs.
    pub pairs: Vec<Pair>,
    /// The pair of each call path of A, and of B; a skipped frame has that of its caller.
    pub of: [Vec<usize>; 2],
    /// Whether a call path of A, or of B, is a skipped frame.
    pub is_skipped: [Vec<bool>; 2],
    /// Whether a pair is a function, wherever it is called.
    pub is_by_region: bool,
}

impl Matching {
    /// Whether a call path of a side has a partner, or is skipped below one that has.
    pub fn is_matched(&self, side: usize, call: usize) -> bool {
        let pair = self.of[side].get(call).and_then(|&pair| self.pairs.get(pair));
        pair.is_some_and(|pair| pair.a.is_some() && pair.b.is_some())
    }
}

/// Matches the call paths of two sides; if it is strict, by name only.
pub fn by_path(a: Seen<'_>, b: Seen<'_>, is_strict: bool) -> Matching {
    let mut matcher = Matcher::new([a, b]);
    matcher.pair_singles();
    let roots =
        [a, b].map(|side| side.calls.forest.roots().iter().map(|&root| Candidate::new(root)).collect());
    matcher.match_level(roots, None, is_strict);
    while let Some((a, b, pair)) = matcher.open.pop() {
        let children = [(0, a), (1, b)].map(|(side, call)| matcher.children(side, call, 0));
        matcher.match_level(children, Some(pair), is_strict);
    }
    matcher.add_rest();
    matcher.result
}

/// Matches functions by name and paradigm, wherever they are called.
pub fn by_region(a: Seen<'_>, b: Seen<'_>) -> Matching {
    let mut pairs: BTreeMap<(&str, &str), Pair> = BTreeMap::new();
    let mut numbers = BTreeMap::new();
    for (side, seen) in [a, b].into_iter().enumerate() {
        for (at, call) in seen.calls.list.iter().enumerate() {
            let key = (seen.names[at].as_str(), call.paradigm.as_str());
            let pair = pairs.entry(key).or_insert(Pair { a: None, b: None, way: Way::Alone });
            let own = if side == 0 { &mut pair.a } else { &mut pair.b };
            own.get_or_insert(at);
            if pair.a.is_some() && pair.b.is_some() {
                pair.way = Way::Same;
            }
        }
    }
    for key in pairs.keys() {
        numbers.insert(*key, numbers.len());
    }
    let of = [a, b].map(|seen| {
        let key = |at: usize| (seen.names[at].as_str(), seen.calls.list[at].paradigm.as_str());
        (0..seen.calls.list.len()).map(|at| numbers[&key(at)]).collect()
    });
    let is_skipped = [a, b].map(|seen| vec![false; seen.calls.list.len()]);
    Matching { of, is_skipped, pairs: pairs.into_values().collect(), is_by_region: true }
}

/// A call path that looks for its partner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Candidate {
    call: usize,
    /// Skipped frames between it and the matched caller.
    frames: usize,
}

impl Candidate {
    fn new(call: usize) -> Candidate {
        Candidate { call, frames: 0 }
    }
}

/// What makes call paths the same: the name and paradigm, or the line of the user's map.
type Key<'s> = (Option<usize>, &'s str, &'s str);

struct Matcher<'s> {
    sides: [Seen<'s>; 2],
    result: Matching,
    /// Matched call paths whose callees are not matched yet, with their pair.
    open: Vec<(usize, usize, usize)>,
}

/// No pair yet.
const NONE: usize = usize::MAX;

impl<'s> Matcher<'s> {
    fn new(sides: [Seen<'s>; 2]) -> Matcher<'s> {
        let count = sides.map(|side| side.calls.list.len());
        let result = Matching {
            pairs: Vec::new(),
            of: count.map(|count| vec![NONE; count]),
            is_skipped: count.map(|count| vec![false; count]),
            is_by_region: false,
        };
        Matcher { sides, result, open: Vec::new() }
    }

    fn key(&self, side: usize, call: usize) -> Key<'s> {
        let seen = self.sides[side];
        match seen.mapped.get(call).copied().flatten() {
            Some(line) => (Some(line), "", ""),
            None => (None, &seen.names[call], &seen.calls.list[call].paradigm),
        }
    }

    /// The callees that have no partner yet.
    fn children(&self, side: usize, call: usize, frames: usize) -> Vec<Candidate> {
        let children = self.sides[side].calls.forest.children(call).iter();
        let free = children.filter(|&&call| self.result.of[side][call] == NONE);
        free.map(|&call| Candidate { call, frames }).collect()
    }

    fn pair(&mut self, a: usize, b: usize, way: Way) {
        let pair = self.result.pairs.len();
        self.result.pairs.push(Pair { a: Some(a), b: Some(b), way });
        self.result.of[0][a] = pair;
        self.result.of[1][b] = pair;
        self.open.push((a, b, pair));
    }

    /// Lines of the map that name one call path on each side match these, wherever they are.
    fn pair_singles(&mut self) {
        let mut lines: BTreeMap<usize, [Vec<usize>; 2]> = BTreeMap::new();
        for (side, seen) in self.sides.into_iter().enumerate() {
            for (call, line) in seen.mapped.iter().enumerate() {
                line.iter().for_each(|&line| lines.entry(line).or_default()[side].push(call));
            }
        }
        for calls in lines.into_values() {
            if let [[a], [b]] = [&calls[0][..], &calls[1][..]] {
                self.pair(*a, *b, Way::Mapped);
            }
        }
    }

    /// Matches candidates of both sides below a pair, or the roots.
    fn match_level(&mut self, level: [Vec<Candidate>; 2], above: Option<usize>, is_strict: bool) {
        let mut free = level;
        self.match_same(&mut free);
        if above.is_none() {
            self.match_roots(&mut free);
        }
        if is_strict {
            return;
        }
        // A frame that is skipped brings its callees to this level, which may show more.
        loop {
            self.match_renamed(&mut free);
            if !self.skip_frames(&mut free, above) {
                return;
            }
            self.match_same(&mut free);
        }
    }

    /// Programs match whatever they are called.
    fn match_roots(&mut self, free: &mut [Vec<Candidate>; 2]) {
        if let [[a], [b]] = [&free[0][..], &free[1][..]] {
            let (a, b) = (a.call, b.call);
            if self.result.of[0][a] == NONE && self.result.of[1][b] == NONE {
                self.pair(a, b, Way::Same);
            }
            self.keep_free(free);
        }
    }

    fn keep_free(&self, free: &mut [Vec<Candidate>; 2]) {
        for (side, candidates) in free.iter_mut().enumerate() {
            candidates.retain(|candidate| self.result.of[side][candidate.call] == NONE);
        }
    }

    /// Rule 1: equal keys; several of one key by file, then by what they call in order of lines, then of appearance. Lines at
    /// which samples have met a function are one, whichever they are.
    fn match_same(&mut self, free: &mut [Vec<Candidate>; 2]) {
        self.keep_free(free);
        let mut groups: BTreeMap<Key<'s>, [Vec<usize>; 2]> = BTreeMap::new();
        for (side, candidates) in free.iter().enumerate() {
            for candidate in candidates {
                groups.entry(self.key(side, candidate.call)).or_default()[side].push(candidate.call);
            }
        }
        for (key, [a, b]) in groups {
            let way = if key.0.is_some() { Way::Mapped } else { Way::Same };
            let (a, sampled_a) = self.without_sampled(0, a);
            let (b, sampled_b) = self.without_sampled(1, b);
            let pairs = self.by_file(a.clone(), b.clone());
            pairs.into_iter().flatten().for_each(|(a, b)| self.pair(a, b, way));
            self.add_sampled(0, &a, sampled_a);
            self.add_sampled(1, &b, sampled_b);
        }
        self.keep_free(free);
    }

    /// Whether a call path is a line at which samples have met a function: one that samples know, and calls nothing there.
    fn is_sampled(&self, side: usize, call: usize) -> bool {
        let calls = self.sides[side].calls;
        calls.forest.children(call).is_empty() && calls.list[call].paradigm == SAMPLING
    }

    /// Call paths of one name without those that are sampled, but for the first one of each file; and the others, each with
    /// that one.
    fn without_sampled(&self, side: usize, calls: Vec<usize>) -> (Vec<usize>, Vec<(usize, usize)>) {
        let list = &self.sides[side].calls.list;
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut kept, mut others) = (Vec::new(), Vec::new());
        for call in calls {
            match first.get(list[call].file.as_str()) {
                _ if !self.is_sampled(side, call) => kept.push(call),
                Some(&first) => others.push((call, first)),
                None => {
                    first.insert(&list[call].file, call);
                    kept.push(call);
                }
            }
        }
        (kept, others)
    }

    /// Adds sampled call paths to the pair of the first one of their file; without partner, all to a pair of their name.
    fn add_sampled(&mut self, side: usize, kept: &[usize], sampled: Vec<(usize, usize)>) {
        let of = |result: &Matching, call: usize| Some(result.of[side][call]).filter(|&pair| pair != NONE);
        let any = kept.iter().find_map(|&call| of(&self.result, call));
        let alone = kept.iter().copied().filter(|&call| self.is_sampled(side, call));
        let all: Vec<(usize, usize)> = alone.map(|call| (call, call)).chain(sampled).collect();
        for (call, first) in all {
            if let Some(pair) = of(&self.result, first).or(any) {
                self.result.of[side][call] = pair;
            }
        }
    }

    /// Pairs of one name: those of equal files, and those that are left.
    fn by_file(&self, a: Vec<usize>, b: Vec<usize>) -> [Vec<(usize, usize)>; 2] {
        let call = |side: usize, at: usize| &self.sides[side].calls.list[at];
        let mut files: BTreeMap<&str, [Vec<usize>; 2]> = BTreeMap::new();
        for (side, calls) in [a, b].into_iter().enumerate() {
            for at in calls {
                files.entry(&call(side, at).file).or_default()[side].push(at);
            }
        }
        let mut left: [Vec<usize>; 2] = Default::default();
        let mut pairs = Vec::new();
        let by_line =
            |side: usize, calls: &mut Vec<usize>| calls.sort_by_key(|&at| (call(side, at).lines, at));
        for [mut a, mut b] in files.into_values() {
            by_line(0, &mut a);
            by_line(1, &mut b);
            let aligned = self.aligned(&a, &b);
            let (in_a, in_b): (BTreeSet<usize>, BTreeSet<usize>) = aligned.iter().copied().unzip();
            left[0].extend(a.into_iter().filter(|call| !in_a.contains(call)));
            left[1].extend(b.into_iter().filter(|call| !in_b.contains(call)));
            pairs.extend(aligned);
        }
        let [mut a, mut b] = left;
        by_line(0, &mut a);
        by_line(1, &mut b);
        [pairs, a.into_iter().zip(b).collect()]
    }

    /// Pairs of call paths of one name and file, in order of lines on both sides.
    fn aligned(&self, a: &[usize], b: &[usize]) -> Vec<(usize, usize)> {
        if a.len().max(b.len()) == 1 || a.len().saturating_mul(b.len()) > ALIGNED {
            return a.iter().copied().zip(b.iter().copied()).collect();
        }
        let [one, other] = [(0, a), (1, b)].map(|(side, calls)| {
            calls.iter().map(|&call| Similar::new(self.sides[side], call)).collect::<Vec<_>>()
        });
        let callees = |all: &[Similar<'s>]| all.iter().flat_map(Similar::callees).collect::<Vec<_>>();
        // Which side is the first one must not matter where several alignments are as good.
        let pairs = if callees(&one) <= callees(&other) {
            align(one.len(), other.len(), |i, j| of_callees(&one[i], &other[j]))
        } else {
            let pairs = align(other.len(), one.len(), |j, i| of_callees(&one[i], &other[j]));
            pairs.into_iter().map(|(j, i)| (i, j)).collect()
        };
        pairs.into_iter().map(|(i, j)| (one[i].call, other[j].call)).collect()
    }

    /// Rule 2: those that are much more similar to each other than to any other one.
    fn match_renamed(&mut self, free: &mut [Vec<Candidate>; 2]) {
        if free.iter().any(Vec::is_empty) {
            return;
        }
        let similar = [0, 1].map(|side| {
            let seen = self.sides[side];
            let mut all: Vec<Similar<'s>> =
                free[side].iter().map(|candidate| Similar::new(seen, candidate.call)).collect();
            all.sort_by(|one, other| other.time.total_cmp(&one.time).then(one.name.cmp(other.name)));
            all.truncate(CANDIDATES);
            all
        });
        let mut found: Vec<(f64, usize, usize)> = Vec::new();
        for one in &similar[0] {
            for other in similar[1].iter().filter(|other| other.paradigm == one.paradigm) {
                let s = similarity(one, other);
                // Others are too far away to be a match, or to cast doubt on one.
                if s >= LEAST - AHEAD {
                    found.push((s, one.call, other.call));
                }
            }
        }
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        // Where each call path is found, so that rivals need no search.
        let mut of: [BTreeMap<usize, Vec<usize>>; 2] = Default::default();
        for (at, &(_, a, b)) in found.iter().enumerate() {
            of[0].entry(a).or_default().push(at);
            of[1].entry(b).or_default().push(at);
        }
        let is_free =
            |result: &Matching, a: usize, b: usize| result.of[0][a] == NONE && result.of[1][b] == NONE;
        for (at, &(s, a, b)) in found.iter().enumerate().take_while(|(_, found)| found.0 >= LEAST) {
            let mut others = of[0][&a].iter().chain(&of[1][&b]).filter(|&&other| other != at);
            let is_rival = |&other: &usize| {
                let (other_s, other_a, other_b) = found[other];
                other_s > s - AHEAD && is_free(&self.result, other_a, other_b)
            };
            if is_free(&self.result, a, b) && !others.any(is_rival) {
                self.pair(a, b, Way::Renamed);
            }
        }
        self.keep_free(free);
    }

    /// Rule 3: a frame whose callees are at its own level on the other side. Returns whether there was one.
    fn skip_frames(&mut self, free: &mut [Vec<Candidate>; 2], above: Option<usize>) -> bool {
        let Some(above) = above else { return false };
        let keys = [0, 1].map(|side| {
            let keys = free[side].iter().map(|candidate| self.key(side, candidate.call));
            keys.collect::<BTreeSet<_>>()
        });
        let mut is_any = false;
        for side in [0, 1] {
            let mut level = Vec::new();
            for candidate in std::mem::take(&mut free[side]) {
                let frames = FRAMES - candidate.frames.min(FRAMES);
                if !self.is_frame(side, candidate.call, frames, &keys[1 - side]) {
                    level.push(candidate);
                    continue;
                }
                is_any = true;
                self.result.of[side][candidate.call] = above;
                self.result.is_skipped[side][candidate.call] = true;
                level.extend(self.children(side, candidate.call, candidate.frames + 1));
            }
            free[side] = level;
        }
        is_any
    }

    /// Whether at least half of what a call path calls, by time, is at its own level on the other side. A frame may have
    /// another one as its only callee, so many in a row.
    fn is_frame(&self, side: usize, call: usize, frames: usize, others: &BTreeSet<Key<'s>>) -> bool {
        let seen = self.sides[side];
        let mut call = call;
        for _ in 0..frames {
            let children = seen.calls.forest.children(call);
            let mut there = (0.0, 0);
            let mut all = (0.0, 0);
            for &child in children {
                let weight = seen.weights.get(child).copied().unwrap_or(0.0).max(0.0);
                all = (all.0 + weight, all.1 + 1);
                if others.contains(&self.key(side, child)) {
                    there = (there.0 + weight, there.1 + 1);
                }
            }
            let is_most = if all.0 > 0.0 { 2.0 * there.0 >= all.0 } else { 2 * there.1 >= all.1 };
            if there.1 > 0 && is_most {
                return true;
            }
            let &[only] = children else { return false };
            call = only;
        }
        false
    }

    /// Everything without partner is new or gone.
    fn add_rest(&mut self) {
        for side in [0, 1] {
            for call in 0..self.result.of[side].len() {
                if self.result.of[side][call] == NONE {
                    self.result.of[side][call] = self.result.pairs.len();
                    let own = |at: usize| (at == side).then_some(call);
                    self.result.pairs.push(Pair { a: own(0), b: own(1), way: Way::Alone });
                }
            }
        }
    }
}
