//! Results of many draws: a table by mode, one by mode and shape, and all failures.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use super::draw::{Draw, MODES, Mode};
use super::judge::Verdict;
use super::summary::Summary;
use super::truth::GroundTruth;

/// A draw and its result.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) draw: Draw,
    pub(crate) verdict: Verdict,
    pub(crate) summary: Summary,
    pub(crate) truth: GroundTruth,
    /// For a failure, from the trace: the latest rank, the calls between which it was late, and its excess in
    /// seconds.
    pub(crate) latest: Option<(usize, [String; 2], f64)>,
    /// The command that recorded it.
    pub(crate) command: String,
}

impl Outcome {
    /// Whether there was something to find.
    pub(crate) fn is_case(&self) -> bool {
        !matches!(self.verdict, Verdict::NoCase(_))
    }

    /// Whether a wrong rank or place was named.
    pub(crate) fn is_wrong(&self) -> bool {
        matches!(self.verdict, Verdict::Judged { .. }) && !self.verdict.is_right()
    }

    /// Whether the rank and the place are right.
    fn is_right(&self) -> [bool; 2] {
        match &self.verdict {
            Verdict::Judged { rank, place } => [rank.is_none(), place.is_none()],
            _ => [false, false],
        }
    }

    /// Whether the trace shows the delay, so that the run was not disturbed.
    fn is_shown(&self) -> bool {
        let Some((rank, stretch, _)) = &self.latest else { return false };
        *rank == self.draw.rank as usize && self.truth.largest().any(|path| path.calls == *stretch)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, place) = match &self.verdict {
            Verdict::NoCase(reason) => return writeln!(f, "{}: no case: {reason}", self.draw),
            Verdict::Unexplained => return writeln!(f, "{}: unexplained", self.draw),
            Verdict::Judged { rank, place } => (rank, place),
        };
        let (rank, place) = (rank.as_deref().unwrap_or("right"), place.as_deref().unwrap_or("right"));
        writeln!(f, "{}: rank: {rank}; place: {place}", self.draw)?;
        if self.verdict.is_right() {
            return Ok(());
        }
        writeln!(f, "    {}", self.command)?;
        for culprit in self.summary.culprits.iter().take(2) {
            writeln!(
                f,
                "    said:  {:.1} % of the run, {}",
                100.0 * culprit.seconds / self.summary.run,
                culprit.text
            )?;
        }
        for path in self.truth.largest() {
            let (place, [before, after]) = (path.place.join("/"), &path.calls);
            writeln!(
                f,
                "    truth: rank {} in {place}, line {}, between {before} and {after}",
                self.draw.rank, path.line
            )?;
        }
        if let Some((rank, [before, after], seconds)) = &self.latest {
            let is_shown = if self.is_shown() { "" } else { " (disturbed?)" };
            writeln!(
                f,
                "    trace: rank {rank} is latest{is_shown}: {seconds:.3} s between {before} and {after}"
            )?;
        }
        Ok(())
    }
}

/// Formats the tables.
pub(crate) fn tables(outcomes: &[Outcome]) -> String {
    let mut text =
        String::from("\nmode          draws  rank right  place right  both  unexplained  no case\n");
    for mode in MODES {
        let of_mode = || outcomes.iter().filter(|outcome| outcome.draw.mode == mode);
        let count = |holds: &dyn Fn(&Outcome) -> bool| of_mode().filter(|outcome| holds(outcome)).count();
        let columns = [
            count(&Outcome::is_case),
            count(&|outcome| outcome.is_right()[0]),
            count(&|outcome| outcome.is_right()[1]),
            count(&|outcome| outcome.is_right() == [true, true]),
            count(&|outcome| outcome.verdict == Verdict::Unexplained),
            count(&|outcome| !outcome.is_case()),
        ];
        let [draws, rank, place, both, unexplained, no_case] = columns;
        let name = mode.name();
        writeln!(text, "{name:12} {draws:6} {rank:11} {place:12} {both:5} {unexplained:12} {no_case:8}")
            .unwrap();
    }
    text + &by_shape(outcomes)
}

/// The number of right draws of each shape and mode.
fn by_shape(outcomes: &[Outcome]) -> String {
    let mut cells: BTreeMap<(&str, Mode), [usize; 2]> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.is_case()) {
        let [right, all] = cells.entry((outcome.draw.shape.name, outcome.draw.mode)).or_default();
        *right += usize::from(outcome.verdict.is_right());
        *all += 1;
    }
    let mut shapes: Vec<&str> = cells.keys().map(|(shape, _)| *shape).collect();
    shapes.dedup();
    let mut text = format!("\n{:12}", "both right");
    MODES.iter().for_each(|mode| write!(text, " {:>12}", mode.name()).unwrap());
    for shape in shapes {
        write!(text, "\n{shape:12}").unwrap();
        for mode in MODES {
            let cell = cells.get(&(shape, mode)).map(|[right, all]| format!("{right} of {all}"));
            write!(text, " {:>12}", cell.unwrap_or_default()).unwrap();
        }
    }
    text + "\n"
}

/// Largest share of unexplained draws.
const UNEXPLAINED: f64 = 0.15;

/// Modes with fewer right draws than required, or more unexplained ones.
pub(crate) fn shortfalls(outcomes: &[Outcome]) -> Vec<String> {
    let required = |mode: Mode| match mode {
        Mode::Instrumented => 0.97,
        Mode::Lines | Mode::Symbols => 0.95,
        Mode::Samples => 0.90,
        Mode::Balanced => 1.0,
    };
    let of_mode = |mode: Mode| {
        let cases = || outcomes.iter().filter(|outcome| outcome.draw.mode == mode && outcome.is_case());
        let count = |holds: fn(&Outcome) -> bool| cases().filter(|outcome| holds(outcome)).count() as f64;
        let (all, right) = (count(|_| true), count(|outcome| outcome.verdict.is_right()));
        let unexplained = count(|outcome| outcome.verdict == Verdict::Unexplained);
        let is_enough = right >= required(mode) * (all - unexplained) && unexplained <= UNEXPLAINED * all;
        (!is_enough)
            .then(|| format!("{}: of {all} draws {right} are right, {unexplained} unexplained", mode.name()))
    };
    MODES.into_iter().filter_map(of_mode).collect()
}
