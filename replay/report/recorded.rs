//! The iterations that a recording was limited to, compared with all of the loop, whose times the recorder has kept (structure 5).

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use details::Table;
use model::Ticks;
use otf2::Archive;

use super::found::{FoundIterations, Moment, range};
use super::summary::printable;
use crate::metrics::Metrics;
use crate::structure::{FoundStructure, IterationTotals};
use crate::trace::Trace;

/// Properties of archives: who has recorded which iterations, of which loop or visits of which phase, and how many it had.
const WINDOWS: &str = "REPLAY::WINDOWS";
const LOOP: &str = "REPLAY::LOOP";
const PHASE: &str = "REPLAY::PHASE";
const COUNT: &str = "REPLAY::LOOP_ITERATIONS";

/// Those of short archives alone: iterations with their weights, how wrong the loop and the run are if these stand for the others,
/// and operations that are not there as borders cut them.
#[derive(Clone, Copy, Debug)]
pub struct ShortProperties;

impl ShortProperties {
    /// Iterations with weights.
    pub const KEPT: &str = "REPLAY::SHORT";
    /// Errors of times and wait states of the loop, relative to what they are.
    pub const LOOP_ERRORS: &str = "REPLAY::SHORT_LOOP_ERRORS";
    /// Those of the run, of each metric.
    pub const RUN_ERRORS: &str = "REPLAY::SHORT_RUN_ERRORS";
    /// Dropped operations by kind, `sends 1 of 20, receives 0 of 20`.
    pub const DROPPED: &str = "REPLAY::SHORT_DROPPED";
}

/// Name of the table of all iterations, and extension of its file, beside the anchor.
pub const ITERATIONS_TABLE: &str = "iterations";

/// Columns of this table.
#[derive(Clone, Copy, Debug)]
pub struct IterationColumns;

impl IterationColumns {
    /// Those that all have.
    pub const NAMES: [&str; 6] = ["first", "count", "elapsed", "time", "mpi", "recorded"];

    /// When the last process began.
    pub const BEGIN: &str = "begin";

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
    /// The phase whose visits they are; `None` of a loop.
    pub phase: Option<String>,
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
    /// How wrong that is in the source, relative to what it has, by the unique name of the metric.
    pub errors: HashMap<String, f64>,
    /// Operations that were dropped when the archive was made, by kind, of those in it; none if there are none.
    pub dropped: Vec<String>,
    /// Recorded iterations that were timed alone.
    pub moments: Vec<Moment>,
    /// The iterations of the main loop; `None` before loops are looked for, and if they are not.
    pub found: Option<FoundIterations>,
}

