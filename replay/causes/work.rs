//! What waiting locations did since both sides last synchronised, brought to those that made them wait, and compared with
//! what these did (specification 9.1).

use model::Ticks;

use super::lines::Lines;
use super::previous::Past;
use super::sides::{Cause, Wait};
use crate::error::Error;
use crate::exchange::batch::{BatchReader, halves, pair};
use crate::exchange::{Batch, Exchange};
use crate::journal::JournalSpot;
use crate::severity::Row;

/// Words that a worker sends in one round, or gets, about.
const WORDS_AT_A_TIME: usize = 1 << 19;

/// A delay whose work is noted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// The worker that told.
    pub(super) worker: usize,
    /// The number of the delay among those that it told.
    pub(super) number: usize,
    /// The report's call path of the event that waits.
    pub(super) path: u32,
    /// Whether the waiting has costs of its own.
    pub(super) has_costs: bool,
}

/// Brings the work of the waiting locations to each worker, for so many waits: `wait` says for a worker and a number in which
/// order, and `is_asked` which call paths of the report matter. There `with` is called for one after the other, while its
/// work is noted.
///
/// # Errors
/// If a worker failed.
pub(super) fn bring(
    lines: &mut Lines,
    counts: &[usize],
    wait: impl Fn(usize, usize) -> Wait,
    is_asked: impl Fn(&Wait, u32) -> bool,
    exchange: &mut dyn Exchange,
    mut with: impl FnMut(&mut Lines, Told),
) -> Result<(), Error> {
    let (me, workers) = (exchange.worker(), exchange.workers());
    let mut work = Vec::new();
    for number in 0..counts[me] {
        let wait = wait(me, number);
        let told = look(lines, me, number, &wait, &mut work);
        work.retain(|&(path, _)| is_asked(&wait, path));
        work.iter().for_each(|&(path, ticks)| lines.note(path, ticks));
        with(lines, told);
        lines.forget();
    }
    let mut told: Vec<usize> = vec![0; workers];
    told[me] = counts[me];
    let mut heard: Vec<usize> = vec![0; workers];
    loop {
        let mut outgoing = vec![Batch::new(); workers];
        for worker in 0..workers {
            // Everyone may have something for one worker, which has to hold it all.
            let batch = &mut outgoing[worker];
            while told[worker] < counts[worker] && batch.len() <= WORDS_AT_A_TIME / workers {
                if batch.is_empty() {
                    batch.push(0);
                }
                let wait = wait(worker, told[worker]);
                let Told { path, has_costs, .. } = look(lines, me, told[worker], &wait, &mut work);
                work.retain(|&(path, _)| is_asked(&wait, path));
                let mut writer = MapWriter::new(batch, path << 1 | u32::from(has_costs));
                work.iter().for_each(|&(path, ticks)| writer.push(path, ticks));
                told[worker] += 1;
            }
        }
        let has_more = told.iter().zip(counts).any(|(told, count)| told < count);
        if has_more {
            for batch in &mut outgoing {
                match batch.first_mut() {
                    Some(first) => *first = 1,
                    None => batch.push(1),
                }
            }
        }
        let mut is_last = !has_more;
        for (worker, batch) in exchange.exchange(outgoing)?.iter().enumerate() {
            let Some((&more, maps)) = batch.split_first() else { continue };
            is_last &= more == 0;
            let mut reader = BatchReader::new(maps);
            while !reader.is_empty() {
                let mark = read_map(&mut reader, |path, ticks| lines.note(path, ticks));
                let (path, has_costs) = (mark >> 1, mark & 1 == 1);
                with(lines, Told { worker, number: heard[worker], path, has_costs });
                lines.forget();
                heard[worker] += 1;
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// What a waiting location did, by call path of the report.
fn look(lines: &mut Lines, worker: usize, number: usize, wait: &Wait, work: &mut Vec<(u32, Ticks)>) -> Told {
    lines.pruned(wait.delay.waiting, wait.past, work);
    let paths = lines.paths(lines.at(wait.delay.waiting.location));
    work.iter_mut().for_each(|(row, _)| *row = paths[*row as usize]);
    Told { worker, number, path: paths[wait.row as usize], has_costs: wait.costly > 0 }
}

/// What a location that makes others wait did more than they. Many may wait for one event, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Excess {
    of: Option<(JournalSpot, Past)>,
    work: Vec<(Row, Ticks)>,
    more: Vec<(Row, Ticks)>,
}

impl Excess {
    /// What the location of a cause did more than was noted, by row.
    pub(super) fn of(&mut self, lines: &mut Lines, cause: &Cause) -> &[(Row, Ticks)] {
        let spot = cause.delay.causing;
        if self.of != Some((spot, cause.past)) {
            lines.pruned(spot, cause.past, &mut self.work);
            self.of = Some((spot, cause.past));
        }
        let line = lines.at(spot.location);
        let paths = lines.paths(line);
        let more = |&(row, ticks): &(Row, Ticks)| {
            let more = ticks.saturating_sub(lines.noted(paths[row as usize]));
            (more > 0).then_some((row, more))
        };
        self.more.clear();
        self.more.extend(self.work.iter().filter_map(more));
        &self.more
    }
}

/// Ticks that do not fit into half a word stand in the next one.
const LONG: u32 = u32::MAX;

/// Writes ticks by call path to a batch: the number of words and a mark first.
#[derive(Debug)]
struct MapWriter<'b> {
    batch: &'b mut Batch,
    head: usize,
}

impl<'b> MapWriter<'b> {
    /// A map with a mark, and nothing in it yet.
    fn new(batch: &'b mut Batch, mark: u32) -> MapWriter<'b> {
        let head = batch.len();
        batch.push(pair(mark, 0));
        MapWriter { batch, head }
    }

    /// Adds a call path.
    fn push(&mut self, path: u32, ticks: Ticks) {
        let before = self.batch.len();
        match u32::try_from(ticks) {
            Ok(short) if short != LONG => self.batch.push(pair(path, short)),
            _ => self.batch.extend([pair(path, LONG), ticks.cast_unsigned()]),
        }
        self.batch[self.head] += (self.batch.len() - before) as u64;
    }
}

/// Reads what a [`MapWriter`] wrote, and answers the mark.
fn read_map(reader: &mut BatchReader<'_>, mut with: impl FnMut(u32, Ticks)) -> u32 {
    let (mark, length) = halves(reader.word());
    let mut entries = BatchReader::new(reader.words(length as usize));
    while !entries.is_empty() {
        let (path, short) = halves(entries.word());
        let ticks = if short == LONG { entries.word() } else { short.into() };
        with(path, ticks.cast_signed());
    }
    mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_with_short_and_long_times_come_back() {
        let entries = [(3, 7), (4, 1 << 40), (9, LONG.into()), (u32::MAX, 0)];
        let mut batch = vec![1];
        let mut writer = MapWriter::new(&mut batch, 5);
        entries.iter().for_each(|&(path, ticks)| writer.push(path, ticks));
        MapWriter::new(&mut batch, 0);
        let mut reader = BatchReader::new(&batch[1..]);
        let mut read = Vec::new();
        assert_eq!(read_map(&mut reader, |path, ticks| read.push((path, ticks))), 5);
        assert_eq!(read, entries);
        assert_eq!(read_map(&mut reader, |_, _| panic!("nothing is in there")), 0);
        assert!(reader.is_empty());
    }
}
