//! The table `last`: who came last to collective operations, and what others waited for whom.

use std::cmp::Reverse;

use details::manifest::Complete;
use details::{Column, Table, Unit};
use rustc_hash::FxHashMap;

use super::collectives::{Regions, communicator};
use super::matrix::ticks;
use super::{Known, NONE};
use crate::matching::Latecomer;
use crate::wire::wire;

/// Processes of a communicator and function that have rows of their own.
const KEPT: usize = 256;

/// Operations in which a process came last, and what others waited for it; the process is none for operations
/// without a last one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Row {
    pub(super) communicator: u32,
    /// The region among those of the trace.
    pub(super) region: u32,
    process: u32,
    pub(super) times: u64,
    caused: u64,
}

wire!(Row { [communicator, region], process, times, caused });

/// Sums by region; `region` is that of a call. Sorted.
pub(super) fn by_region(latecomers: &[Latecomer], region: impl Fn(&Latecomer) -> Option<u32>) -> Vec<Row> {
    summed(latecomers.iter().filter_map(|it| {
        let Latecomer { communicator, process, times, .. } = *it;
        Some(Row { communicator, region: region(it)?, process, times, caused: ticks(it.caused) })
    }))
}

/// Adds up rows of the same communicator, region and process. Sorted.
fn summed(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let mut sums: FxHashMap<(u32, u32, u32), Row> = FxHashMap::default();
    for row in rows {
        sums.entry((row.communicator, row.region, row.process))
            .and_modify(|sum| {
                sum.times = sum.times.saturating_add(row.times);
                sum.caused = sum.caused.saturating_add(row.caused);
            })
            .or_insert(row);
    }
    let mut rows: Vec<Row> = sums.into_values().collect();
    rows.sort_unstable();
    rows
}

/// Makes the table of the rows of all workers.
pub(super) fn table(rows: Vec<Row>, regions: &Regions) -> Known {
    let known = rows.into_iter().filter(|row| row.process != Latecomer::NOBODY);
    let all = summed(known.map(|row| Row {
        communicator: communicator(row.communicator),
        region: regions.number(row.region),
        ..row
    }));
    let mut rows = Vec::with_capacity(all.len());
    let mut left_out = 0;
    for of_function in all.chunk_by(|a, b| (a.communicator, a.region) == (b.communicator, b.region)) {
        left_out += of_function.len().saturating_sub(KEPT);
        rows.extend(severest(of_function));
    }
    let complete = match left_out {
        0 => Complete::Is(true),
        left_out => Complete::No(format!(
            "{left_out} processes are summed up in rows without process: each function of a communicator has {KEPT} at most"
        )),
    };
    let column = |name: &str, unit: Option<Unit>, of: fn(&Row) -> u64| {
        Column::of_numbers(name, unit, rows.iter().map(of))
    };
    let columns = vec![
        column("communicator", None, |row| row.communicator.into()).delta(),
        column("region", None, |row| row.region.into()).delta(),
        column("process", Some(Unit::Process), |row| row.process.into()).delta(),
        column("times", Some(Unit::Count), |row| row.times),
        column("caused", Some(Unit::Tick), |row| row.caused),
    ];
    (Table { name: "last".into(), columns }, complete)
}

/// The rows of a function that have caused most, then came last most often, then have the lowest numbers; and one row for
/// all others.
fn severest(rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    if rows.len() <= KEPT {
        return rows;
    }
    rows.sort_unstable_by_key(|row| (Reverse((row.caused, row.times)), row.process));
    let others = rows.split_off(KEPT);
    rows.sort_unstable_by_key(|row| row.process);
    let mut rest = Row { process: NONE, times: 0, caused: 0, ..others[0] };
    for other in &others {
        rest.times = rest.times.saturating_add(other.times);
        rest.caused = rest.caused.saturating_add(other.caused);
    }
    rows.push(rest);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(process: u32, times: u64, caused: u64) -> Row {
        Row { communicator: 1, region: 2, process, times, caused }
    }

    #[test]
    fn those_that_caused_most_have_rows_and_the_others_one() {
        let all: Vec<Row> = (0..300).map(|process| row(process, 1, u64::from(process) % 2)).collect();
        let rows = severest(&all);
        assert_eq!(rows.len(), KEPT + 1);
        assert!(rows.is_sorted_by_key(|row| row.process));
        // All 150 that caused something, and of the others the lowest.
        assert!(rows[..KEPT].iter().filter(|row| row.caused == 1).count() == 150);
        assert_eq!(rows[KEPT], row(NONE, 44, 0));
        assert_eq!(severest(&all[..KEPT]), all[..KEPT]);
    }

    #[test]
    fn operations_without_a_last_one_have_no_row() {
        let latecomer = |process, times| Latecomer {
            communicator: 1,
            speaker: 0,
            path: crate::ids::PathId::new(5),
            process,
            times,
            caused: 3,
        };
        let all = [latecomer(4, 1), latecomer(Latecomer::NOBODY, 7), latecomer(4, 2)];
        let rows = by_region(&all, |_| Some(2));
        assert_eq!(rows, [row(4, 3, 6), row(Latecomer::NOBODY, 7, 3)]);
        assert_eq!(by_region(&all, |_| None), []);
    }
}
