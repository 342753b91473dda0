//! The structure of the run in the summary: the loop that most time is in, and the iterations unlike the others.

use std::cmp::Reverse;
use std::fmt;

use model::Ticks;
use structure::Outlier;

use super::summary::printable;
use crate::int::to_u64;
use crate::structure::{Correspondence, IterationTotals, Signature, Structure, signature};
use crate::trace::Trace;

/// Iterations, and share of the time, that a loop needs to be shown.
const ITERATIONS: usize = 3;
const SHARE: f64 = 0.2;

/// Share of the messages that must join iterations of one number.
const CORRESPONDING: f64 = 0.99;

/// Iterations, or kinds of these, that are named.
const NAMED: usize = 5;

/// An iteration unlike those around it.
#[derive(Clone, PartialEq, Debug)]
pub struct Unlike {
    /// Its number.
    pub iteration: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// How long those around it took.
    pub instead_of: f64,
    /// The location that was outside of MPI in it longest, and how long.
    pub location: String,
    /// That time.
    pub computation: f64,
}

/// Iterations that are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    /// How many there are.
    pub count: usize,
    /// The number of the one that stands for them.
    pub like: u64,
}

/// The main loop of the run.
#[derive(Clone, PartialEq, Debug)]
pub struct MainLoop {
    /// The call path that all its calls have in common.
    pub call_path: String,
    /// How many iterations it has.
    pub iterations: usize,
    /// How many locations with calls of MPI have all of them, and how many of these locations there are.
    pub locations: [u64; 2],
    /// Whether these are all main threads.
    pub are_ranks: bool,
    /// The share of the time of these locations that is in iterations, from 0 to 1.
    pub share: f64,
    /// Seconds from the first begin of an iteration to its last end: median, least, most.
    pub elapsed: [f64; 3],
    /// Iterations unlike those around them, the most unlike first.
    pub unlike: Vec<Unlike>,
    /// Kinds of iterations, the largest first.
    pub kinds: Vec<Kind>,
    /// Change of an iteration's time from the first to the last one, relative to the median; `None` without a trend.
    pub trend: Option<f64>,
    /// How iterations of different locations correspond.
    pub correspondence: Correspondence,
}

impl MainLoop {
    /// Returns the main loop; `None` if it has hardly any iterations or time. `error` is that of the clocks, in ticks.
    pub(super) fn new(trace: &Trace, structure: &Structure, error: Ticks) -> Option<MainLoop> {
        let Structure { iterations, correspondence, run, locations, call_path, .. } = structure;
        let seconds = |ticks: Ticks| trace.definitions.clock.seconds(ticks.into());
        let time: i128 = iterations.iter().map(|one| one.time.sum).sum();
        let share = time as f64 / (*run).max(1) as f64;
        if iterations.len() < ITERATIONS || share < SHARE {
            return None;
        }
        let mut elapsed: Vec<Ticks> = iterations.iter().map(IterationTotals::elapsed).collect();
        elapsed.sort_unstable();
        let elapsed = [elapsed.len() / 2, 0, elapsed.len() - 1].map(|at| seconds(elapsed[at]));
        let Signature { clusters, mut outliers, trend, .. } =
            signature(iterations, error).unwrap_or_default();
        outliers.sort_by(|a, b| b.excess.abs().total_cmp(&a.excess.abs()));
        let unlike = |&Outlier { place, excess }: &Outlier| {
            let one = &iterations[place];
            let ticks = one.elapsed() as f64;
            let took = seconds(one.elapsed());
            Unlike {
                iteration: to_u64(place) + 1,
                seconds: took,
                instead_of: if ticks > 0.0 { took * (ticks - excess) / ticks } else { 0.0 },
                location: trace.location_name(one.computation.most_at as usize),
                computation: seconds(one.computation.most),
            }
        };
        let kinds = clusters.iter();
        let mut kinds: Vec<Kind> = kinds
            .map(|kind| Kind { count: kind.members.len(), like: to_u64(kind.representative) + 1 })
            .collect();
        kinds.sort_by_key(|kind| (Reverse(kind.count), kind.like));
        let with_all = iterations.iter().map(|one| one.locations).min().unwrap_or(0);
        Some(MainLoop {
            call_path: call_path.clone(),
            iterations: iterations.len(),
            locations: [with_all, *locations],
            are_ranks: *locations == to_u64(trace.processes.len()),
            share,
            elapsed,
            unlike: outliers.iter().map(unlike).collect(),
            kinds,
            trend,
            correspondence: *correspondence,
        })
    }
}

impl fmt::Display for MainLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([with_all, all], count) = (self.locations, self.iterations);
        let what = if self.are_ranks { "rank" } else { "thread" };
        let who = match (with_all, all) {
            (_, 1) => format!("on one {what}"),
            (with_all, all) if with_all == all => format!("the same on all {all} {what}s"),
            _ => format!("all of them on {with_all} of {all} {what}s"),
        };
        let (share, path) = (100.0 * self.share, printable(&self.call_path));
        writeln!(f, "\nStructure: {share:.1} % of the time is {count} iterations in {path}, {who}:")?;
        let [median, least, most] = self.elapsed;
        writeln!(f, "  {count} x {median:.6} s ({least:.6} to {most:.6} s)")?;
        let Correspondence { within, outside, crossing, disagreeing } = self.correspondence;
        let messages = within + outside + crossing;
        if disagreeing > 0 || crossing as f64 > (1.0 - CORRESPONDING) * messages as f64 {
            writeln!(
                f,
                "  Iterations of different {what}s do not correspond: {crossing} of {messages} messages and {disagreeing} collective \
                 operations join different ones"
            )?;
        }
        for Unlike { iteration, seconds, instead_of, location, computation } in self.unlike.iter().take(NAMED)
        {
            let location = printable(location);
            writeln!(
                f,
                "  Iteration {iteration} took {seconds:.6} s instead of {instead_of:.6} s; longest outside of MPI: {location}, \
                 {computation:.6} s"
            )?;
        }
        if let Some(more) = self.unlike.len().checked_sub(NAMED).filter(|&more| more > 0) {
            writeln!(f, "  {more} more iterations are unlike those around them")?;
        }
        if let Some(change) = self.trend {
            let (seconds, word) = (change.abs() * median, if change < 0.0 { "shorter" } else { "longer" });
            writeln!(f, "  Iterations get {word}: by {seconds:.6} s from the first to the last one")?;
        }
        if self.kinds.len() > 1 {
            let kind = |&Kind { count, like }: &Kind| match count {
                1 => format!("{like} alone"),
                count => format!("{count} like {like}"),
            };
            let named: Vec<String> = self.kinds.iter().take(NAMED).map(kind).collect();
            let rest: usize = self.kinds.iter().skip(NAMED).map(|kind| kind.count).sum();
            let rest = if rest > 0 { format!(", {rest} others") } else { String::new() };
            writeln!(f, "  Kinds: {}{rest}", named.join(", "))?;
        }
        Ok(())
    }
}
