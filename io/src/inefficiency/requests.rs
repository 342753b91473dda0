//! Requests of a file that are too small, lie badly, or need not be.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{Flaw, Inefficiency, share_of, share_of_part};
use crate::access::{Kind, Layer};
use crate::beneath::Bottom;
use crate::bytes::Reads;
use crate::facts::FileFacts;
use crate::mode::Mode;
use crate::numbers::to_f64;
use crate::outline::{Outline, Sizes};
use crate::thresholds::Thresholds;

/// What is known of a file besides its transfers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// What was done to it.
    pub(crate) facts: &'a FileFacts,
    /// Bytes that its family moved by mode.
    pub(crate) modes: &'a BTreeMap<Mode, u64>,
    /// What was read of it, if it is known where.
    pub(crate) reads: Option<&'a Reads>,
    /// What the MPI library has made of its operations, if that was recorded.
    pub(crate) bottoms: &'a [Bottom],
    /// Length of the run in ticks of the clock.
    pub(crate) run: u64,
}

/// Requests of which the same holds.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Group {
    count: u64,
    /// Ticks of the rank that takes longest for them.
    time: u64,
}

impl Group {
    /// Whether it is more than a share of all.
    fn is_more(&self, share: f64, of: u64) -> bool {
        to_f64(self.count) > share * to_f64(of)
    }
}

/// Requests of a file of which something holds. Those that move nothing are none of them. There may be millions, so that they are looked at
/// once, before it is known what else is done to the file.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub(crate) struct RequestTotals {
    all: Group,
    reads: Group,
    small: Group,
    /// Where a place is unknown, nothing is said of it.
    misaligned: Group,
    unordered: Group,
    contended: Group,
    writes: u64,
    /// Mean ticks of contended writes, and of others of like size.
    mean_times: Option<(f64, f64)>,
}

impl RequestTotals {
    /// The contended writes, and whether there is nothing to compare their time with; if they are too many, and slower than others.
    fn contention(&self, limits: &Thresholds) -> Option<(Group, bool)> {
        if !self.contended.is_more(limits.contended_share, self.writes) {
            return None;
        }
        let is_slower = self.mean_times.is_none_or(|(own, others)| own >= limits.contended_slower * others);
        is_slower.then_some((self.contended, self.mean_times.is_none()))
    }
}

/// Adds up the requests of a file.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    sizes: Sizes,
    /// How many are in each group of [`RequestTotals`], in their order.
    counts: [u64; GROUPS],
    /// Their ticks by list, as each rank has one.
    times: Vec<[u64; GROUPS]>,
    writes: u64,
    /// Contended writes.
    contended: Writes,
    /// Other writes by size.
    others: FxHashMap<u64, Writes>,
    /// The last ones of these, of one size: most follow one of their own size.
    last: (u64, Writes),
}

/// Groups of requests.
const GROUPS: usize = 6;

/// Sums over writes.
#[derive(Clone, Copy, Default, Debug)]
struct Writes {
    count: u64,
    bytes: u64,
    time: u64,
}

impl Writes {
    fn add(&mut self, other: Writes) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time = self.time.saturating_add(other.time);
    }

    /// The mean of a sum over them, if there are any.
    fn mean(&self, sum: u64) -> Option<f64> {
        (self.count > 0).then(|| to_f64(sum) / to_f64(self.count))
    }
}

impl Totals {
    /// No request yet of so many lists.
    pub(crate) fn new(lists: usize, sizes: Sizes) -> Totals {
        Totals {
            sizes,
            counts: [0; GROUPS],
            times: vec![[0; GROUPS]; lists],
            writes: 0,
            contended: Writes::default(),
            others: FxHashMap::default(),
            last: (0, Writes::default()),
        }
    }

    /// Adds a request.
    pub(crate) fn add(&mut self, it: &Outline) {
        if it.size == 0 {
            return;
        }
        let (is_write, time) = (it.kind == Kind::Write, it.duration());
        let groups = [
            true,
            !is_write,
            it.size < self.sizes.small,
            self.sizes.are_missed(it),
            it.is_unordered,
            is_write && it.is_contended,
        ];
        for ((count, own), is_in) in self.counts.iter_mut().zip(&mut self.times[it.list]).zip(groups) {
            if is_in {
                *count += 1;
                *own = own.saturating_add(time);
            }
        }
        if is_write {
            self.writes += 1;
            let own = Writes { count: 1, bytes: it.size, time };
            match it.is_contended {
                true => self.contended.add(own),
                false if it.size == self.last.0 => self.last.1.add(own),
                false => {
                    self.add_last();
                    self.last = (it.size, own);
                }
            }
        }
    }

    fn add_last(&mut self) {
        let (size, writes) = self.last;
        self.others.entry(size).or_default().add(writes);
    }

    /// All of them.
    pub(crate) fn finish(mut self) -> RequestTotals {
        self.add_last();
        let group = |at: usize| Group {
            count: self.counts[at],
            time: self.times.iter().map(|times| times[at]).max().unwrap_or(0),
        };
        RequestTotals {
            all: group(0),
            reads: group(1),
            small: group(2),
            misaligned: group(3),
            unordered: group(4),
            contended: group(5),
            writes: self.writes,
            mean_times: self.mean_times(),
        }
    }

