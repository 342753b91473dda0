//! Table `critical`: the critical path over time.
//!
//! A row is a stretch of the path on a location. It ends where the path, in the order of time, goes on elsewhere, and is as
//! long as the time on the path is, so that the rows sum up to the metric. If there are very many, the longest of each piece
//! of the run stay.

use std::cmp::Reverse;

use details::manifest::Complete;
use details::{Column, Table, Unit, Values};
use model::Ticks;

use crate::causes::DelayClass;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, reduce};
use crate::ids::ReportPath;
use crate::int::{to_u32, to_u64, to_usize};
use crate::wire::{Half, Wire, wire};

/// Rows of the table, at most.
const MOST: usize = 1 << 16;

/// Equal pieces of the run, and rows that stay of each where there are too many.
const PIECES: usize = 1 << 14;
const OF_PIECE: usize = MOST / PIECES;

/// How the critical path goes on after a stretch, in the order of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Link {
    /// Not at all: here the search has begun.
    Begin,
    /// At a location that waits for a message of this one, or for its receive.
    Message,
    /// At a member of a collective operation.
    Collective,
    /// At a thread of the team.
    Team,
    /// At a stream of an accelerator, or from there at a thread.
    Offload,
}

impl Link {
    const ALL: [Link; 5] = [Link::Begin, Link::Message, Link::Collective, Link::Team, Link::Offload];

    /// The link of a delay.
    pub fn of(class: DelayClass) -> Link {
        match class {
            DelayClass::LateSender | DelayClass::LateReceiver | DelayClass::Progress => Link::Message,
            DelayClass::ThreadBarrier | DelayClass::IdleThreads => Link::Team,
            DelayClass::Accelerator => Link::Offload,
            _ => Link::Collective,
        }
    }
}

impl Half for Link {
    fn to_half(self) -> u32 {
        self as u32
    }

    fn of_half(half: u32) -> Link {
        Link::ALL[half as usize]
    }
}

impl Wire for Link {
    fn put(&self, batch: &mut Batch) {
        self.to_half().put(batch);
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        Link::of_half(Wire::get(reader))
    }
}

/// A stretch of the critical path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PathRow {
    /// Its begin.
    pub begin: Ticks,
    /// Its end.
    pub end: Ticks,
    /// Its location.
    pub location: u32,
    /// The call path of the report with most of its time.
    pub path: ReportPath,
    /// That time.
    pub path_ticks: Ticks,
    /// How it goes on.
    pub link: Link,
}

/// Number of words of a row in a batch.
const WORDS: usize = 5;

wire!(PathRow { begin, end, [location, path], path_ticks, link });

/// The critical path of some locations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathRows {
    rows: Vec<PathRow>,
    /// Length of the run, in ticks.
    run: u64,
    /// By piece of the run: rows that were left out; empty without any.
    left_out: Vec<u64>,
}

impl PathRows {
    /// No rows yet, of a run of this length in ticks.
    pub fn new(run: u64) -> PathRows {
        PathRows { rows: Vec::new(), run, left_out: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: PathRow) {
        self.rows.push(row);
        if self.rows.len() >= 2 * MOST {
            self.prune();
        }
    }

    /// The rows of all locations, at worker 0.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn of_all(self, exchange: &mut dyn Exchange) -> Result<PathRows, Error> {
        let mut all = reduce(exchange, self, PathRows::encode, PathRows::merge)?;
        if all.count() > to_u64(MOST) {
            all.prune();
        }
        all.rows.sort_unstable();
        Ok(all)
    }

    /// The number of rows, with those left out.
    fn count(&self) -> u64 {
        to_u64(self.rows.len()) + self.left_out.iter().sum::<u64>()
    }

    /// The piece of the run in which a row begins.
    fn piece(&self, row: &PathRow) -> usize {
        let run = u128::from(self.run.max(1));
        let begin = u128::from(row.begin.max(0).unsigned_abs()).min(run - 1);
        to_usize(crate::int::words(begin * PIECES as u128 / run)[1])
    }

