//! The times of all iterations of the loop of which some are recorded: a table beside the anchor.
//!
//! A row is an iteration, or several in a row where processes have not kept all: those before the loop was found are one row, and
//! where there were too many each row has as many as are from one to the next. Rows follow each other without a gap.

use super::iterations::{self, RecordedLoop};
use super::run::Run;
use crate::Error;
use details::{Column, Table, Unit, Values};
use recording::iterations::{IterationsHeader, MAGIC, Moment};
use recording::layout;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Moments of a loop of a process: by iteration its begin; behind the last one the end of that.
type Moments = BTreeMap<u64, Moment>;

/// Iterations in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Row {
    /// The first one, and the one behind the last.
    iterations: [u64; 2],
    /// When the last process began them, in ticks of the trace.
    begin: u64,
    /// Ticks from then until the last process was through, without what is outside of the loop.
    elapsed: u64,
    /// Ticks in them, over all processes.
    time: u64,
    /// Ticks of these in MPI.
    mpi: u64,
}

/// Writes the table, if iterations that correspond have been recorded, and all processes have kept their times. Returns
/// properties of the archive: the call that iterations of the loop begin with, and how many it had.
///
/// # Errors
/// If files cannot be read or written.
pub(super) fn write(directory: &Path, run: &Run<'_>) -> Result<Vec<(String, String)>, Error> {
    let path = directory.join(layout::ITERATIONS);
    let mut best: Option<(u64, RecordedLoop, Vec<Row>)> = None;
    for recorded in iterations::recorded_loops(run) {
        let mut all = Vec::new();
        for (process, &header) in run.processes.iter().zip(&recorded.headers) {
            all.extend(moments(directory, process.rank, header, recorded.iterations)?);
        }
        if all.len() < run.host_of.len() {
            continue;
        }
        let mut clocks: Vec<_> = (0..all.len()).map(|process| run.clock.correction(process)).collect();
        let rows = rows(&all, |process, time| clocks[process].correct(time));
        let time = rows.iter().map(|row| row.time).sum();
        if !rows.is_empty() && best.as_ref().is_none_or(|(before, ..)| time > *before) {
            best = Some((time, recorded, rows));
        }
    }
    let Some((_, recorded, rows)) = best else {
        return match fs::remove_file(&path) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => {
                Err(Error::io(&path, "remove the file", cause))
            }
            _ => Ok(Vec::new()),
        };
    };
    let bytes = details::write(&table(&rows, &recorded.windows))
        .map_err(|cause| Error::new(format!("{}: {cause}", path.display())))?;
    fs::write(&path, bytes).map_err(|cause| Error::io(&path, "write the file", cause))?;
    let place = recorded.place.map(|place| ("REPLAY::LOOP", place.replace('\0', "")));
    let count = recorded.iterations.map(|count| ("REPLAY::LOOP_ITERATIONS", count.to_string()));
    Ok([place, count].into_iter().flatten().map(|(name, value)| (name.to_string(), value)).collect())
}

fn table(rows: &[Row], windows: &[[u64; 2]]) -> Table {
    let is_recorded = |&Row { iterations: [first, behind], .. }: &Row| {
        windows.iter().any(|&[from, to]| from <= first && behind <= to + 1)
    };
    let numbers = |name: &str, unit, of: fn(&Row) -> u64| {
        Column::new(name, Some(unit), Values::U64(rows.iter().map(of).collect())).delta()
    };
    let recorded = Values::U8(rows.iter().map(|row| is_recorded(row).into()).collect());
    Table {
        name: "iterations".into(),
        columns: vec![
            numbers("first", Unit::Count, |row| row.iterations[0]),
            numbers("count", Unit::Count, |row| row.iterations[1] - row.iterations[0]),
            numbers("begin", Unit::Tick, |row| row.begin),
            numbers("elapsed", Unit::Tick, |row| row.elapsed),
            numbers("time", Unit::Tick, |row| row.time),
            numbers("mpi", Unit::Tick, |row| row.mpi),
            Column::new("recorded", None, recorded),
        ],
    }
}

/// Returns the rows between moments that all processes have, of consecutive iterations; `correct` makes a time of the trace
/// of that of a process; it is asked in the order of time.
fn rows(all: &[Moments], mut correct: impl FnMut(usize, u64) -> u64) -> Vec<Row> {
    let Some((first, others)) = all.split_first() else { return Vec::new() };
    let common = first.keys().filter(|&number| others.iter().all(|moments| moments.contains_key(number)));
    let common: Vec<u64> = common.copied().collect();
    let row = |pair: &[u64]| {
        let mut row = Row { iterations: [pair[0], pair[1]], begin: 0, elapsed: 0, time: 0, mpi: 0 };
        let mut end = 0;
        for (process, moments) in all.iter().enumerate() {
            let (from, to) = (moments[&pair[0]], moments[&pair[1]]);
            let outside = to.outside.saturating_sub(from.outside);
            let left = to.time.saturating_sub(outside).max(from.time);
            row.begin = row.begin.max(correct(process, from.time));
            end = end.max(correct(process, left));
            row.time = row.time.saturating_add(left - from.time);
            row.mpi = row.mpi.saturating_add(to.mpi.saturating_sub(from.mpi));
        }
        row.elapsed = end.saturating_sub(row.begin);
        row
    };
    common.windows(2).map(row).collect()
}

