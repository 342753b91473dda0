//! Blocks of a file that several ranks want at one time (io.md 5.2).

use rustc_hash::FxHashMap;

use crate::access::Kind;
use crate::bytes::Transfer;

/// Whether each transfer of a file is contended, in their order: it overlaps in time with one of another rank in a block of so many
/// bytes in which file systems lock, and at least one of both writes. Only the first and the last block of each transfer are looked at:
/// others are its own, unless ranks move the same bytes.
pub(crate) fn contended(transfers: &[Transfer], block: u64) -> Vec<bool> {
    let mut found = vec![false; transfers.len()];
    let is_write = |it: &Transfer| it.kind == Kind::Write;
    if !transfers.iter().any(is_write) {
        return found;
    }
    let block = block.max(1);
    let mut blocks: FxHashMap<u64, Block> = FxHashMap::default();
    for it in transfers {
        for number in edges(it, block) {
            blocks.entry(number).or_insert(Block::Of(it.rank)).take(it.rank);
        }
    }
    let mut order: Vec<usize> = (0..transfers.len()).collect();
    order.sort_by_key(|&at| (transfers[at].begin, at));
    for at in order {
        let one = &transfers[at];
        for number in edges(one, block) {
            let Some(Block::Shared(busy)) = blocks.get_mut(&number) else { continue };
            busy.retain(|&other| transfers[other].end > one.begin);
            for &other in &*busy {
                if transfers[other].rank != one.rank && (is_write(one) || is_write(&transfers[other])) {
                    (found[at], found[other]) = (true, true);
                }
            }
            busy.push(at);
        }
    }
    found
}

/// Who has a block.
enum Block {
    /// One rank: so it is with most.
    Of(u32),
    /// Several. Those of their transfers that have not ended.
    Shared(Vec<usize>),
}

impl Block {
    /// A rank has it, too.
    fn take(&mut self, rank: u32) {
        if matches!(self, Block::Of(own) if *own != rank) {
            *self = Block::Shared(Vec::new());
        }
    }
}

/// The blocks of the first and the last byte.
fn edges(transfer: &Transfer, block: u64) -> impl Iterator<Item = u64> {
    let pieces = || transfer.pieces.iter().filter(|(_, length)| *length > 0);
    let first = pieces().map(|(at, _)| at / block).min();
    let last = pieces().map(|(at, length)| at.saturating_add(length - 1) / block).max();
    first.into_iter().chain(last.filter(|_| last != first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(rank: u32, kind: Kind, time: (u64, u64), at: u64, length: u64) -> Transfer {
        crate::tests::transfer(rank, kind, time, &[(at, length)])
    }

    #[test]
    fn one_must_write_at_the_same_time_in_the_same_block() {
        let write = transfer(0, Kind::Write, (0, 10), 0, 100);
        let found =
            |kind, rank, time, at| contended(&[write.clone(), transfer(rank, kind, time, at, 10)], 4096);
        assert_eq!(found(Kind::Write, 1, (5, 6), 100), [true, true]);
        assert_eq!(found(Kind::Read, 1, (5, 6), 100), [true, true]);
        assert_eq!(found(Kind::Write, 0, (5, 6), 100), [false, false]);
        assert_eq!(found(Kind::Write, 1, (10, 12), 100), [false, false]);
        assert_eq!(found(Kind::Write, 1, (5, 6), 4096), [false, false]);
        let read = Transfer { kind: Kind::Read, ..write.clone() };
        assert_eq!(contended(&[read.clone(), Transfer { rank: 1, ..read }], 4096), [false, false]);
        assert_eq!(contended(&[], 0), [false; 0]);
    }
}