    /// Leaves out all but the longest rows of each piece.
    fn prune(&mut self) {
        let mut rows: Vec<(usize, PathRow)> = self.rows.iter().map(|row| (self.piece(row), *row)).collect();
        rows.sort_unstable_by_key(|&(piece, row)| (piece, Reverse(row.end.saturating_sub(row.begin)), row));
        self.left_out.resize(PIECES, 0);
        self.rows.clear();
        for of_piece in rows.chunk_by(|a, b| a.0 == b.0) {
            let (kept, left_out) = of_piece.split_at(of_piece.len().min(OF_PIECE));
            self.rows.extend(kept.iter().map(|(_, row)| row));
            self.left_out[of_piece[0].0] += to_u64(left_out.len());
        }
    }

    fn encode(&self) -> Batch {
        let mut batch = Batch::with_capacity(WORDS * self.rows.len() + self.left_out.len() + 2);
        self.left_out.put(&mut batch);
        self.rows.put(&mut batch);
        batch
    }

    /// Adds the rows of the next higher workers.
    fn merge(&mut self, words: &[u64]) {
        let mut reader = BatchReader::new(words);
        let left_out: Vec<u64> = Wire::get(&mut reader);
        self.left_out.resize(self.left_out.len().max(left_out.len()), 0);
        self.left_out.iter_mut().zip(left_out).for_each(|(sum, more)| *sum += more);
        self.rows.extend(Vec::<PathRow>::get(&mut reader));
        if self.rows.len() > MOST {
            self.prune();
        }
    }
}

/// Makes the table of the rows of all locations.
pub(super) fn table(all: &PathRows) -> (Table, Complete) {
    let PathRows { rows, left_out, .. } = all;
    let mut left = left_out.clone();
    // All that was left out of a piece of the run stands at its first row.
    let hops = rows.iter().map(|row| left.get_mut(all.piece(row)).map_or(0, std::mem::take)).collect();
    let times = |name: &str, of: fn(&PathRow) -> Ticks| {
        Column::new(name, Some(Unit::Tick), Values::I64(rows.iter().map(of).collect()))
    };
    let numbers = |name: &str, unit: Unit, of: fn(&PathRow) -> u32| {
        Column::new(name, Some(unit), Values::U32(rows.iter().map(of).collect()))
    };
    let links = rows.iter().map(|row| row.link as u8).collect();
    let columns = vec![
        numbers("location", Unit::Location, |row| row.location),
        times("begin", |row| row.begin).delta(),
        times("end", |row| row.end).delta(),
        numbers("cnode", Unit::Cnode, |row| row.path.to_half()),
        times("cnode_ticks", |row| row.path_ticks),
        Column::new("hop", None, Values::U8(links)),
        Column::new("hops", Some(Unit::Count), Values::U64(hops)),
    ];
    let complete = match all.count() - to_u64(rows.len()) {
        0 => Complete::Is(true),
        _ => Complete::No(format!(
            "{} of {} stretches: the {OF_PIECE} longest of each of {PIECES} pieces of the run",
            to_u32(rows.len()),
            all.count()
        )),
    };
    (Table { name: "critical".into(), columns }, complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(begin: Ticks, ticks: Ticks) -> PathRow {
        let path = ReportPath::new(3);
        PathRow { begin, end: begin + ticks, location: 7, path, path_ticks: ticks, link: Link::Team }
    }

    #[test]
    fn of_too_many_rows_the_longest_of_each_piece_stay() {
        let run = 5 * MOST as u64;
        let mut all = PathRows::new(run);
        let mut others = all.clone();
        for (number, begin) in (0..run as Ticks).enumerate() {
            let rows = if number % 3 == 0 { &mut all } else { &mut others };
            rows.push(row(begin, begin % 20));
        }
        all.merge(&others.encode());
        all.prune();
        all.rows.sort_unstable();
        assert_eq!((all.rows.len(), all.count()), (MOST, run));
        // 20 rows begin in each piece.
        assert_eq!(all.rows[..5], [16, 17, 18, 19, 36].map(|begin| row(begin, begin % 20)));
        let (table, complete) = table(&all);
        let Values::U64(hops) = &table.column("hops").unwrap().values else { panic!("counts") };
        assert_eq!(hops[..5], [16, 0, 0, 0, 16]);
        assert!(matches!(complete, Complete::No(_)));
    }

    #[test]
    fn few_rows_are_all_there() {
        let mut all = PathRows::new(0);
        all.push(row(-5, 7));
        let mut one = PathRows::new(0);
        one.merge(&all.encode());
        assert_eq!(one, all);
        assert_eq!(table(&one).1, Complete::Is(true));
    }
}
