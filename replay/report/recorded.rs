//! The iterations that a recording was limited to, compared with all of the loop, whose times the recorder has kept (structure 5).

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use details::Table;
use otf2::Archive;

use super::summary::printable;
use crate::metrics::Metrics;
use crate::structure::FoundStructure;
use crate::trace::Trace;

/// Properties of archives: who has recorded which iterations, of which loop, and how many it had.
const WINDOWS: &str = "REPLAY::WINDOWS";
const LOOP: &str = "REPLAY::LOOP";
const COUNT: &str = "REPLAY::LOOP_ITERATIONS";

/// Name of the table of all iterations, and extension of its file, beside the anchor.
pub const ITERATIONS_TABLE: &str = "iterations";

/// Columns of this table.
#[derive(Clone, Copy, Debug)]
pub struct IterationColumns;

impl IterationColumns {
    /// Those that all have.
    pub const NAMES: [&str; 6] = ["first", "count", "elapsed", "time", "mpi", "recorded"];

    /// How many iterations a recorded one stands for; not in recordings.
    pub const WEIGHT: &str = "weight";
}

/// What is known of the iterations that a recording was limited to.
#[derive(Clone, PartialEq, Default, Debug)]
pub enum RecordedIterations {
    /// It was not limited to iterations.
    #[default]
    NotLimited,
    /// The sentence says what is not known.
    Unknown(String),
    /// How long they took, and all.
    Known(Box<ComparedIterations>),
}

/// Iterations that were recorded, and all whose times were kept.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparedIterations {
    /// The call that each begins with.
    pub place: Option<String>,
    /// Whether all of the loop have been timed.
    pub are_all: bool,
    /// The first and the last one that were timed.
    pub timed: [u64; 2],
    /// Those of them that were recorded, as the first and the last one of each stretch.
    pub recorded: Vec<[u64; 2]>,
    /// Time of the timed ones, and of the recorded ones.
    pub times: [IterationTimes; 2],
    /// The iterations that stand for others, of an archive that was made of these, with the number that each stands for.
    pub weights: Vec<(u64, u64)>,
    /// Seconds that the timed ones would take if others were like those that stand for them.
    pub weighted: f64,
    /// Wait states in the recorded ones, and in all if others are like those that stand for them.
    pub extrapolated: Vec<Extrapolated>,
}

/// A wait state in iterations that stand for others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Extrapolated {
    /// The name of the pattern.
    pub title: &'static str,
    /// Seconds in these.
    pub seconds: f64,
    /// Seconds in all if others are like them.
    pub in_all: f64,
}

/// Times of some iterations.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct IterationTimes {
    /// How many they are.
    pub count: u64,
    /// Seconds until the last process was through, iteration by iteration.
    pub elapsed: f64,
    /// The share of their time on all processes that is in MPI, from 0 to 1.
    pub in_mpi: f64,
}