    fn mean_times(&self) -> Option<(f64, f64)> {
        let size = self.contended.mean(self.contended.bytes)?;
        let is_alike = |own: u64| to_f64(own) <= 1.25 * size && size <= 1.25 * to_f64(own);
        let mut alike = Writes::default();
        self.others.iter().filter(|(own, _)| is_alike(**own)).for_each(|(_, writes)| alike.add(*writes));
        self.contended.mean(self.contended.time).zip(alike.mean(alike.time))
    }
}

/// What is inefficient in the requests of a file, in the order of [`Flaw`].
pub(crate) fn of_file(totals: &RequestTotals, known: &Known<'_>, limits: &Thresholds) -> Vec<Inefficiency> {
    let found =
        |flaw, concerned: u64, of: u64, cost: f64| Inefficiency::new(flaw, known.name, (concerned, of), cost);
    let requests =
        |flaw, group: Group, of: u64| found(flaw, group.count, of, share_of(group.time, known.run));
    let RequestTotals { small, misaligned, unordered, .. } = *totals;
    let of = totals.all.count;
    let mut all = Vec::new();

    // Where it is known what operations became, that is what counts (`of_bottoms`).
    if known.bottoms.is_empty()
        && small.is_more(limits.small_share, of)
        && small.count > limits.small_requests
    {
        all.push(requests(Flaw::SmallRequests, small, of));
    }
    if misaligned.is_more(limits.misaligned_share, of) {
        all.push(requests(Flaw::Misaligned, misaligned, of));
    }
    if unordered.is_more(limits.out_of_order_share, of) && unordered.count > limits.out_of_order_requests {
        all.push(requests(Flaw::OutOfOrder, unordered, of));
    }
    all.extend(
        independent(known, limits)
            .map(|(alone, of)| found(Flaw::Independent, alone, of, share_of(totals.all.time, known.run))),
    );
    if let Some(reads) = known.reads.filter(|reads| reads.bytes > 0) {
        let time = to_f64(totals.reads.time) / to_f64(reads.bytes);
        let cost = |bytes: u64| share_of_part(time * to_f64(bytes), known.run);
        let again = reads.bytes.saturating_sub(reads.distinct);
        if to_f64(reads.bytes) > limits.read_again * to_f64(reads.distinct) {
            all.push(found(Flaw::ReadAgain, again, reads.bytes, cost(again)));
        }
        if reads.own > 0 && to_f64(reads.own) >= limits.own_share * to_f64(reads.bytes) {
            all.push(found(Flaw::OwnOutput, reads.own, reads.bytes, cost(reads.own)));
        }
    }
    all.extend(totals.contention(limits).map(|(contended, is_possible)| Inefficiency {
        is_possible,
        ..requests(Flaw::Contended, contended, totals.writes)
    }));
    all.retain(|it| it.cost >= limits.cost);
    all
}

