//! Bytes that need not have been read (io.md 5.2): those that a rank has written itself, and those that it has read before.

use serde::{Deserialize, Serialize};

use crate::access::Kind;
use crate::by_opening::ByOpening;
use crate::owners::{Owners, Place};
use crate::transfer::Transfer;

/// Bytes that were read of a file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Reads {
    /// All of them.
    pub bytes: u64,
    /// Those whose last writer in the run is the rank itself.
    pub own: u64,
    /// Others that the rank had read of this opening before.
    pub again: u64,
    /// Those whose last writer in the run is another rank.
    pub of_others: u64,
    /// Different bytes, by rank and opening.
    pub distinct: u64,
}

impl Reads {
    /// Adds those of another file or rank.
    pub fn merge(&mut self, other: &Reads) {
        for (own, their) in [
            (&mut self.bytes, other.bytes),
            (&mut self.own, other.own),
            (&mut self.again, other.again),
            (&mut self.of_others, other.of_others),
            (&mut self.distinct, other.distinct),
        ] {
            *own = own.saturating_add(their);
        }
    }
}

/// What ranks read of one file, of which all transfers are shown in the order of time.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reading {
    writers: Owners<u32>,
    /// By list.
    ranks: Vec<Rank>,
    /// All that was read.
    pub(crate) all: Reads,
}

/// Where a rank has written and read.
#[derive(Clone, Default, Debug)]
struct Rank {
    /// Where it was among the writers.
    place: Place,
    /// What it has read, and where it was among that.
    read: ByOpening<(Owners<()>, Place)>,
}

impl Reading {
    /// Nothing was shown yet of so many lists, one of each rank.
    pub(crate) fn new(lists: usize) -> Reading {
        Reading { ranks: vec![Rank::default(); lists], ..Reading::default() }
    }

    /// What a transfer of a list has read.
    pub(crate) fn see(&mut self, list: usize, transfer: &Transfer) -> Reads {
        let mut reads = Reads::default();
        let ends = transfer.pieces.iter().map(|&(at, length)| (at, at.saturating_add(length)));
        let (writers, rank) = (&mut self.writers, &mut self.ranks[list]);
        if transfer.kind == Kind::Write {
            ends.for_each(|(at, end)| writers.set(at, end, transfer.rank, &mut rank.place));
            return reads;
        }
        let (before, read_place) = rank.read.of(transfer.opening);
        for (at, end) in ends {
            reads.bytes = reads.bytes.saturating_add(end - at);
            writers.parts(at, end, &mut rank.place, |from, to, writer| {
                let mut read = 0;
                before.parts(from, to, read_place, |from, to, known| read += known.map_or(0, |()| to - from));
                reads.distinct = reads.distinct.saturating_add(to - from - read);
                match writer {
                    Some(writer) if writer == transfer.rank => {
                        reads.own = reads.own.saturating_add(to - from)
                    }
                    _ => reads.again = reads.again.saturating_add(read),
                }
                if writer.is_some_and(|writer| writer != transfer.rank) {
                    reads.of_others = reads.of_others.saturating_add(to - from);
                }
            });
            before.set(at, end, (), read_place);
        }
        self.all.merge(&reads);
        reads
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    fn transfer(rank: u32, kind: Kind, begin: u64, pieces: &[(u64, u64)]) -> Transfer {
        crate::tests::transfer(rank, kind, (begin, begin + 1), pieces)
    }

    /// What each rank reads; all of them together is the sum.
    fn by_rank(list: &[Transfer]) -> BTreeMap<u32, Reads> {
        let (mut ranks, mut reading): (BTreeMap<u32, Reads>, _) = (BTreeMap::new(), Reading::new(3));
        for it in list {
            let reads = reading.see(it.rank as usize, it);
            if it.kind == Kind::Read {
                ranks.entry(it.rank).or_default().merge(&reads);
            }
        }
        let mut sum = Reads::default();
        ranks.values().for_each(|reads| sum.merge(reads));
        assert_eq!(reading.all, sum);
        ranks
    }

    #[test]
    fn bytes_are_own_read_again_or_of_others() {
        let list = [
            transfer(0, Kind::Write, 0, &[(0, 10)]),
            transfer(1, Kind::Write, 1, &[(4, 2)]),
            transfer(0, Kind::Read, 2, &[(0, 12)]),
            transfer(0, Kind::Read, 3, &[(5, 7)]),
        ];
        let found = Reads { bytes: 19, own: 8 + 4, again: 1 + 2, of_others: 2 + 1, distinct: 12 };
        assert_eq!(by_rank(&list), BTreeMap::from([(0, found)]));
    }

    /// Byte by byte.
    fn plain(list: &[Transfer]) -> BTreeMap<u32, Reads> {
        let (mut writer, mut seen) = (BTreeMap::new(), std::collections::BTreeSet::new());
        let mut all: BTreeMap<u32, Reads> = BTreeMap::new();
        for it in list {
            for byte in it.pieces.iter().flat_map(|&(at, length)| at..at + length) {
                if it.kind == Kind::Write {
                    writer.insert(byte, it.rank);
                    continue;
                }
                let reads = all.entry(it.rank).or_default();
                let is_new = seen.insert((it.rank, it.opening, byte));
                let own = writer.get(&byte) == Some(&it.rank);
                reads.bytes += 1;
                reads.own += u64::from(own);
                reads.again += u64::from(!own && !is_new);
                reads.of_others += u64::from(!own && writer.contains_key(&byte));
                reads.distinct += u64::from(is_new);
            }
        }
        all
    }

    proptest! {
        #[test]
        fn ranges_say_what_bytes_say(list in prop::collection::vec((0..3_u32, 0..2_u64, any::<bool>(), prop::collection::vec((0..40_u64, 1..12_u64), 1..3)), 0..40)) {
            let kind = |reads| if reads { Kind::Read } else { Kind::Write };
            let list: Vec<Transfer> = (0..).zip(list).map(|(begin, (rank, opening, reads, pieces))| {
                Transfer { opening, ..transfer(rank, kind(reads), begin, &pieces) }
            }).collect();
            prop_assert_eq!(by_rank(&list), plain(&list));
        }
    }
}
