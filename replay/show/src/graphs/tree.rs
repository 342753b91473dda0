//! What a program does repeatedly as a tree: calls and loops, with their shares of the time (structure 2.11).
//!
//! Time between two calls belongs to what is before it, so that the lines of a loop are together the line of the loop.

use rustc_hash::{FxHashMap, FxHashSet};

use super::guard::when;
use super::{counted, duration};
use crate::tables::structure::{Group, Loop, Node, Part, Structure, Word};
use crate::unrecorded;

/// Lines of less than this share are joined with their neighbours.
const LEAST: f64 = 0.01;

/// Lines of rare calls in one loop, at most: more are joined by their shares as all others.
const RARE: usize = 4;

/// Loops inside each other that have lines of their own.
const DEPTH: usize = 32;

/// A line of the tree.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Line {
    /// Loops around it.
    pub depth: usize,
    /// The name of the loop that it is, such as `2.1`.
    pub of_loop: Option<String>,
    /// Ticks, with those up to what follows.
    pub ticks: i64,
    /// How many places in the program make calls.
    pub calls: u64,
    /// What it says.
    pub text: String,
}

/// A part of a loop, or of the whole sequence.
#[derive(Clone, Debug)]
struct Item {
    part: Part,
    ticks: i64,
    /// In which iterations it is, if not in all.
    when: Option<String>,
}

/// Parts that are one line.
#[derive(Clone, Debug, Default)]
struct Segment {
    items: Vec<Item>,
    ticks: i64,
    when: Option<String>,
    is_joined: bool,
}

struct Tree<'t> {
    structure: &'t Structure,
    group: &'t Group,
    all: i64,
    /// By node: ticks in its calls, and behind them up to the next ones.
    ticks: FxHashMap<u32, i64>,
    /// By loop: that of all its nodes, and how many these are.
    of_loops: FxHashMap<u32, (i64, u64)>,
    /// By loop: its nodes that are in no inner loop, and inner loops.
    parts: FxHashMap<Option<u32>, Vec<Part>>,
    words: FxHashMap<Option<u32>, Vec<&'t Word>>,
    lines: Vec<Line>,
}

/// The lines of a group.
pub fn tree(structure: &Structure, group: &Group) -> Vec<Line> {
    let mut ticks: FxHashMap<u32, i64> = FxHashMap::default();
    for node in &group.nodes {
        ticks.insert(node.number, node.recorded_ticks());
    }
    for edge in group.edges.iter().filter(|edge| edge.from > 0) {
        let sum = ticks.entry(edge.from).or_default();
        *sum = sum.saturating_add(edge.times[0]);
    }
    let mut parts: FxHashMap<Option<u32>, Vec<Part>> = FxHashMap::default();
    let mut of_loops: FxHashMap<u32, (i64, u64)> = FxHashMap::default();
    for node in &group.nodes {
        parts.entry(node.around).or_default().push(Part::Step(node.number));
        let own = node.around.map(|around| of_loops.entry(around).or_default());
        if let Some((sum, count)) = own {
            (*sum, *count) = (sum.saturating_add(ticks[&node.number]), *count + 1);
        }
    }
    // Inner loops come behind those around them.
    for it in group.loops.iter().rev() {
        let (own, count) = of_loops.get(&it.number).copied().unwrap_or_default();
        if let Some(parent) = it.parent {
            let (sum, nodes) = of_loops.entry(parent).or_default();
            (*sum, *nodes) = (sum.saturating_add(own), *nodes + count);
        }
    }
    group.loops.iter().for_each(|it| parts.entry(it.parent).or_default().push(Part::Instance(it.number)));
    let mut words: FxHashMap<Option<u32>, Vec<&Word>> = FxHashMap::default();
    group.words.iter().for_each(|word| words.entry(word.of).or_default().push(word));
    let all = group.own_ticks();
    let mut tree = Tree { structure, group, all, ticks, of_loops, parts, words, lines: Vec::new() };
    let before = group.edges.iter().find(|edge| edge.from == 0 && edge.to.is_some());
    if let Some(edge) = before.filter(|edge| tree.share(edge.times[0]) >= LEAST) {
        let text = "before the first call".to_owned();
        tree.lines.push(Line { ticks: edge.times[0], text, ..Line::default() });
    }
    tree.add(None, 0);
    tree.lines
}

impl<'t> Tree<'t> {
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    fn share(&self, ticks: i64) -> f64 {
        ticks as f64 / self.all.max(1) as f64
    }

    /// Adds the lines of a loop, or of the whole sequence.
    fn add(&mut self, of: Option<u32>, depth: usize) {
        for segment in self.segments(of) {
            match segment.items[..] {
                [Item { part: Part::Instance(number), ticks, .. }] if !segment.is_joined => {
                    self.add_loop(number, ticks, segment.when.as_deref(), depth);
                }
                _ => {
                    let (calls, text) = self.text(&segment);
                    let text = with(text, segment.when.as_deref());
                    self.lines.push(Line { depth, of_loop: None, ticks: segment.ticks, calls, text });
                }
            }
        }
    }