/// How many requests of a shared file are independent ones of MPI-IO, and of how many, if they are too many.
fn independent(known: &Known<'_>, limits: &Thresholds) -> Option<(u64, u64)> {
    let mut all = 0_u64;
    let mut alone = 0_u64;
    for it in &known.facts.accesses {
        if it.access.collective {
            return None;
        }
        all = all.saturating_add(it.operations);
        alone = alone.saturating_add(if it.access.layer == Layer::Mpi { it.operations } else { 0 });
    }
    let bytes = |mode: Mode| known.modes.get(&mode).copied().unwrap_or(0);
    let is_spread = bytes(Mode::Strided).saturating_add(bytes(Mode::Random)) > bytes(Mode::Sequential);
    let is_shared = known.facts.members.is_some_and(|members| members > 1);
    let is_much =
        alone > limits.independent_requests && to_f64(alone) > limits.independent_share * to_f64(all);
    (is_spread && is_shared && is_much).then_some((alone, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Access;
    use crate::look::look_at;
    use crate::tests::{access, lists};
    use crate::transfer::Transfer;

    /// Writes of 8 bytes by these ranks at these places, one tick each, one behind the other.
    fn writes(places: impl IntoIterator<Item = (u32, u64)>) -> Vec<Transfer> {
        let transfer = |(begin, (rank, at)): (u64, (u32, u64))| {
            crate::tests::transfer(rank, Kind::Write, (begin, begin + 1), &[(at, 8)])
        };
        (0..).zip(places).map(transfer).collect()
    }

    fn all(transfers: &[Transfer], known: &Known<'_>) -> Vec<Inefficiency> {
        let limits = Thresholds::default();
        let sizes = Sizes { block: limits.block_bytes, small: limits.small_bytes };
        let seen = look_at(&lists(transfers), (limits.block_bytes, sizes), &mut BTreeMap::new(), |_| {});
        of_file(&seen.requests, known, &limits)
    }

    fn flaws(transfers: &[Transfer], known: &Known<'_>) -> Vec<(Flaw, u64, u64)> {
        let found = all(transfers, known);
        found.into_iter().map(|it| (it.flaw, it.concerned, it.of)).collect()
    }

    #[test]
    fn many_small_requests_are_told_if_they_cost_something() {
        let (facts, modes) = Default::default();
        let known =
            Known { name: "f", facts: &facts, modes: &modes, reads: None, bottoms: &[], run: 100_000 };
        let aligned = |count: u64| writes((0..count).map(|at| (0, 4096 * at)));
        assert_eq!(flaws(&aligned(1001), &known), [(Flaw::SmallRequests, 1001, 1001)]);
        assert_eq!(flaws(&aligned(1000), &known), []);
        // The same in a run of which they are less than a hundredth.
        assert_eq!(flaws(&aligned(1001), &Known { run: 100_200, ..known }), []);
    }

    #[test]
    fn misaligned_and_unordered_requests_need_a_place() {
        let (facts, modes) = Default::default();
        let known = Known { name: "f", facts: &facts, modes: &modes, reads: None, bottoms: &[], run: 10_000 };
        let mut backward = writes((0..1200).map(|at| (0, 8 * (1200 - at))));
        let expected = [
            (Flaw::SmallRequests, 1200, 1200),
            // Every 512th begins at a block.
            (Flaw::Misaligned, 1198, 1200),
            (Flaw::OutOfOrder, 1199, 1200),
        ];
        assert_eq!(flaws(&backward, &known), expected);
        // Of what goes through a buffer, it is not known where the requests of that begin.
        backward.iter_mut().for_each(|it| it.is_buffered = true);
        assert_eq!(flaws(&backward, &known), [expected[0], expected[2]]);
        backward.iter_mut().for_each(|it| it.pieces.clear());
        assert_eq!(flaws(&backward, &known), expected[..1]);
    }

    #[test]
    fn independent_requests_are_told_of_strided_shared_files_without_collective_ones() {
        let transfers = writes((0..2000).map(|at| (at % 2, 4096 * u64::from(at))));
        let access = access(Kind::Write);
        let totals = |access, operations| crate::facts::AccessTotals {
            access,
            operations,
            bytes: 8 * operations,
            sizes: Default::default(),
        };
        let facts =
            FileFacts { members: Some(2), accesses: vec![totals(access, 2000)], ..FileFacts::default() };
        let strided = BTreeMap::from([(Mode::Strided, 16_000)]);
        let known =
            Known { name: "f", facts: &facts, modes: &strided, reads: None, bottoms: &[], run: 10_000 };
        let is_told =
            |known: &Known<'_>| flaws(&transfers, known).iter().any(|(flaw, ..)| *flaw == Flaw::Independent);
        assert!(is_told(&known));
        assert!(!is_told(&Known { modes: &BTreeMap::from([(Mode::Sequential, 16_000)]), ..known }));
        let alone = FileFacts { members: Some(1), ..facts.clone() };
        assert!(!is_told(&Known { facts: &alone, ..known }));
        let mut mixed = facts.clone();
        mixed.accesses.push(totals(Access { collective: true, ..access }, 1));
        assert!(!is_told(&Known { facts: &mixed, ..known }));
    }

    #[test]
    fn reading_again_and_own_output_are_told_by_their_bytes() {
        let (facts, modes) = Default::default();
        let reading: Vec<Transfer> = writes((0..100).map(|at| (0, 4096 * (at % 50))))
            .into_iter()
            .map(|it| Transfer { kind: Kind::Read, ..it })
            .collect();
        let of = |own, distinct| {
            let reads = Reads { bytes: 800, own, distinct, ..Reads::default() };
            let known = Known {
                name: "f",
                facts: &facts,
                modes: &modes,
                reads: Some(&reads),
                bottoms: &[],
                run: 1000,
            };
            flaws(&reading, &known)
        };
        assert_eq!(of(0, 400), [(Flaw::ReadAgain, 400, 800)]);
        assert_eq!(of(80, 800), [(Flaw::OwnOutput, 80, 800)]);
        assert_eq!(of(79, 728), []);
    }

    #[test]
    fn contended_writes_must_be_slower_than_others_of_like_size() {
        let (facts, modes) = Default::default();
        let known = Known { name: "f", facts: &facts, modes: &modes, reads: None, bottoms: &[], run: 100 };
        // Two ranks write at one time to one block, and then to blocks of their own.
        let mut transfers = writes([(0, 0), (1, 2048), (0, 8192), (1, 16_384)]);
        for (at, (begin, end)) in [(0, 10), (0, 10), (20, 24), (20, 24)].into_iter().enumerate() {
            (transfers[at].begin, transfers[at].end) = (begin, end);
        }
        let found = |transfers: &[Transfer]| {
            let all = all(transfers, &known).into_iter().filter(|it| it.flaw == Flaw::Contended);
            all.map(|it| (it.concerned, it.of, it.is_possible)).collect::<Vec<_>>()
        };
        assert_eq!(found(&transfers), [(2, 4, false)]);
        assert_eq!(found(&transfers[..2]), [(2, 2, true)]);
        transfers[2].end = 27;
        assert_eq!(found(&transfers), []);
    }
}
