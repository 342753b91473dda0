//! What operations of MPI-IO become: requests of POSIX that the MPI library makes within them (io.md 5.3, "at the bottom").

use serde::{Deserialize, Serialize};

use crate::access::{Access, Kind, Layer};
use crate::numbers::{count, sum};
use crate::operation::Operation;

/// Requests of POSIX within operations.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Requests {
    /// How many.
    pub count: u64,
    /// Bytes that they move, both ways.
    pub bytes: u64,
    /// How many of them are small, and move something.
    pub small: u64,
    /// Ticks that small ones take.
    pub small_time: u64,
}

impl Requests {
    /// Adds a request of so many bytes that took so many ticks; it is small below `limit` bytes.
    pub(crate) fn add(&mut self, bytes: u64, ticks: u64, limit: u64) {
        let is_small = bytes > 0 && bytes < limit;
        let small_time = if is_small { ticks } else { 0 };
        self.merge(&Requests { count: 1, bytes, small: is_small.into(), small_time });
    }

    fn merge(&mut self, other: &Requests) {
        self.count = self.count.saturating_add(other.count);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.small = self.small.saturating_add(other.small);
        self.small_time = self.small_time.saturating_add(other.small_time);
    }
}

/// What a rank's blocking operations on a file became, of one direction and either collective or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Beneath {
    /// Whether bytes are read or written.
    pub kind: Kind,
    /// Whether operations are collective.
    pub collective: bool,
    /// Bytes of these operations.
    pub asked: u64,
    /// How many of them move something.
    pub moving: u64,
    /// Pieces that lie apart in the file, of those that move something; `None` if they are unknown.
    pub pieces: Option<u64>,
    /// Ticks that these operations take.
    pub time: u64,
    /// What they became at this rank: one that collects data makes requests for others, too.
    pub requests: Requests,
}

impl Beneath {
    fn new(kind: Kind, collective: bool) -> Beneath {
        Beneath {
            kind,
            collective,
            asked: 0,
            moving: 0,
            pieces: Some(0),
            time: 0,
            requests: Requests::default(),
        }
    }

    fn is_of(&self, kind: Kind, collective: bool) -> bool {
        (self.kind, self.collective) == (kind, collective)
    }
}

/// Adds an operation of a rank on a file with its pieces and its requests to what others of the rank on the file became.
pub(crate) fn add(all: &mut Vec<Beneath>, operation: &Operation, pieces: usize, requests: &Requests) {
    let Access { kind, layer: Layer::Mpi, collective, non_blocking: false, .. } = operation.access else {
        return;
    };
    let known = all.iter().position(|it| it.is_of(kind, collective));
    let at = known.unwrap_or_else(|| {
        all.push(Beneath::new(kind, collective));
        all.len() - 1
    });
    let own = &mut all[at];
    own.time = own.time.saturating_add(operation.end.saturating_sub(operation.begin));
    own.requests.merge(requests);
    if operation.size > 0 {
        own.asked = own.asked.saturating_add(operation.size);
        own.moving += 1;
        own.pieces = if pieces > 0 { own.pieces.map(|all| all.saturating_add(count(pieces))) } else { None };
    }
}

/// What operations of all ranks on a file became, of one direction and either collective or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bottom {
    /// Whether bytes are read or written.
    pub kind: Kind,
    /// Whether operations are collective.
    pub collective: bool,
    /// How many ranks move data.
    pub np: u64,
    /// How many ranks reach the file: make requests.
    pub reaching: u64,
    /// Bytes asked for.
    pub asked: u64,
    /// Operations that move something.
    pub moving: u64,
    /// Pieces that lie apart in the file; `None` if they are unknown.
    pub pieces: Option<u64>,
    /// Requests of POSIX.
    pub requests: Requests,
    /// Ticks of the operations at the rank that takes longest; of collective ones at that which takes least, as others wait in them
    /// for the last one.
    pub time: u64,
    /// Ticks of small requests at the rank that takes longest for them.
    pub small_time: u64,
}

/// What operations on a file became, from that of each of its ranks; nothing if no requests were recorded, as then it is unknown.
pub(crate) fn bottoms<'a>(ranks: impl Iterator<Item = &'a [Beneath]> + Clone) -> Vec<Bottom> {
    let manners = [Kind::Read, Kind::Write].into_iter().flat_map(|kind| [(kind, false), (kind, true)]);
    let all = manners.map(|(kind, collective)| {
        let of = ranks.clone().flatten().filter(|it| it.is_of(kind, collective));
        bottom((kind, collective), &of.collect::<Vec<_>>())
    });
    all.filter(|bottom| bottom.requests.count > 0).collect()
}

fn bottom((kind, collective): (Kind, bool), ranks: &[&Beneath]) -> Bottom {
    let mut requests = Requests::default();
    ranks.iter().for_each(|it| requests.merge(&it.requests));
    let having = |has: fn(&Beneath) -> bool| count(ranks.iter().filter(|it| has(it)).count());
    let times = || ranks.iter().map(|it| it.time);
    Bottom {
        kind,
        collective,
        np: having(|it| it.asked > 0),
        reaching: having(|it| it.requests.count > 0),
        asked: sum(ranks.iter().map(|it| it.asked)),
        moving: sum(ranks.iter().map(|it| it.moving)),
        pieces: ranks.iter().map(|it| it.pieces).try_fold(0_u64, |all, it| Some(all.saturating_add(it?))),
        requests,
        time: if collective { times().min() } else { times().max() }.unwrap_or(0),
        small_time: ranks.iter().map(|it| it.requests.small_time).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{access, write};

    fn operation(size: u64, ticks: u64, layer: Layer) -> Operation {
        let access = Access { layer, collective: true, ..access(Kind::Write) };
        Operation { access, end: ticks, ..write(0, 0, size) }
    }

    #[test]
    fn one_rank_that_reaches_the_file_for_all_is_told() {
        let mut requests = Requests::default();
        requests.add(300, 7, 100);
        requests.add(20, 5, 100);
        requests.add(0, 5, 100);
        let of = |size, ticks, requests: &Requests| {
            let mut all = Vec::new();
            add(&mut all, &operation(size, ticks, Layer::Mpi), 4, requests);
            add(&mut all, &operation(size, ticks, Layer::Posix), 4, requests);
            all
        };
        let none = Requests::default();
        let ranks = [of(100, 30, &requests), of(220, 50, &none), of(0, 9, &none)];
        let expected = Bottom {
            kind: Kind::Write,
            collective: true,
            np: 2,
            reaching: 1,
            asked: 320,
            moving: 2,
            pieces: Some(8),
            requests: Requests { count: 3, bytes: 320, small: 1, small_time: 5 },
            time: 9,
            small_time: 5,
        };
        let found = |ranks: &[Vec<Beneath>]| bottoms(ranks.iter().map(Vec::as_slice));
        assert_eq!(found(&ranks), [expected]);
        assert_eq!(found(&ranks[1..]), []);
    }

    #[test]
    fn unknown_pieces_of_one_operation_are_unknown_pieces_of_all() {
        let mut all = Vec::new();
        for pieces in [3, 0] {
            add(&mut all, &operation(8, 1, Layer::Mpi), pieces, &Requests::default());
        }
        assert_eq!((all.len(), all[0].pieces), (1, None));
    }
}