impl RecordedIterations {
    /// The properties of an archive with some of so many iterations of a loop at a place.
    pub fn properties(iterations: usize, place: Option<String>) -> Vec<(String, String)> {
        let place = place.map(|place| (LOOP, place.replace('\0', "")));
        let all = [(WINDOWS, "common".to_owned()), (COUNT, iterations.to_string())];
        all.into_iter().chain(place).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Whether they were kept to stand for others.
    pub fn stand_for_others(&self) -> bool {
        matches!(self, RecordedIterations::Known(compared) if !compared.weights.is_empty())
    }

    /// Adds wait states as far as the iterations of a run are those that stand for others.
    pub fn extrapolate(&mut self, trace: &Trace, metrics: &Metrics, found: &FoundStructure) {
        let (RecordedIterations::Known(compared), FoundStructure::Loop(structure)) = (self, found) else {
            return;
        };
        let Some(series) = structure.series.as_ref().filter(|series| series.blocks.size() == 1) else {
            return;
        };
        if compared.weights.len() != structure.iterations.len() {
            return;
        }
        let mut all: Vec<Extrapolated> = Vec::new();
        for pattern in metrics.patterns.iter().filter(|pattern| pattern.is_outermost_waiting) {
            let Some(of_metric) = series.metrics.get(&pattern.metric) else { continue };
            let seconds = |at: usize| trace.definitions.clock.seconds(of_metric.values[at + 1].sum);
            let weighted = compared.weights.iter().enumerate();
            let extrapolated = Extrapolated {
                title: metrics.title(pattern.metric),
                seconds: (0..compared.weights.len()).map(seconds).sum(),
                in_all: weighted.map(|(at, &(_, weight))| weight as f64 * seconds(at)).sum(),
            };
            all.push(extrapolated);
        }
        all.retain(|one| one.in_all > 0.0);
        all.sort_by(|a, b| b.in_all.total_cmp(&a.in_all));
        all.truncate(super::summary::NAMED);
        compared.extrapolated = all;
    }

    /// Reads what an archive tells of its iterations.
    pub fn read(archive: &Archive, trace: &Trace) -> RecordedIterations {
        let properties = &archive.anchor().properties;
        let property =
            |name: &str| properties.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let unknown = |what: &str| RecordedIterations::Unknown(what.into());
        match property(WINDOWS).map(String::as_str) {
            None => return RecordedIterations::NotLimited,
            Some("common") => {}
            Some("none") => return unknown("No iterations were recorded on which all processes had agreed"),
            Some(_) => {
                return unknown(
                    "Recorded iterations are not known to be the same on all processes: how they compare with all is not known",
                );
            }
        }
        let path = archive.anchor_path().with_extension(ITERATIONS_TABLE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                return unknown(
                    "How long all iterations took is not known: the archive has no times of them",
                );
            }
            Err(cause) => return unreadable(&path, &cause.to_string()),
        };
        let seconds = |ticks: u64| trace.definitions.clock.seconds(ticks.into());
        let rows = details::parse(&bytes).map_err(|cause| cause.to_string()).and_then(|table| {
            rows(&table).ok_or_else(|| "not a table of iterations that follow each other".to_owned())
        });
        let rows = match rows {
            Ok(rows) => rows,
            Err(cause) => return unreadable(&path, &cause),
        };
        let count = property(COUNT).and_then(|count| count.parse().ok());
        match compare(&rows, count, seconds) {
            Some(compared) => {
                let place = property(LOOP).cloned();
                RecordedIterations::Known(Box::new(ComparedIterations { place, ..compared }))
            }
            None => {
                unknown("How recorded iterations compare with all is not known: none of them was timed alone")
            }
        }
    }
}

fn unreadable(path: &Path, cause: &str) -> RecordedIterations {
    RecordedIterations::Unknown(format!(
        "How long all iterations took is not known: {}: {cause}",
        path.display()
    ))
}

/// Iterations of which only the sum is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Row {
    first: u64,
    count: u64,
    elapsed: u64,
    time: u64,
    mpi: u64,
    is_recorded: bool,
    /// How many iterations it stands for; `None` if nobody has said so.
    weight: Option<u64>,
}

/// Returns the rows of a table, if they follow each other.
fn rows(table: &Table) -> Option<Vec<Row>> {
    let column = |name: &str| table.column(name)?.values.numbers();
    let columns = IterationColumns::NAMES.into_iter().map(column).collect::<Option<Vec<_>>>()?;
    let weights = column(IterationColumns::WEIGHT);
    let row = |at: usize| {
        let [first, count, elapsed, time, mpi, recorded] = std::array::from_fn(|column| columns[column][at]);
        let weight = weights.as_ref().map(|weights| weights[at]);
        Row { first, count, elapsed, time, mpi, is_recorded: recorded > 0, weight }
    };
    let rows: Vec<Row> = (0..table.rows()).map(row).collect();
    let follow = |pair: &[Row]| pair[0].first.checked_add(pair[0].count) == Some(pair[1].first);
    let is_row = |row: &Row| row.count > 0 && row.first.checked_add(row.count).is_some();
    (rows.iter().all(is_row) && rows.windows(2).all(follow)).then_some(rows)
}

