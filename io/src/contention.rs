//! Blocks of a file that several ranks want at one time (io.md 5.2).

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::access::Kind;
use crate::numbers::count;
use crate::outline::Outline;

/// So many transfers are compared one by one; with more it is known of each block who is in it.
const FEW: usize = 16;

/// The transfers of a file that are not over yet, as far as they were shown in the order of time. Each is contended if it overlaps in time
/// with one of another rank in a block of the file in which file systems lock, and at least one of both writes. Only the first and the last
/// block of each transfer are looked at: others are its own, unless ranks move the same bytes.
#[derive(Clone, Debug)]
pub(crate) struct Contention {
    /// Bytes of a block.
    block: u64,
    /// Those that may overlap with the next one, by their begins, and some that one before them holds up.
    window: VecDeque<(Outline, Edges)>,
    /// How many came before these.
    before: u64,
    /// Who is in each block, from where there are more than few until there is none.
    blocks: Option<Blocks>,
}

type Blocks = FxHashMap<u64, SmallVec<[Active; 2]>>;

/// The blocks of the first and the last byte; none if nothing is moved, or nobody knows where.
type Edges = Option<[u64; 2]>;

/// A transfer in a block.
#[derive(Clone, Copy, Debug)]
struct Active {
    end: u64,
    /// Position among all transfers.
    number: u64,
}

impl Contention {
    /// No transfer yet of a file that is locked in blocks of so many bytes.
    pub(crate) fn new(block: u64) -> Contention {
        Contention { block: block.max(1), window: VecDeque::new(), before: 0, blocks: None }
    }

    /// Adds the next transfer, from its first byte to that behind the last one, if they are known. `settled` is told of those of which it
    /// is known now whether they are contended.
    pub(crate) fn push(
        &mut self,
        outline: Outline,
        bounds: Option<(u64, u64)>,
        mut settled: impl FnMut(&Outline),
    ) {
        self.settle(outline.begin, &mut settled);
        if self.blocks.is_none() && self.window.len() >= FEW {
            self.blocks = Some(self.who_is_where());
        }
        let edges = self.edges(bounds);
        let is_contended = match (edges, &mut self.blocks) {
            (None, _) => false,
            (Some(edges), None) => {
                let mut is_contended = false;
                for (other, others) in &mut self.window {
                    if are_rivals(&outline, other) && others.is_some_and(|others| share(edges, others)) {
                        (is_contended, other.is_contended) = (true, true);
                    }
                }
                is_contended
            }
            (Some(edges), Some(blocks)) => {
                let number = self.before + count(self.window.len());
                let mut is_contended = false;
                for block in blocks_of(edges) {
                    let list = blocks.entry(block).or_default();
                    list.retain(|other| other.end > outline.begin);
                    for other in list.iter() {
                        let position = usize::try_from(other.number - self.before).ok();
                        let other = position.and_then(|at| self.window.get_mut(at));
                        if let Some((other, _)) = other.filter(|(other, _)| are_rivals(&outline, other)) {
                            (is_contended, other.is_contended) = (true, true);
                        }
                    }
                    list.push(Active { end: outline.end, number });
                }
                is_contended
            }
        };
        self.window.push_back((Outline { is_contended, ..outline }, edges));
    }

    /// Tells of all that are left.
    pub(crate) fn finish(mut self, mut settled: impl FnMut(&Outline)) {
        self.settle(u64::MAX, &mut settled);
        self.window.iter().for_each(|(it, _)| settled(it));
    }

    /// Takes those that are over at a time, but for those behind one that is not.
    fn settle(&mut self, time: u64, settled: &mut impl FnMut(&Outline)) {
        while let Some((outline, edges)) = self.window.front().filter(|(it, _)| it.end <= time) {
            settled(outline);
            if let (Some(blocks), Some(edges)) = (&mut self.blocks, edges) {
                leave(blocks, self.before, *edges);
            }
            self.window.pop_front();
            self.before += 1;
        }
        if self.window.is_empty() {
            self.blocks = None;
        }
    }

    /// Who is in each block.
    fn who_is_where(&self) -> Blocks {
        let mut blocks = Blocks::default();
        for (number, (it, edges)) in (self.before..).zip(&self.window) {
            for block in edges.iter().flat_map(|edges| blocks_of(*edges)) {
                blocks.entry(block).or_default().push(Active { end: it.end, number });
            }
        }
        blocks
    }