    /// Adds the lines of a loop.
    fn add_loop(&mut self, number: u32, ticks: i64, when: Option<&str>, depth: usize) {
        let Some(it) = self.group.loop_of(number) else { return };
        let calls = self.of_loops.get(&number).map_or(0, |&(_, calls)| calls);
        let mut text = with(self.repeated(it), when);
        let segments = self.segments(Some(number));
        let is_loop = |it: &Item| matches!(it.part, Part::Instance(_));
        let has_loops = segments.iter().any(|it| it.items.iter().any(is_loop));
        // A loop without others inside takes a line.
        let usual = Segment {
            items: segments.iter().filter(|it| it.when.is_none()).flat_map(|it| it.items.clone()).collect(),
            ..Segment::default()
        };
        let rare: Vec<&Segment> = segments.iter().filter(|it| it.when.is_some()).collect();
        let mut is_short = !has_loops && rare.len() <= 1 && !usual.items.is_empty();
        if self.share(ticks) < LEAST || depth >= DEPTH {
            is_short = true;
            let items = segments.into_iter().flat_map(|it| it.items).collect();
            text += &format!(": {}", self.text(&Segment { items, ..Segment::default() }).1);
        } else if is_short {
            text += &format!(": {}", self.text(&usual).1);
            for segment in rare {
                let (_, rare) = self.text(segment);
                text += &format!("; {rare} {}", segment.when.as_deref().unwrap_or_default());
            }
        }
        let of_loop = Some(self.group.loop_name(number));
        self.lines.push(Line { depth, of_loop, ticks, calls, text });
        if !is_short {
            self.add(Some(number), depth + 1);
        }
    }

    /// How often and how long: `60 x 52.1 ms (3.00 ms to 221 ms)`.
    fn repeated(&self, it: &Loop) -> String {
        let count = match (it.fewest, it.largest) {
            (fewest, largest) if fewest == largest => fewest.to_string(),
            (fewest, largest) => format!("{fewest}\u{2013}{largest}"),
        };
        let seconds = |ticks: i64| duration(self.structure.seconds(ticks));
        let mean = it.times[0] / i64::try_from(it.iterations.max(1)).unwrap_or(i64::MAX);
        let [mean, least, most] = [mean, it.times[1], it.times[2]].map(seconds);
        let mut text = format!("{count}\u{a0}x {mean}");
        if least != most {
            text += &format!(" ({least} to {most})");
        }
        if it.words > 64 {
            text += &format!(", {} different ones", it.words);
        }
        text
    }

    /// The number of calls in a line, and what these are.
    fn text(&self, segment: &Segment) -> (u64, String) {
        let mut nodes: Vec<u32> = Vec::new();
        let (mut calls, mut loops) = (0, 0);
        for item in &segment.items {
            match item.part {
                Part::Step(number) => {
                    calls += u64::from(!self.group.node(number).is_some_and(|node| node.is_gap));
                    nodes.push(number);
                }
                Part::Instance(number) => {
                    loops += 1;
                    calls += self.of_loops.get(&number).map_or(0, |&(_, calls)| calls);
                    let header = self.group.loop_of(number).map(|it| it.header);
                    nodes.extend(header);
                }
            }
        }
        let name = |number: &u32| match self.group.node(*number) {
            Some(node) => named(node),
            None => format!("node {number}"),
        };
        if calls == 0 && loops == 0 && !nodes.is_empty() {
            return (0, unrecorded::UNKNOWN.to_owned());
        }
        let mut text = counted(calls, "call");
        if loops > 0 {
            text += &format!(" with {}", counted(loops, "loop"));
        }
        let names = match &nodes[..] {
            [] => return (calls, text),
            [one] => name(one),
            [one, other] => format!("{}, {}", name(one), name(other)),
            [first, .., last] => format!("{} … {}", name(first), name(last)),
        };
        (calls, format!("{text}: {names}"))
    }

    /// The parts of a loop in the order of the program, those together that are one line.
    fn segments(&self, of: Option<u32>) -> Vec<Segment> {
        let items = self.items(of);
        let mut segments: Vec<Segment> = Vec::new();
        for item in items {
            let is_loop = matches!(item.part, Part::Instance(_));
            let goes_on = segments.last().is_some_and(|last| {
                !is_loop
                    && last.when == item.when
                    && last.items.iter().all(|item| matches!(item.part, Part::Step(_)))
            });
            match segments.last_mut() {
                Some(last) if goes_on => {
                    last.ticks = last.ticks.saturating_add(item.ticks);
                    last.items.push(item);
                }
                _ => segments.push(Segment {
                    ticks: item.ticks,
                    when: item.when.clone(),
                    items: vec![item],
                    is_joined: false,
                }),
            }
        }
        let rare = segments.iter().filter(|it| it.when.is_some()).count();
        self.joined(segments, rare <= RARE)
    }