/// A wait state in iterations that stand for others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Extrapolated {
    /// The name of the pattern.
    pub title: &'static str,
    /// The unique name of its metric.
    pub metric: &'static str,
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
    /// The properties of an archive with some of so many iterations of a loop at a place, or visits of a phase.
    pub fn properties(
        iterations: usize,
        place: Option<String>,
        phase: Option<&str>,
    ) -> Vec<(String, String)> {
        let place = place.map(|place| (LOOP, place.replace('\0', "")));
        let phase = phase.map(|phase| (PHASE, phase.replace('\0', "")));
        let all = [(WINDOWS, "common".to_owned()), (COUNT, iterations.to_string())];
        let all = all.into_iter().chain(place).chain(phase);
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Whether they were kept to stand for others.
    pub fn stand_for_others(&self) -> bool {
        matches!(self, RecordedIterations::Known(compared) if !compared.weights.is_empty())
    }

    /// Finds which iterations of a run are recorded ones, and adds wait states if all are and stand for others.
    pub fn compare_with(&mut self, trace: &Trace, metrics: &Metrics, found: &FoundStructure) {
        let RecordedIterations::Known(compared) = self else { return };
        let structure = match found {
            FoundStructure::NotLookedFor | FoundStructure::MemoryIsShort => return,
            FoundStructure::NoLoop => {
                compared.found = Some(FoundIterations::default());
                return;
            }
            FoundStructure::Loop(structure) => structure,
        };
        let found = compared.find(trace, &structure.iterations);
        let are_recorded = found.are_recorded;
        compared.found = Some(found);
        let Some(series) = structure.series.as_ref().filter(|series| series.blocks.size() == 1) else {
            return;
        };
        if !are_recorded || compared.weights.len() != structure.iterations.len() {
            return;
        }
        let mut all: Vec<Extrapolated> = Vec::new();
        for pattern in metrics.patterns.iter().filter(|pattern| pattern.is_outermost_waiting) {
            let Some(of_metric) = series.metrics.get(&pattern.metric) else { continue };
            let seconds = |at: usize| trace.definitions.clock.seconds(of_metric.values[at + 1].sum);
            let weighted = compared.weights.iter().enumerate();
            let extrapolated = Extrapolated {
                title: metrics.title(pattern.metric),
                metric: metrics.list[pattern.metric].id,
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

    /// The iterations of a run that are recorded ones; `None` if that is not known.
    pub(crate) fn find(&self, trace: &Trace, iterations: &[IterationTotals]) -> Option<FoundIterations> {
        let RecordedIterations::Known(compared) = self else { return None };
        Some(compared.find(trace, iterations))
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
        let origin = trace.definitions.clock.global_offset;
        let since_begin = |time: u64| {
            let ticks = i128::from(time) - i128::from(origin);
            trace.definitions.clock.seconds(ticks)
        };
        match compare(&rows, count, (seconds, since_begin)) {
            Some(compared) => {
                let (place, phase) = (property(LOOP).cloned(), property(PHASE).cloned());
                let errors = property(ShortProperties::LOOP_ERRORS).map(|text| errors(text));
                let dropped = property(ShortProperties::DROPPED).map(|text| dropped(text));
                let (errors, dropped) = (errors.unwrap_or_default(), dropped.unwrap_or_default());
                let compared = ComparedIterations { place, phase, errors, dropped, ..compared };
                RecordedIterations::Known(Box::new(compared))
            }
            None => {
                unknown("How recorded iterations compare with all is not known: none of them was timed alone")
            }
        }
    }
}

/// Reads errors by name: `elapsed 0.021603, time 0.006399`.
fn errors(text: &str) -> HashMap<String, f64> {
    let pair = |part: &str| {
        let (name, error) = part.rsplit_once(' ')?;
        Some((name.to_owned(), error.parse().ok()?))
    };
    text.split(", ").filter_map(pair).collect()
}

/// The kinds of which operations were dropped.
fn dropped(text: &str) -> Vec<String> {
    let has_any = |part: &&str| {
        let count = part.rsplit_once(" of ").and_then(|(count, _)| count.rsplit(' ').next());
        count.and_then(|count| count.parse().ok()).is_some_and(|count: u64| count > 0)
    };
    text.split(", ").filter(has_any).map(str::to_owned).collect()
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
    /// When the last process began; `None` if nobody has said so.
    begin: Option<u64>,
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
    let [begins, weights] = [IterationColumns::BEGIN, IterationColumns::WEIGHT].map(column);
    let row = |at: usize| {
        let [first, count, elapsed, time, mpi, recorded] = std::array::from_fn(|column| columns[column][at]);
        let [begin, weight] = [&begins, &weights].map(|column| column.as_ref().map(|column| column[at]));
        Row { first, count, begin, elapsed, time, mpi, is_recorded: recorded > 0, weight }
    };
    let rows: Vec<Row> = (0..table.rows()).map(row).collect();
    let follow = |pair: &[Row]| pair[0].first.checked_add(pair[0].count) == Some(pair[1].first);
    let is_row = |row: &Row| row.count > 0 && row.first.checked_add(row.count).is_some();
    (rows.iter().all(is_row) && rows.windows(2).all(follow)).then_some(rows)
}

/// Compares recorded iterations with all of so many; `None` if there are none. The functions turn ticks, and times, into seconds.
fn compare(
    rows: &[Row],
    count: Option<u64>,
    (seconds, since_begin): (impl Fn(u64) -> f64, impl Fn(u64) -> f64),
) -> Option<ComparedIterations> {
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
        phase: None,
        are_all: timed[0] == 1 && count == Some(timed[1]),
        timed,
        recorded: stretches,
        times: [times(&mut rows.iter()), times(&mut recorded())],
        weights: recorded().filter_map(|row| Some((row.first, row.weight?))).collect(),
        weighted: recorded().map(|row| row.weight.unwrap_or(0) as f64 * seconds(row.elapsed)).sum(),
        extrapolated: Vec::new(),
        errors: HashMap::new(),
        dropped: Vec::new(),
        moments: recorded()
            .filter(|row| row.count == 1)
            .filter_map(|row| {
                let (begin, elapsed) = (since_begin(row.begin?), seconds(row.elapsed));
                Some(Moment { number: row.first, begin, elapsed })
            })
            .collect(),
        found: None,
    };
    (compared.times[1].count > 0).then_some(compared)
}

impl ComparedIterations {
    fn find(&self, trace: &Trace, iterations: &[IterationTotals]) -> FoundIterations {
        let seconds = |ticks: Ticks| trace.definitions.clock.seconds(ticks.into());
        let times = iterations.iter().map(|one| [seconds(one.last_begin), seconds(one.elapsed())]);
        FoundIterations::new(&times.collect::<Vec<_>>(), &self.moments)
    }

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
        let ([what, at_begin], of) = match &self.phase {
            Some(phase) => (["visits", "Visits"], printable(phase)),
            None => (["iterations", "Iterations"], format!("the loop{place}")),
        };
        match self.are_all {
            true => write!(f, "  All {} {what} of {of}", all.count)?,
            false => write!(f, "  {at_begin} {} of {of}, all whose times are known,", range(self.timed))?,
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
        for Extrapolated { title, metric, seconds, in_all } in &self.extrapolated {
            write!(f, "  {title} in kept iterations: {seconds:.6} s, extrapolated to all {in_all:.6} s")?;
            match self.errors.get(*metric).map(|error| 100.0 * error) {
                Some(error) if error < 0.05 => writeln!(f, ", right within 0.1 % in the source")?,
                Some(error) => writeln!(f, ", wrong by {error:.1} % in the source")?,
                None => writeln!(f)?,
            }
        }
        self.fmt_found(f)?;
        if !self.dropped.is_empty() {
            let dropped = printable(&self.dropped.join(", "));
            writeln!(f, "  Borders of kept iterations cut operations, whose waiting is missing: {dropped}")?;
        }
        Ok(())
    }
}

impl ComparedIterations {
    /// Says which of the iterations that were found are recorded ones.
    fn fmt_found(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(found) = &self.found else { return Ok(()) };
        if !self.weights.is_empty() {
            let kept = match self.weights.len() {
                1 => "the only one that was kept".to_owned(),
                kept => format!("the {kept} that were kept"),
            };
            let advice = match &self.phase {
                Some(phase) => format!("--loop phase={} takes them", printable(phase)),
                None => "a larger --keep helps".to_owned(),
            };
            return match found.count {
                _ if found.are_recorded => Ok(()),
                0 => writeln!(f, "  No loop was found in {kept}: waits are not extrapolated ({advice})"),
                found => writeln!(
                    f,
                    "  The {found} iterations found here are not {kept}: waits are not extrapolated ({advice})"
                ),
            };
        }
        match found.in_program() {
            Some(numbers) => writeln!(f, "  {numbers}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use details::{Column, Values};

    fn row(first: u64, count: u64, [elapsed, time, mpi]: [u64; 3], is_recorded: bool) -> Row {
        Row { first, count, begin: Some(10 * first), elapsed, time, mpi, is_recorded, weight: None }
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
        let compared = compare(rows, count, (same, same)).unwrap();
        RecordedIterations::Known(Box::new(compared)).to_string()
    }

    /// Ticks are seconds.
    fn same(ticks: u64) -> f64 {
        ticks as f64
    }

    /// Recorded iterations 8, 9 and 12 as kept ones of these weights, in a run with iterations of these begins and lengths.
    fn found(times: &[[f64; 2]], weights: &[u64]) -> ComparedIterations {
        let mut rows = steady();
        rows.iter_mut()
            .filter(|row| row.is_recorded)
            .zip(weights)
            .for_each(|(row, &it)| row.weight = Some(it));
        let mut compared = compare(&rows, Some(12), (same, same)).unwrap();
        compared.found = Some(FoundIterations::new(times, &compared.moments));
        compared
    }

    /// The three iterations as they are found again.
    const AGAIN: [[f64; 2]; 3] = [[80.0, 10.0], [90.0, 10.0], [120.0, 9.0]];

    #[test]
    fn numbers_are_said_if_they_are_not_those_of_the_loop() {
        let said = found(&AGAIN, &[]).to_string();
        assert!(said.ends_with("\n  Iterations 1-2 here are 8-9 of the program, 3 is 12\n"), "{said}");
        assert!(!found(&[], &[]).to_string().contains(" here "));
    }

    #[test]
    fn kept_iterations_that_are_not_found_again_are_said() {
        let said = |times: &[[f64; 2]]| found(times, &[7, 4, 1]).to_string();
        assert!(!said(&AGAIN).contains("iterations found here"));
        assert!(said(&AGAIN[..2]).contains("  The 2 iterations found here are not the 3 that were kept: "));
        let mut none = found(&[], &[7, 4, 1]);
        none.found = Some(FoundIterations::default());
        assert!(none.to_string().contains("  No loop was found in the 3 that were kept: "), "{none}");
        none.phase = Some("step".into());
        assert!(
            none.to_string().contains(": waits are not extrapolated (--loop phase=step takes them)\n"),
            "{none}"
        );
        none.found = None;
        assert!(!none.to_string().contains("found"), "{none}");
    }

    #[test]
    fn errors_and_dropped_operations_are_said_if_there_are_any() {
        let mut compared = found(&AGAIN, &[7, 4, 1]);
        let names = ["mpi_latesender", "mpi_latereceiver", "mpi_wait_nxn"];
        let one = |metric| Extrapolated { title: metric, metric, seconds: 1.0, in_all: 4.0 };
        compared.extrapolated = names.map(one).into();
        compared.errors = errors("elapsed 0.021603, mpi_latesender 0.855818, mpi_wait_nxn 0.000100");
        let text = compared.to_string();
        for expected in [
            "mpi_latesender in kept iterations: 1.000000 s, extrapolated to all 4.000000 s, wrong by 85.6 % in the source\n",
            "mpi_latereceiver in kept iterations: 1.000000 s, extrapolated to all 4.000000 s\n",
            "extrapolated to all 4.000000 s, right within 0.1 % in the source\n",
        ] {
            assert!(text.contains(expected), "{text}");
        }
        assert!(!text.contains("cut operations"), "{text}");
        compared.dropped = dropped("sends 3 of 648, receives 0 of 648, collective operations 1 of 56");
        let expected = "whose waiting is missing: sends 3 of 648, collective operations 1 of 56\n";
        assert!(compared.to_string().ends_with(expected), "{compared}");
        assert_eq!(dropped("sends 0 of 648, receives 0 of 648"), [""; 0]);
        assert_eq!(dropped("none"), [""; 0]);
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
    fn iterations_of_a_phase_are_its_visits() {
        for (count, begin) in [
            (12, "  All 12 visits of step took 140.000000 s, "),
            (13, "  Visits 1-12 of step, all whose times are known, took 140.000000 s, "),
        ] {
            let mut compared = compare(&steady(), Some(count), (same, same)).unwrap();
            compared.phase = Some("step".into());
            let said = compared.to_string();
            assert!(said.starts_with(begin) && !said.contains("loop"), "{said}");
        }
        let properties = RecordedIterations::properties(12, None, Some("step"));
        assert!(properties.contains(&("REPLAY::PHASE".into(), "step".into())), "{properties:?}");
    }

    #[test]
    fn prediction_that_is_right_or_too_long_is_said_so() {
        assert!(said(&steady()[..3], None).ends_with("right within 0.1 %\n"));
        let mut long = steady();
        long[1].elapsed = 40;
        assert!(said(&long, None).ends_with("41.2 % too long\n"), "{}", said(&long, None));
        assert_eq!(compare(&steady()[3..5], None, (same, same)), None);
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