/// Compares recorded iterations with all of so many; `None` if there are none.
fn compare(rows: &[Row], count: Option<u64>, seconds: impl Fn(u64) -> f64) -> Option<ComparedIterations> {
    let times = |rows: &mut dyn Iterator<Item = &Row>| {
        let mut sums = [0_u64; 4];
        for row in rows {
            let values = [row.count, row.elapsed, row.time, row.mpi];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.saturating_add(value));
        }
        let [count, elapsed, time, mpi] = sums;
        IterationTimes { count, elapsed: seconds(elapsed), in_mpi: mpi as f64 / time.max(1) as f64 }
    };
    let recorded = || rows.iter().filter(|row| row.is_recorded);
    let (first, last) = (rows.first()?, rows.last()?);
    let mut stretches: Vec<[u64; 2]> = Vec::new();
    for row in recorded() {
        let end = row.first + row.count - 1;
        match stretches.last_mut() {
            Some([_, last]) if *last + 1 == row.first => *last = end,
            _ => stretches.push([row.first, end]),
        }
    }
    let timed = [first.first, last.first + last.count - 1];
    let compared = ComparedIterations {
        place: None,
        are_all: timed[0] == 1 && count == Some(timed[1]),
        timed,
        recorded: stretches,
        times: [times(&mut rows.iter()), times(&mut recorded())],
        weights: recorded().filter_map(|row| Some((row.first, row.weight?))).collect(),
        weighted: recorded().map(|row| row.weight.unwrap_or(0) as f64 * seconds(row.elapsed)).sum(),
        extrapolated: Vec::new(),
    };
    (compared.times[1].count > 0).then_some(compared)
}

impl ComparedIterations {
    /// How long the timed iterations would take if all were like the recorded ones, in seconds.
    pub fn predicted(&self) -> f64 {
        let [all, recorded] = self.times;
        if !self.weights.is_empty() {
            return self.weighted;
        }
        recorded.elapsed * all.count as f64 / recorded.count as f64
    }
}

impl fmt::Display for RecordedIterations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordedIterations::NotLimited => Ok(()),
            RecordedIterations::Unknown(sentence) => writeln!(f, "  {}", printable(sentence)),
            RecordedIterations::Known(compared) => write!(f, "{compared}"),
        }
    }
}