    /// Joins neighbours of small shares; those that are in some iterations only may stay.
    fn joined(&self, segments: Vec<Segment>, keeps_rare: bool) -> Vec<Segment> {
        let is_small = |it: &Segment| self.share(it.ticks) < LEAST && !(keeps_rare && it.when.is_some());
        let mut joined: Vec<Segment> = Vec::new();
        for segment in segments {
            match joined.last_mut() {
                Some(last) if is_small(last) && is_small(&segment) => {
                    // Of a part that is in some iterations only, the line as a whole says nothing.
                    last.when = None;
                    last.ticks = last.ticks.saturating_add(segment.ticks);
                    last.items.extend(segment.items);
                    last.is_joined = true;
                }
                _ => joined.push(segment),
            }
        }
        joined
    }

    /// The parts of a loop in the order of the program.
    fn items(&self, of: Option<u32>) -> Vec<Item> {
        let none = Vec::new();
        let words = self.words.get(&of).unwrap_or(&none);
        let all = self.parts.get(&of).map_or(&[][..], Vec::as_slice);
        let around = of.and_then(|number| self.group.loop_of(number));
        // By part: whether each of the words has it.
        let mut members: FxHashMap<Part, Vec<bool>> = FxHashMap::default();
        for (at, word) in words.iter().enumerate() {
            for &part in &word.parts {
                members.entry(part).or_insert_with(|| vec![false; words.len()])[at] = true;
            }
        }
        let item = |part: Part| {
            let (ticks, done) = match part {
                Part::Step(number) => (
                    self.ticks.get(&number).copied().unwrap_or(0),
                    self.group.node(number).map_or(0, |node| node.visits),
                ),
                Part::Instance(number) => (
                    self.of_loops.get(&number).map_or(0, |&(ticks, _)| ticks),
                    self.group.loop_of(number).map_or(0, |it| it.instances),
                ),
            };
            let has = |at: usize| members.get(&part).is_some_and(|members| members[at]);
            Item { part, ticks, when: around.and_then(|around| when(around, words, has, done)) }
        };
        in_order(words, all).into_iter().map(item).collect()
    }
}

/// A text with the iterations that it is about.
fn with(text: String, when: Option<&str>) -> String {
    match when {
        Some(when) => format!("{text}, {when}"),
        None => text,
    }
}

/// The name of a call, and where it is.
fn named(node: &Node) -> String {
    if node.is_gap {
        return unrecorded::UNKNOWN.to_owned();
    }
    let call = if node.call.is_empty() { "(no name)" } else { &node.call };
    match node.place() {
        place if place.is_empty() => call.to_owned(),
        place => format!("{call} ({place})"),
    }
}

/// The parts of a loop, in the order of its most frequent word; what others have besides stands in front of what follows it
/// there. Those that are in no known word come last.
fn in_order(words: &[&Word], all: &[Part]) -> Vec<Part> {
    let mut words: Vec<&Word> = words.to_vec();
    words.sort_by_key(|word| std::cmp::Reverse(word.count));
    let mut order: Vec<Part> = Vec::new();
    for word in words {
        let places: FxHashMap<Part, usize> = (0..).zip(&order).map(|(at, &part)| (part, at)).collect();
        let mut added: Vec<(usize, Part)> = Vec::new();
        let mut next = order.len();
        let mut known = FxHashSet::default();
        for &part in word.parts.iter().rev() {
            match places.get(&part) {
                Some(&place) => next = place,
                None if known.insert(part) => added.push((next, part)),
                None => {}
            }
        }
        if added.is_empty() {
            continue;
        }
        // The last ones were found first.
        added.reverse();
        added.sort_by_key(|&(place, _)| place);
        let mut added = added.into_iter().peekable();
        let mut longer = Vec::new();
        for (at, &part) in order.iter().enumerate() {
            longer.extend(std::iter::from_fn(|| added.next_if(|it| it.0 <= at)).map(|it| it.1));
            longer.push(part);
        }
        longer.extend(added.map(|it| it.1));
        order = longer;
    }
    let known: FxHashSet<Part> = order.iter().copied().collect();
    order.extend(all.iter().copied().filter(|part| !known.contains(part)));
    order
}

#[cfg(test)]
mod tests {
    use super::super::examples::{OFF, published, structure_of};
    use super::*;

    fn printed(structure: &Structure) -> Vec<String> {
        let line = |line: &Line| {
            let name = line.of_loop.as_ref().map_or(String::new(), |name| format!("LOOP {name}: "));
            format!("{}{name}{}", "  ".repeat(line.depth), line.text.replace('\u{a0}', " "))
        };
        tree(structure, &structure.groups[0]).iter().map(line).collect()
    }

