//! Virtual sites: places in the folded sequence, which stand for call sites where these are unknown (structure 2.9).
//!
//! Without call sites one node stands for several places of the program, and a header is visited several times an iteration.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::fold::{Fold, Term};
use crate::node::Node;

/// Repetitions from which on a loop absorbs iterations that are not quite like its body, and the lengths of its body.
const REPETITIONS: u32 = 3;
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=512;

/// Returns the virtual site of each step of a sequence, numbered by first visits.
pub fn sites(sequence: &[Node]) -> Vec<Node> {
    let fold = Fold::of(sequence.iter().map(|node| node.number()));
    let owners = absorb(&fold);
    let (mut chains, mut sites) = (Chains::default(), Sites::default());
    let mut list = Vec::with_capacity(sequence.len());
    for (place, owner) in owners.iter().enumerate() {
        let is_symbol = fold.terms()[place].is_symbol();
        let (outer, at) = match *owner {
            // A place of its own.
            Owner::Nobody | Owner::Guard { .. } if is_symbol => {
                list.push(sites.next());
                continue;
            }
            Owner::Nobody => (NO_CHAIN, 0),
            Owner::Guard { body } => (chains.of(GUARDS, body), 0),
            Owner::Body { body, at } => (chains.of(NO_CHAIN, body), at),
        };
        if is_symbol {
            list.push(sites.of(outer, at));
            continue;
        }
        let visit = |chain, at, _| list.push(sites.of(chain, at));
        fold.walk(place, outer, |chain, body| chains.of(chain, body), visit);
    }
    list
}

/// The chain of bodies around terms that are in none, and the one around guards.
const NO_CHAIN: u32 = 0;
const GUARDS: u32 = u32::MAX;

/// Chains of bodies, by the chain around the innermost one and that body; numbered from 1.
#[derive(Default)]
struct Chains(FxHashMap<(u32, u32), u32>);

impl Chains {
    fn of(&mut self, around: u32, body: u32) -> u32 {
        let next = crate::to_u32(self.0.len() + 1);
        *self.0.entry((around, body)).or_insert(next)
    }
}

/// Sites: places in the bodies of loops, which are told apart by the bodies around them.
#[derive(Default)]
struct Sites {
    count: u32,
    /// By chain, and place in its innermost body: the number of the site, 0 before it is visited.
    of_chains: Vec<Vec<u32>>,
}

impl Sites {
    /// A new site.
    fn next(&mut self) -> Node {
        self.count += 1;
        Node::new(self.count)
    }

    /// The site at a place of a body.
    fn of(&mut self, chain: u32, at: usize) -> Node {
        let chain = chain as usize;
        if self.of_chains.len() <= chain {
            self.of_chains.resize_with(chain + 1, Vec::new);
        }
        let sites = &mut self.of_chains[chain];
        if sites.len() <= at {
            sites.resize(at + 1, 0);
        }
        if sites[at] == 0 {
            self.count += 1;
            sites[at] = self.count;
        }
        Node::new(sites[at])
    }
}

/// What a term of the folded sequence belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    /// No other loop.
    Nobody,
    /// An iteration of a loop beside it, in which it has the place of a term of the body.
    Body { body: u32, at: usize },
    /// Such an iteration, in which it has no place of the body.
    Guard { body: u32 },
}

/// Finds iterations beside loops that are much like their bodies, such as the first or last one, which lacks a reduction.
fn absorb(fold: &Fold) -> Vec<Owner> {
    let terms = fold.terms();
    let mut owners = vec![Owner::Nobody; terms.len()];
    // Terms that are an iteration of a loop beside them, or that loop.
    let mut is_taken = vec![false; terms.len()];
    let mut loops: Vec<usize> = (0..terms.len()).filter(|&place| !terms[place].is_symbol()).collect();
    loops.sort_by_cached_key(|&place| (Reverse(fold.symbols(place)), place));
    for place in loops {
        let Some(number) = terms[place].body() else { continue };
        let body = fold.body(number);
        if is_taken[place] || fold.repeats(place)[0] < REPETITIONS || !LENGTHS.contains(&body.len()) {
            continue;
        }
        is_taken[place] = true;
        let (mut first, mut end) = (place, place + 1);
        loop {
            let before = (first, end);
            for is_behind in [true, false] {
                let most = most_terms(body);
                let beside = match is_behind {
                    true => end..terms.len().min(end + most),
                    false => first.saturating_sub(most)..first,
                };
                let room = room(&is_taken, beside, is_behind);
                let Some(length) = most_alike(body, &terms[room.clone()], is_behind) else { continue };
                let found = if is_behind { end..end + length } else { first - length..first };
                let partners = common(body, &terms[found.clone()]);
                for (place, partner) in found.clone().zip(partners) {
                    is_taken[place] = true;
                    owners[place] = match partner {
                        Some(at) => Owner::Body { body: number, at },
                        None => Owner::Guard { body: number },
                    };
                }
                (first, end) = (first.min(found.start), end.max(found.end));
            }
            if (first, end) == before {
                break;
            }
        }
    }
    owners
}

