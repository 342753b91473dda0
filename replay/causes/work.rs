//! Exchange of the waiting locations' time maps since the last common synchronisation: they are sent to the
//! owners of the causing locations, and compared with those (specification 9.1).

use model::Ticks;

use super::delay::Form;
use super::lines::Lines;
use super::previous::Past;
use super::sides::{Cause, Causes, Wait, Waits};
use crate::error::Error;
use crate::exchange::batch::{BatchReader, halves, pair};
use crate::exchange::{Batch, Exchange};
use crate::ids::{ReportPath, Row};
use crate::int::to_usize;
use crate::journal::JournalSpot;
use crate::wire::Half;

/// Approximate number of words that a worker sends or receives in one round.
const WORDS_AT_A_TIME: usize = 1 << 19;

/// Identification of a delay whose waiting location's time map is noted.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingWork {
    /// The worker that owns the waiting location.
    pub(super) worker: usize,
    /// Number of the delay among those that this worker has announced.
    pub(super) number: usize,
    /// The report's call path of the event that waits.
    pub(super) path: ReportPath,
    /// Whether the waiting has long-term costs of its own.
    pub(super) has_costs: bool,
}

/// Sends the time maps of the waiting locations to each worker, `counts` of them: `wait` returns the wait of
/// a worker by number, and `is_asked` whether a call path of the report matters to it. On the receiving
/// worker, `with` is called for one delay after the other, while the time map is noted in `lines`.
///
/// # Errors
/// If a worker failed.
pub(super) fn bring(
    lines: &mut Lines,
    counts: &[usize],
    wait: impl Fn(usize, usize) -> Wait,
    is_asked: impl Fn(&Wait, ReportPath) -> bool,
    exchange: &mut dyn Exchange,
    mut with: impl FnMut(&mut Lines, WaitingWork),
) -> Result<(), Error> {
    let (me, workers) = (exchange.worker(), exchange.workers());
    let (mut rows, mut work) = (Vec::new(), Vec::new());
    for number in 0..counts[me] {
        let wait = wait(me, number);
        let map = look(lines, me, number, &wait, &mut rows);
        by_path(lines, &wait, &rows, &is_asked, &mut work);
        work.iter().for_each(|&(path, ticks)| lines.note(path, ticks));
        with(lines, map);
        lines.forget();
    }
    let mut sent: Vec<usize> = vec![0; workers];
    sent[me] = counts[me];
    let mut received: Vec<usize> = vec![0; workers];
    loop {
        let mut outgoing = vec![Batch::new(); workers];
        for worker in 0..workers {
            // All workers may have data for one worker, which has to hold it all.
            let batch = &mut outgoing[worker];
            while sent[worker] < counts[worker] && batch.len() <= WORDS_AT_A_TIME / workers {
                if batch.is_empty() {
                    batch.push(0);
                }
                let wait = wait(worker, sent[worker]);
                let WaitingWork { path, has_costs, .. } = look(lines, me, sent[worker], &wait, &mut rows);
                by_path(lines, &wait, &rows, &is_asked, &mut work);
                let mut writer = MapWriter::new(batch, path.to_half() << 1 | u32::from(has_costs));
                work.iter().for_each(|&(path, ticks)| writer.push(path, ticks));
                sent[worker] += 1;
            }
        }
        let has_more = sent.iter().zip(counts).any(|(sent, count)| sent < count);
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
                let (path, has_costs) = (ReportPath::of_half(mark >> 1), mark & 1 == 1);
                with(lines, WaitingWork { worker, number: received[worker], path, has_costs });
                lines.forget();
                received[worker] += 1;
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Computes the time map of a waiting location, by row.
fn look(
    lines: &mut Lines,
    worker: usize,
    number: usize,
    wait: &Wait,
    rows: &mut Vec<(Row, Ticks)>,
) -> WaitingWork {
    lines.pruned(wait.delay.waiting, wait.past, rows);
    // The holder of a lock is charged without comparison.
    if wait.delay.form == Form::Holder {
        rows.clear();
    }
    let paths = lines.paths(lines.at(wait.delay.waiting.location));
    WaitingWork { worker, number, path: paths[wait.row.index()], has_costs: wait.costly > 0 }
}

/// A time map of a waiting location by call path of the report, as far as it is asked for.
fn by_path(
    lines: &Lines,
    wait: &Wait,
    rows: &[(Row, Ticks)],
    is_asked: impl Fn(&Wait, ReportPath) -> bool,
    into: &mut Vec<(ReportPath, Ticks)>,
) {
    let paths = lines.paths(lines.at(wait.delay.waiting.location));
    let by_path = rows.iter().map(|&(row, ticks)| (paths[row.index()], ticks));
    into.clear();
    into.extend(by_path.filter(|&(path, _)| is_asked(wait, path)));
}

/// Requests the time maps of some causes' waiting locations once more, as far as they matter (see [`bring`]),
/// and compares them: `with` is called with each of these causes and its excess work by row.
///
/// # Errors
/// If a worker failed.
pub(super) fn compare_again(
    lines: &mut Lines,
    (waits, causes): (&Waits, &Causes),
    numbers: impl Iterator<Item = u32>,
    is_asked: impl Fn(&Wait, ReportPath) -> bool,
    exchange: &mut dyn Exchange,
    mut with: impl FnMut(&mut Lines, u32, &[(Row, Ticks)]),
) -> Result<(), Error> {
    let workers = exchange.workers();
    let mut of_worker: Vec<Vec<u32>> = vec![Vec::new(); workers];
    let mut questions = vec![Batch::new(); workers];
    for number in numbers {
        let (worker, of_worker_number) = causes.told(number);
        questions[worker].push(of_worker_number.into());
        of_worker[worker].push(number);
    }
    let asked = exchange.exchange(questions)?;
    let counts: Vec<usize> = asked.iter().map(Vec::len).collect();
    let wait =
        |worker: usize, number: usize| waits.list[waits.firsts[worker] + to_usize(asked[worker][number])];
    let mut excess = Excess::default();
    bring(lines, &counts, wait, is_asked, exchange, |lines, WaitingWork { worker, number, .. }| {
        let number = of_worker[worker][number];
        let excess = excess.of(lines, &causes.list[number as usize]);
        with(lines, number, excess);
    })
}

/// Work of a location that makes others wait, kept because many delays in sequence may have the same causing
/// event.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnWork {
    of: Option<(JournalSpot, Past)>,
    work: Vec<(Row, Ticks)>,
}

impl OwnWork {
    /// Returns the work of the causing location before the event, by row. It may wait at the event itself, for a member of the
    /// operation that begins even later: that time is behind the event (rest of MPI 2.3).
    pub(super) fn of(&mut self, lines: &mut Lines, cause: &Cause) -> &[(Row, Ticks)] {
        let spot = cause.delay.causing;
        if self.of != Some((spot, cause.past)) {
            lines.pruned(spot, cause.past, &mut self.work);
            self.of = Some((spot, cause.past));
        }
        &self.work
    }
}

/// Excess work of a location that makes others wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Excess {
    own: OwnWork,
    more: Vec<(Row, Ticks)>,
}