    #[test]
    fn the_published_program_has_its_published_tree() {
        let expected = [
            "10 calls: init (init.c:1) … p8 (p8.c:1)",
            "LOOP 1: 60 x 572 ms",
            "  2 calls: A (A.c:1), B (B.c:1)",
            "  LOOP 1.1: 6 x 18.3 ms (11.0 ms to 33.0 ms)",
            "    1 call: C (C.c:1)",
            "    2 calls: E (E.c:1), D (D.c:1), only in iteration 2 of each instance",
            "    2 calls: G (G.c:1), F (F.c:1), only in iteration 4 of each instance",
            "  40 calls: q0 (q0.c:1) … H (H.c:1)",
            "30 calls: r0 (r0.c:1) … fin (fin.c:1)",
        ];
        let mut structure = published();
        // The program is made of more than its calls before the loop, so that these have a line.
        for node in &mut structure.groups[0].nodes {
            if node.around.is_none() {
                node.times[0] *= 10;
            }
        }
        assert_eq!(printed(&structure), expected);
    }

    #[test]
    fn lines_of_the_same_depth_sum_up_to_the_line_around_them() {
        let structure = published();
        let lines = tree(&structure, &structure.groups[0]);
        let sum = |depth| lines.iter().filter(|line| line.depth == depth).map(|line| line.ticks).sum::<i64>();
        let before = structure.groups[0].edges[0].times[0];
        assert_eq!(sum(0) + before, structure.groups[0].own_ticks());
        assert_eq!(sum(1), lines.iter().find(|line| line.of_loop.as_deref() == Some("1")).unwrap().ticks);
        assert_eq!(sum(2), lines.iter().find(|line| line.of_loop.as_deref() == Some("1.1")).unwrap().ticks);
    }

    #[test]
    fn a_loop_without_others_inside_is_one_line() {
        let calls = [vec!["i"], ["a", "b", "c", "d"].repeat(9), vec!["a", "b", "d", "e"]].concat();
        let expected = [
            "1 call: i (i.c:1)",
            "LOOP 1: 10 x 42.9 ms (33.0 ms to 44.0 ms): 3 calls: a (a.c:1) … d (d.c:1); 1 call: c (c.c:1) not in the last",
            "1 call: e (e.c:1)",
        ];
        assert_eq!(printed(&structure_of(&calls)), expected);
    }

    #[test]
    fn loops_that_vary_say_from_what_to_what() {
        let calls: Vec<&str> =
            [3, 5, 4].iter().flat_map(|&count| [vec!["a"], ["b", "c"].repeat(count)].concat()).collect();
        let lines = printed(&structure_of(&calls));
        assert!(
            lines.contains(&"  LOOP 1.1: 3–5 x 22.0 ms: 2 calls: b (b.c:1), c (c.c:1)".to_owned()),
            "{lines:?}"
        );
    }

    #[test]
    fn what_was_not_recorded_is_no_call_and_takes_no_share() {
        let structure = structure_of(&["a", OFF, "b"]);
        let group = &structure.groups[0];
        assert_eq!(printed(&structure).last().unwrap(), "2 calls: a (a.c:1) … b (b.c:1)");
        assert_eq!(
            group.own_ticks(),
            structure_of(&["a", "b"]).groups[0].own_ticks() + group.edges[1].times[0]
        );
        let lines = tree(&structure, group);
        assert_eq!(lines.iter().map(|line| line.ticks).sum::<i64>(), group.own_ticks());
        let only = structure_of(&[OFF]);
        assert_eq!(printed(&only).last().unwrap(), "(not recorded)");
        let alone = structure_of(&["a", "b", OFF]);
        assert_eq!(printed(&alone).last().unwrap(), "2 calls: a (a.c:1) … (not recorded)");
    }

    #[test]
    fn a_sequence_without_loop_is_one_line() {
        assert_eq!(
            printed(&structure_of(&["a", "b", "c"])).last().unwrap(),
            "3 calls: a (a.c:1) … c (c.c:1)"
        );
        assert_eq!(printed(&structure_of(&[])), [""; 0]);
    }

    #[test]
    fn calls_are_in_the_order_of_the_program_not_of_first_visits() {
        let word = |count, steps: &[u32]| Word {
            count,
            parts: steps.iter().map(|&step| Part::Step(step)).collect(),
            ..Word::default()
        };
        let [first, usual] = [word(1, &[1, 2, 4]), word(9, &[1, 3, 2, 4])];
        let order = in_order(&[&first, &usual], &[Part::Step(7)]);
        assert_eq!(order, [1, 3, 2, 4, 7].map(Part::Step));
    }
}