/// Reads the moments of a loop of a process: of several with that header those of the latest iterations. `None` without any.
fn moments(directory: &Path, rank: u32, header: u32, begun: Option<u64>) -> Result<Option<Moments>, Error> {
    let mut best: Option<Moments> = None;
    for number in 0.. {
        let path = layout::iterations(directory, rank, number);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == ErrorKind::NotFound => break,
            Err(cause) => return Err(Error::io(&path, "read the file", cause)),
        };
        let Some(moments) = parse(&bytes, header, begun) else { continue };
        let latest = |moments: &Moments| moments.last_key_value().map(|(&number, _)| number);
        if best.as_ref().is_none_or(|before| latest(before) < latest(&moments)) {
            best = Some(moments);
        }
    }
    Ok(best)
}

/// Returns the moments in a file, if it is that of a loop with that header; the end is one of them if the last iteration of
/// so many has ended.
fn parse(bytes: &[u8], path: u32, begun: Option<u64>) -> Option<Moments> {
    let words = bytes.chunks_exact(8).map(|bytes| u64::from_ne_bytes(bytes.try_into().unwrap_or_default()));
    let words: Vec<u64> = words.collect();
    let (header, moments) = words.split_at_checked(size_of::<IterationsHeader>() / 8)?;
    let [magic, header_path, count, first, stride, begin @ .., ended, end_time, end_mpi, end_outside] =
        header
    else {
        return None;
    };
    let moment = |words: &[u64]| match *words {
        [time, mpi, outside] => Some(Moment { time, mpi, outside }),
        _ => None,
    };
    if *magic != MAGIC || *header_path != u64::from(path) {
        return None;
    }
    let count = usize::try_from(*count).ok()?;
    let mut all = Moments::new();
    if let Some(begin) = moment(begin).filter(|begin| begin.time > 0) {
        all.insert(1, begin);
    }
    for (at, words) in (0..).zip(moments.chunks_exact(3).take(count)) {
        all.insert(first.checked_add(stride.checked_mul(at)?)?, moment(words)?);
    }
    if Some(*ended) == begun {
        let end = Moment { time: *end_time, mpi: *end_mpi, outside: *end_outside };
        all.insert(ended.checked_add(1)?, end);
    }
    // Neither time nor what is counted goes back.
    let is_earlier = |a: &Moment, b: &Moment| {
        a.time <= b.time && a.mpi <= b.mpi && a.outside <= b.outside && b.outside <= b.time
    };
    all.values().is_sorted_by(|a, b| is_earlier(a, b)).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(time: u64, mpi: u64, outside: u64) -> Moment {
        Moment { time, mpi, outside }
    }

    fn row(iterations: [u64; 2], [begin, elapsed, time, mpi]: [u64; 4]) -> Row {
        Row { iterations, begin, elapsed, time, mpi }
    }

    #[test]
    fn rows_are_between_moments_that_all_processes_have() {
        let one = [
            (1, moment(100, 10, 0)),
            (7, moment(700, 70, 0)),
            (8, moment(810, 80, 0)),
            (9, moment(950, 95, 40)),
        ];
        let other = [(1, moment(90, 0, 0)), (8, moment(800, 100, 0)), (9, moment(930, 100, 0))];
        let all = [Moments::from(one), Moments::from(other)];
        let found = rows(&all, |process, time| time + 1000 * process as u64);
        // The first process is outside of the loop for 40 ticks.
        let expected = [row([1, 8], [1090, 710, 1420, 170]), row([8, 9], [1800, 130, 230, 15])];
        assert_eq!(found, expected);
        assert_eq!(rows(&[Moments::from(one), Moments::new()], |_, time| time), []);
    }

    #[test]
    fn file_has_its_begin_its_moments_and_its_end() {
        let file = |ended: u64, moments: &[u64]| {
            let header = [MAGIC, 5, 2, 8, 4, 50, 1, 0, ended, 900, 30, 0];
            header.iter().chain(moments).flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>()
        };
        let moments = [400, 10, 0, 600, 20, 0, 0, 0, 0];
        let parsed = parse(&file(15, &moments), 5, Some(15)).unwrap();
        let expected = [
            (1, moment(50, 1, 0)),
            (8, moment(400, 10, 0)),
            (12, moment(600, 20, 0)),
            (16, moment(900, 30, 0)),
        ];
        assert_eq!(parsed, Moments::from(expected));
        // Another loop; a loop that was not left in its last iteration; a file that was cut; times that go back.
        assert_eq!(parse(&file(15, &moments), 6, Some(15)), None);
        assert_eq!(parse(&file(14, &moments), 5, Some(15)).unwrap().len(), 3);
        assert_eq!(parse(&file(15, &moments[..4]), 5, None).unwrap().len(), 2);
        assert_eq!(parse(&file(15, &[600, 10, 0, 400, 20, 0]), 5, None), None);
        assert_eq!(parse(&[0; 12], 5, None), None);
    }

    #[test]
    fn table_says_which_rows_are_recorded() {
        let rows = [[1, 8], [8, 10], [10, 11], [11, 13]].map(|iterations| row(iterations, [0; 4]));
        let table = table(&rows, &[[9, 10], [11, 12]]);
        assert_eq!(table.column("recorded").unwrap().values, Values::U8(vec![0, 0, 1, 1]));
        assert_eq!(table.column("count").unwrap().values.numbers(), Some(vec![7, 2, 1, 2]));
        assert!(details::write(&table).is_ok());
    }
}