impl fmt::Display for ComparedIterations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [all, recorded] = self.times;
        let place = self.place.as_ref().map_or(String::new(), |place| format!(" at {}", printable(place)));
        let range = |[first, last]: [u64; 2]| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        match self.are_all {
            true => write!(f, "  All {} iterations of the loop{place}", all.count)?,
            false => write!(
                f,
                "  Iterations {} of the loop{place}, all whose times are known,",
                range(self.timed)
            )?,
        }
        writeln!(f, " took {:.6} s, {:.1} % of their time in MPI", all.elapsed, 100.0 * all.in_mpi)?;
        let ranges: Vec<String> = self.recorded.iter().copied().map(range).collect();
        let word = if self.weights.is_empty() { "recorded" } else { "kept" };
        write!(
            f,
            "  Of these {} took {:.6} s, {:.1} % in MPI, and were {word}",
            ranges.join(", "),
            recorded.elapsed,
            100.0 * recorded.in_mpi
        )?;
        let predicted = self.predicted();
        let error = 100.0 * (predicted - all.elapsed) / all.elapsed;
        match self.weights.is_empty() {
            true => write!(f, ": scaled up to {} that is {predicted:.6} s", all.count)?,
            false => write!(f, ": each stands for those like it, extrapolated that is {predicted:.6} s")?,
        }
        match error {
            _ if all.elapsed <= 0.0 => writeln!(f)?,
            error if error.abs() < 0.05 => writeln!(f, ", right within 0.1 %")?,
            error => {
                let word = if error < 0.0 { "too short" } else { "too long" };
                writeln!(f, ", {:.1} % {word}", error.abs())?;
            }
        }
        for Extrapolated { title, seconds, in_all } in &self.extrapolated {
            writeln!(f, "  {title} in kept iterations: {seconds:.6} s, extrapolated to all {in_all:.6} s")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use details::{Column, Values};

    fn row(first: u64, count: u64, [elapsed, time, mpi]: [u64; 3], is_recorded: bool) -> Row {
        Row { first, count, elapsed, time, mpi, is_recorded, weight: None }
    }

    /// Iterations 1 to 12 at 10 ticks, but 11, at 30.
    fn steady() -> Vec<Row> {
        vec![
            row(1, 7, [70, 140, 70], false),
            row(8, 1, [10, 20, 5], true),
            row(9, 1, [10, 20, 5], true),
            row(10, 1, [10, 20, 10], false),
            row(11, 1, [30, 60, 10], false),
            row(12, 1, [10, 20, 12], true),
        ]
    }

    fn said(rows: &[Row], count: Option<u64>) -> String {
        let compared = compare(rows, count, |ticks| ticks as f64).unwrap();
        RecordedIterations::Known(Box::new(compared)).to_string()
    }

    #[test]
    fn recorded_iterations_are_scaled_up_to_all() {
        let expected = "  All 12 iterations of the loop took 140.000000 s, 40.0 % of their time in MPI
  Of these 8-9, 12 took 30.000000 s, 36.7 % in MPI, and were recorded: scaled up to 12 that is 120.000000 s, 14.3 % too short
";
        assert_eq!(said(&steady(), Some(12)), expected);
    }

    #[test]
    fn iterations_whose_times_are_not_known_are_not_all() {
        for (rows, count, timed) in [(&steady()[1..], Some(12), "8-12"), (&steady(), Some(13), "1-12")] {
            let said = said(rows, count);
            let begin = format!("  Iterations {timed} of the loop, all whose times are known, took ");
            assert!(said.starts_with(&begin), "{said}");
        }
        assert!(said(&steady(), None).starts_with("  Iterations 1-12 of"));
    }

    #[test]
    fn prediction_that_is_right_or_too_long_is_said_so() {
        assert!(said(&steady()[..3], None).ends_with("right within 0.1 %\n"));
        let mut long = steady();
        long[1].elapsed = 40;
        assert!(said(&long, None).ends_with("41.2 % too long\n"), "{}", said(&long, None));
        assert_eq!(compare(&steady()[3..5], None, |ticks| ticks as f64), None);
    }

    #[test]
    fn rows_with_a_gap_between_them_are_refused() {
        let table = |first: [u64; 2], count: [u64; 2]| {
            let column = |name: &str, numbers: [u64; 2]| Column::of_numbers(name, None, numbers.into_iter());
            let columns = ["elapsed", "time", "mpi", "recorded"].map(|name| column(name, [1; 2]));
            let columns = [column("first", first), column("count", count)].into_iter().chain(columns);
            Table { name: "iterations".into(), columns: columns.collect() }
        };
        assert_eq!(rows(&table([1, 8], [7, 1])).map(|rows| rows.len()), Some(2));
        for (first, count) in [([1, 8], [6, 1]), ([1, 1], [0, 1]), ([1, u64::MAX], [u64::MAX - 1, 1])] {
            assert_eq!(rows(&table(first, count)), None, "{first:?} {count:?}");
        }
        let other =
            Table { columns: vec![Column::new("first", None, Values::U8(vec![1]))], ..table([1, 2], [1; 2]) };
        assert_eq!(rows(&other), None);
    }
}