    fn edges(&self, bounds: Option<(u64, u64)>) -> Edges {
        bounds.map(|(first, behind)| [first / self.block, behind.saturating_sub(1).max(first) / self.block])
    }
}

/// A transfer is over.
fn leave(blocks: &mut Blocks, number: u64, edges: [u64; 2]) {
    for block in blocks_of(edges) {
        if let Entry::Occupied(mut list) = blocks.entry(block) {
            list.get_mut().retain(|it| it.number != number);
            if list.get().is_empty() {
                list.remove();
            }
        }
    }
}

/// Whether a transfer that is over only after another one has begun is of another rank, and one of both writes.
fn are_rivals(own: &Outline, other: &Outline) -> bool {
    let writes = own.kind == Kind::Write || other.kind == Kind::Write;
    other.rank != own.rank && other.end > own.begin && writes
}

/// The first block and the last one, once each if they differ.
fn blocks_of([first, last]: [u64; 2]) -> impl Iterator<Item = u64> {
    std::iter::once(first).chain((last > first).then_some(last))
}

/// Whether the first or the last block is that of another transfer, too.
fn share(own: [u64; 2], other: [u64; 2]) -> bool {
    own.iter().any(|block| other.contains(block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::transfer;
    use crate::transfer::Transfer;
    use proptest::prelude::*;

    /// Whether each of these is contended, in the order of their begins.
    fn contended(transfers: &[Transfer], block: u64) -> Vec<bool> {
        let (mut contention, mut found) = (Contention::new(block), Vec::new());
        for it in transfers {
            contention.push(Outline::new(it, 0, None, false), it.bounds(), |it| found.push(it.is_contended));
        }
        contention.finish(|it| found.push(it.is_contended));
        found
    }

    fn one(rank: u32, kind: Kind, time: (u64, u64), at: u64, length: u64) -> Transfer {
        transfer(rank, kind, time, &[(at, length)])
    }

    #[test]
    fn one_must_write_at_the_same_time_in_the_same_block() {
        let write = one(0, Kind::Write, (0, 10), 0, 100);
        let found = |kind, rank, time, at| contended(&[write.clone(), one(rank, kind, time, at, 10)], 4096);
        assert_eq!(found(Kind::Write, 1, (5, 6), 100), [true, true]);
        assert_eq!(found(Kind::Read, 1, (5, 6), 100), [true, true]);
        assert_eq!(found(Kind::Write, 0, (5, 6), 100), [false, false]);
        assert_eq!(found(Kind::Write, 1, (10, 12), 100), [false, false]);
        assert_eq!(found(Kind::Write, 1, (5, 6), 4096), [false, false]);
        let read = Transfer { kind: Kind::Read, ..write.clone() };
        assert_eq!(contended(&[read.clone(), Transfer { rank: 1, ..read }], 4096), [false, false]);
        assert_eq!(contended(&[], 0), [false; 0]);
    }

    proptest! {
        #[test]
        fn each_pair_is_judged(all in prop::collection::vec((0..3_u32, any::<bool>(), (0..20_u64, 1..9_u64), (0..40_u64, 1..12_u64)), 0..30), many in 1..4_u64) {
            let kind = |reads| if reads { Kind::Read } else { Kind::Write };
            let mut all: Vec<Transfer> = all.into_iter().map(|(rank, reads, (begin, long), (at, length))| {
                // Where many are under way at a time, blocks are known.
                one(rank, kind(reads), (begin / many, begin / many + long), at, length)
            }).collect();
            all.sort_by_key(|it| (it.begin, it.end));
            let edges = |it: &Transfer| it.bounds().map(|(first, behind)| [first / 8, (behind - 1) / 8]).unwrap();
            let is_pair = |one: &Transfer, other: &Transfer| {
                one.rank != other.rank && (one.kind, other.kind) != (Kind::Read, Kind::Read)
                    && one.begin < other.end && other.begin < one.end
                    && edges(one).iter().any(|block| edges(other).contains(block))
            };
            let expected: Vec<bool> = all.iter().map(|one| all.iter().any(|other| is_pair(one, other))).collect();
            prop_assert_eq!(contended(&all, 8), expected);
        }
    }
}