/// The terms next to a loop that nobody has taken.
fn room(is_taken: &[bool], range: std::ops::Range<usize>, is_behind: bool) -> std::ops::Range<usize> {
    let mut places = range.clone();
    match is_behind {
        true => range.start..places.find(|&place| is_taken[place]).unwrap_or(range.end),
        false => places.rfind(|&place| is_taken[place]).map_or(range.start, |place| place + 1)..range.end,
    }
}

/// How many terms next to a loop may be like its body at most.
fn most_terms(body: &[Term]) -> usize {
    5 * body.len() / 4
}

/// How many terms next to a loop are most like its body: between three and five quarters of its length, and at least four
/// fifths of the terms in common.
fn most_alike(body: &[Term], terms: &[Term], is_behind: bool) -> Option<usize> {
    let lengths = (3 * body.len()).div_ceil(4)..=most_terms(body);
    let nth = |list: &[Term], at: usize| if is_behind { list[at] } else { list[list.len() - 1 - at] };
    // By number of terms of the body: how many they have in common with the terms so far.
    let mut common = vec![0_usize; body.len() + 1];
    let mut best: Option<(usize, usize)> = None;
    for length in 1..=terms.len().min(*lengths.end()) {
        let term = nth(terms, length - 1);
        let mut diagonal = 0;
        for at in 0..body.len() {
            let above = common[at + 1];
            common[at + 1] = if nth(body, at) == term { diagonal + 1 } else { above.max(common[at]) };
            diagonal = above;
        }
        let (same, all) = (2 * common[body.len()], body.len() + length);
        let is_better = best.is_none_or(|(best, of)| same * of > best * all);
        if lengths.contains(&length) && 5 * same >= 4 * all && is_better {
            best = Some((same, all));
        }
    }
    best.map(|(_, all)| all - body.len())
}

/// For each term its place in the body, in a longest common subsequence of both.
fn common(body: &[Term], terms: &[Term]) -> Vec<Option<usize>> {
    let width = terms.len() + 1;
    let mut lengths = vec![0_u32; (body.len() + 1) * width];
    for (i, a) in body.iter().enumerate() {
        for (j, b) in terms.iter().enumerate() {
            lengths[(i + 1) * width + j + 1] = match a == b {
                true => lengths[i * width + j] + 1,
                false => lengths[i * width + j + 1].max(lengths[(i + 1) * width + j]),
            };
        }
    }
    let (mut i, mut j) = (body.len(), terms.len());
    let mut partners = vec![None; terms.len()];
    while i > 0 && j > 0 {
        let here = lengths[i * width + j];
        if body[i - 1] == terms[j - 1] && here == lengths[(i - 1) * width + j - 1] + 1 {
            (i, j) = (i - 1, j - 1);
            partners[j] = Some(i);
        } else if lengths[(i - 1) * width + j] >= lengths[i * width + j - 1] {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forest::Forest;
    use crate::graph::Graph;
    use crate::iterations::all;
    use crate::nodes;

    /// Iterations of the loops that are in none.
    fn outer_counts(sequence: &[Node]) -> Vec<usize> {
        let sites = sites(sequence);
        let forest = Forest::new(&Graph::of(sites.iter().copied()));
        let all = all(&forest, &sites);
        forest.children(None).map(|id| all[id.index()].len()).collect()
    }

    #[test]
    fn a_node_that_is_visited_twice_an_iteration_has_two_sites() {
        let sequence = nodes(&[1, 2, 1, 3].repeat(5));
        assert_eq!(sites(&sequence), nodes(&[1, 2, 3, 4].repeat(5)));
        assert_eq!(outer_counts(&sequence), [5]);
    }

    #[test]
    fn iterations_that_lack_something_are_absorbed() {
        let body = [1, 2, 3, 4, 5, 6, 7, 8];
        let without_last = &body[..7];
        let with_guard = [&body[..4], &[9], &body[4..]].concat();
        let mut all = [&[11], without_last].concat();
        for iteration in 0..20 {
            all.extend([&body[..2], &vec![3; 2 + iteration % 3], &body[3..]].concat());
        }
        let all = [&all[..], &with_guard, &[10]].concat();
        assert_eq!(outer_counts(&nodes(&all)), [22]);
    }

    #[test]
    fn a_sequence_without_repeats_has_as_many_sites_as_steps() {
        assert_eq!(sites(&nodes(&[1, 2, 3, 1, 4])), nodes(&[1, 2, 3, 4, 5]));
        assert_eq!(sites(&[]), []);
    }
}