impl Excess {
    /// Returns the causing location's work beyond the noted ticks, by row in the order of [`OwnWork`].
    pub(super) fn of(&mut self, lines: &mut Lines, cause: &Cause) -> &[(Row, Ticks)] {
        let work = self.own.of(lines, cause);
        let paths = lines.paths(lines.at(cause.delay.causing.location));
        let more = |&(row, ticks): &(Row, Ticks)| {
            let more = ticks.saturating_sub(lines.noted(paths[row.index()]));
            (more > 0).then_some((row, more))
        };
        self.more.clear();
        self.more.extend(work.iter().filter_map(more));
        &self.more
    }
}

/// Mark of ticks that do not fit into half a word and are in the next one.
const LONG: u32 = u32::MAX;

/// Writer of a time map into a batch: first the number of words and a mark.
#[derive(Debug)]
struct MapWriter<'b> {
    batch: &'b mut Batch,
    head: usize,
}

impl<'b> MapWriter<'b> {
    /// Starts an empty map with a mark.
    fn new(batch: &'b mut Batch, mark: u32) -> MapWriter<'b> {
        let head = batch.len();
        batch.push(pair(mark, 0));
        MapWriter { batch, head }
    }

    /// Adds a call path.
    fn push(&mut self, path: ReportPath, ticks: Ticks) {
        let path = path.to_half();
        let before = self.batch.len();
        match u32::try_from(ticks) {
            Ok(short) if short != LONG => self.batch.push(pair(path, short)),
            _ => self.batch.extend([pair(path, LONG), ticks.cast_unsigned()]),
        }
        self.batch[self.head] += (self.batch.len() - before) as u64;
    }
}

/// Reads a map written by [`MapWriter`], and returns its mark.
fn read_map(reader: &mut BatchReader<'_>, mut with: impl FnMut(ReportPath, Ticks)) -> u32 {
    let (mark, length) = halves(reader.word());
    let mut entries = BatchReader::new(reader.words(length as usize));
    while !entries.is_empty() {
        let (path, short) = halves(entries.word());
        let ticks = if short == LONG { entries.word() } else { short.into() };
        with(ReportPath::of_half(path), ticks.cast_signed());
    }
    mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_with_short_and_long_times_come_back() {
        let entries = [(3, 7), (4, 1 << 40), (9, LONG.into()), (u32::MAX, 0)];
        let entries = entries.map(|(path, ticks)| (ReportPath::of_half(path), ticks));
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
