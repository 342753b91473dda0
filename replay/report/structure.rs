//! The structure of the run in the summary: the loop that most time is in, and the iterations unlike the others.

use std::cmp::Reverse;
use std::fmt;

use model::Ticks;
use structure::Outlier;

use super::names;
use super::summary::printable;
use crate::fraction::float;
use crate::int::to_u64;
use crate::report_paths::ReportPaths;
use crate::structure::{
    Correspondence, FIRST, FoundStructure, ITERATIONS, IterationTotals, Place, Prediction, SHARE, Signature,
    Structure,
};
use crate::trace::{Artificial, Trace};

/// Iterations, or kinds of these, that are named.
const NAMED: usize = 5;

/// Share of an iteration's excess that time outside of MPI needs to be told as where it is.
const MOST: f64 = 0.5;

/// An iteration unlike those around it.
#[derive(Clone, PartialEq, Debug)]
pub struct Unlike {
    /// Its number.
    pub iteration: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// How long those around it took.
    pub instead_of: f64,
    /// The location that was outside of MPI in it longest.
    pub location: String,
    /// How long, in seconds.
    pub computation: f64,
    /// The median of that over all iterations.
    pub usual_computation: f64,
    /// The place that made others wait most by what it did in it.
    pub cause: Option<UnlikeCause>,
}

/// A place that makes others wait in an iteration.
#[derive(Clone, PartialEq, Debug)]
pub struct UnlikeCause {
    /// The name of the location.
    pub location: String,
    /// The names of the functions from the root, with slashes between them.
    pub call_path: String,
    /// The delay costs in the iteration, in seconds.
    pub seconds: f64,
    /// Those of an iteration on average, in seconds: all of the run, divided by the number of iterations.
    pub average: f64,
}

impl Unlike {
    /// The cause, if it makes others wait longer than on average by at least half of what the iteration took longer.
    pub fn notable_cause(&self) -> Option<&UnlikeCause> {
        let excess = self.seconds - self.instead_of;
        let is_notable =
            |cause: &&UnlikeCause| excess > 0.0 && cause.seconds - cause.average >= MOST * excess;
        self.cause.as_ref().filter(is_notable)
    }

    /// Whether that location's time outside of MPI is where it took longer.
    pub fn is_computation(&self) -> bool {
        let excess = self.seconds - self.instead_of;
        excess > 0.0 && self.computation - self.usual_computation >= MOST * excess
    }
}

/// Iterations that are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    /// How many there are.
    pub count: usize,
    /// The number of the one that stands for them.
    pub like: u64,
}

/// The structure of the run.
#[derive(Clone, PartialEq, Default, Debug)]
pub enum StructureSummary {
    /// It was not looked for.
    #[default]
    NotLookedFor,
    /// It was not looked for, as there is too little memory.
    MemoryIsShort,
    /// No location has a loop of calls of MPI.
    NoLoop,
    /// The loop that most time is in.
    MainLoop(Box<MainLoop>),
}

impl StructureSummary {
    /// Describes what was found.
    pub(super) fn new(trace: &Trace, paths: &ReportPaths, found: &FoundStructure) -> StructureSummary {
        match found {
            FoundStructure::NotLookedFor => StructureSummary::NotLookedFor,
            FoundStructure::MemoryIsShort => StructureSummary::MemoryIsShort,
            FoundStructure::NoLoop => StructureSummary::NoLoop,
            FoundStructure::Loop(structure) => {
                StructureSummary::MainLoop(Box::new(MainLoop::new(trace, paths, structure)))
            }
        }
    }
}

impl StructureSummary {
    /// Leaves out what compares iterations with each other: those that were kept to stand for others are unlike by choice.
    pub(crate) fn of_representatives(&mut self) {
        if let StructureSummary::MainLoop(main_loop) = self {
            (main_loop.unlike, main_loop.kinds, main_loop.trend) = Default::default();
        }
    }
}

impl fmt::Display for StructureSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StructureSummary::NotLookedFor => Ok(()),
            StructureSummary::MemoryIsShort => {
                writeln!(f, "\nStructure: not looked for, as memory is short (--memory, --structure none)")
            }
            StructureSummary::NoLoop => writeln!(f, "\nStructure: no loop of MPI calls"),
            StructureSummary::MainLoop(main_loop) => {
                let choice = main_loop.choice.as_ref();
                let choice =
                    choice.map_or(String::new(), |choice| format!(" (--loop {})", printable(choice)));
                write!(f, "\nStructure{choice}: {main_loop}")
            }
        }
    }
}

/// The main loop of the run.
#[derive(Clone, PartialEq, Debug)]
pub struct MainLoop {
    /// What the user asked for instead of the loop with most time.
    pub choice: Option<String>,
    /// Whether the iterations are described; else it is only named.
    pub is_notable: bool,
    /// The phase whose visits are the iterations, and where it is in the source, if that is known; `None` of a loop.
    pub phase: Option<[String; 2]>,
    /// The functions that all its calls have in common.
    pub call_path: String,
    /// The call that each iteration begins with, if it is the same for all of a location: its path inside these functions, and its
    /// line.
    pub header: Option<String>,
    /// How many iterations it has.
    pub iterations: usize,
    /// How many locations with calls of MPI have all of them, and how many of these locations there are.
    pub locations: [u64; 2],
    /// Whether these are all main threads.
    pub are_ranks: bool,
    /// The share of the time of these locations that is in iterations, from 0 to 1.
    pub share: f64,
    /// Seconds that an iteration takes until the last location is through: median, least, most. First and last ones of instances of
    /// the loop are left out, if there are others.
    pub elapsed: [f64; 3],
    /// How many of the locations have too many different calls to tell them all apart, or loops too deep to find them all.
    pub irregular: u64,
    /// Iterations during which recording was off.
    pub with_gaps: usize,
    /// Iterations unlike those around them, the most unlike first.
    pub unlike: Vec<Unlike>,
    /// Kinds of iterations, the largest first.
    pub kinds: Vec<Kind>,
    /// The time of the loop as predicted from those that stand for kinds.
    pub prediction: Prediction,
    /// Change of an iteration's time over the run, relative to the median; `None` without a trend.
    pub trend: Option<f64>,
    /// Whether values by iteration are known: not if memory is short.
    pub has_series: bool,
    /// How iterations of different locations correspond.
    pub correspondence: Correspondence,
}

/// The call that each iteration begins with, and its line; `None` if they begin with several.
pub(crate) fn loop_place(trace: &Trace, place: &Place) -> Option<String> {
    let site = trace.sites.get(place.site as usize);
    let site = site.map_or(String::new(), |site| format!(" ({})", names::place(site)));
    (!place.header.is_empty()).then(|| format!("{}{site}", names::regions(trace, &place.header)))
}

impl MainLoop {
    /// Describes the main loop.
    pub(super) fn new(trace: &Trace, paths: &ReportPaths, structure: &Structure) -> MainLoop {
        let Structure { iterations, correspondence, locations, irregular, place, .. } = structure;
        let seconds = |ticks: Ticks| trace.definitions.clock.seconds(ticks.into());
        // What is behind the last call of a loop is in no iteration, so first and last ones may be shorter.
        let inner: Vec<&IterationTotals> = iterations.iter().filter(|one| !one.is_border).collect();
        let usual = if inner.len() < ITERATIONS { iterations.iter().collect() } else { inner };
        let median = |of: fn(&IterationTotals) -> Ticks| {
            let mut all: Vec<Ticks> = usual.iter().map(|one| of(one)).collect();
            all.sort_unstable();
            [all.len() / 2, 0, all.len() - 1].map(|at| seconds(all[at]))
        };
        let Signature { clusters, mut outliers, trend, predictions, .. } =
            structure.signature.clone().unwrap_or_default();
        // How long those took that are not all recorded says nothing about the program.
        outliers.retain(|outlier| !iterations[outlier.place].has_gap);
        outliers.sort_by(|a, b| b.excess.abs().total_cmp(&a.excess.abs()));
        let [usual_computation, ..] = median(|one| one.computation.most);
        let causes = structure.series.as_ref().map_or(&[][..], |series| &series.causes);
        let cause = |number: u64| {
            let cause = causes.iter().find(|cause| u64::from(cause.iteration) == number)?;
            // What was done while recording was off is not known.
            if paths.region(cause.path) == trace.artificial(Artificial::MeasurementOff) {
                return None;
            }
            let ticks = |shares: i128| float(shares) * seconds(1);
            Some(UnlikeCause {
                location: trace.location_name(cause.location as usize),
                call_path: names::path(trace, paths, cause.path),
                seconds: ticks(cause.costs),
                average: ticks(cause.costs_of_run) / iterations.len() as f64,
            })
        };
        let unlike = |&Outlier { place, excess }: &Outlier| {
            let one = &iterations[place];
            let ticks = one.elapsed() as f64;
            Unlike {
                iteration: to_u64(place) + 1,
                seconds: seconds(one.elapsed()),
                instead_of: (ticks - excess) * seconds(1),
                location: trace.location_name(one.computation.most_at as usize),
                computation: seconds(one.computation.most),
                usual_computation,
                cause: cause(to_u64(place) + 1),
            }
        };
        let kinds = clusters.iter();
        let mut kinds: Vec<Kind> = kinds
            .map(|kind| Kind { count: kind.members.len(), like: to_u64(kind.representative) + 1 })
            .collect();
        kinds.sort_by_key(|kind| (Reverse(kind.count), kind.like));
        let header = loop_place(trace, place).map(|call| match place.is_everywhere {
            true => format!("each begins with {call}"),
            false => format!("on {} each begins with {call}", trace.location_name(place.location as usize)),
        });
        let phase = structure.phase.map(|region| {
            let defined = trace.definitions.regions.get(region as usize).filter(|it| it.begin_line > 0);
            let place =
                defined.map(|it| format!(" ({})", names::place(&(it.source_file.clone(), it.begin_line))));
            [trace.region_name(region).into(), place.unwrap_or_default()]
        });
        MainLoop {
            choice: structure.choice.as_ref().map(ToString::to_string),
            is_notable: structure.is_notable(),
            phase,
            call_path: names::regions(trace, &place.regions),
            header,
            iterations: iterations.len(),
            locations: [iterations.iter().map(|one| one.locations).min().unwrap_or(0), *locations],
            are_ranks: *locations == to_u64(trace.processes.len()),
            share: structure.share(),
            elapsed: median(IterationTotals::elapsed),
            irregular: *irregular,
            with_gaps: iterations.iter().filter(|one| one.has_gap).count(),
            unlike: outliers.iter().map(unlike).collect(),
            kinds,
            prediction: predictions[0],
            trend,
            has_series: structure.series.is_some(),
            correspondence: *correspondence,
        }
    }

    /// Whether iterations of one number are the same at all locations, as far as messages and collective operations show.
    pub fn corresponds(&self) -> bool {
        self.correspondence.holds()
    }

    fn fmt_iterations(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([with_all, all], count) = (self.locations, self.iterations);
        let what = if self.are_ranks { "rank" } else { "thread" };
        let who = match (with_all, all) {
            (_, 1) => format!("on one {what}"),
            (with_all, all) if with_all < all => format!("all of them on {with_all} of {all} {what}s"),
            (_, all) if self.corresponds() => format!("the same on all {all} {what}s"),
            (_, all) => format!("as many on each of {all} {what}s, perhaps not the same"),
        };
        let share = 100.0 * self.share;
        let plural = if count == 1 { "" } else { "s" };
        let [median, least, most] = self.elapsed;
        if let Some([name, place]) = &self.phase {
            let [name, place] = [name, place].map(|text| printable(text));
            writeln!(f, "{share:.1} % of the time is {count} visit{plural} of {name}, {who}")?;
            return writeln!(
                f,
                "  Iterations: phase `{name}`{place}, {count} x {median:.6} s ({least:.6} to {most:.6} s)"
            );
        }
        writeln!(
            f,
            "{share:.1} % of the time is {count} iteration{plural} in {}, {who}",
            printable(&self.call_path)
        )?;
        write!(f, "  {count} x {median:.6} s ({least:.6} to {most:.6} s)")?;
        match &self.header {
            Some(header) => writeln!(f, ", {}", printable(header)),
            None => writeln!(f),
        }
    }

    fn fmt_unlike(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for unlike in self.unlike.iter().take(NAMED) {
            let Unlike { iteration, seconds, instead_of, location, computation, usual_computation, .. } =
                unlike;
            write!(f, "  Iteration {iteration} took {seconds:.6} s instead of {instead_of:.6} s")?;
            if unlike.is_computation() {
                let location = printable(location);
                write!(
                    f,
                    "; {location} was outside of MPI longest, {computation:.6} s instead of {usual_computation:.6} s"
                )?;
            }
            writeln!(f)?;
            if let Some(UnlikeCause { location, call_path, seconds, average }) = unlike.notable_cause() {
                let [location, call_path] = [location, call_path].map(|text| printable(text));
                writeln!(
                    f,
                    "    {location} in {call_path} made others wait most: for {seconds:.6} s, on average {average:.6} s \
                     an iteration"
                )?;
            }
        }
        match self.unlike.len().saturating_sub(NAMED) {
            0 => Ok(()),
            1 => writeln!(f, "  One more iteration is unlike those around it"),
            more => writeln!(f, "  {more} more iterations are unlike those around them"),
        }
    }

    /// Writes kinds of at least two iterations, if there are others.
    fn fmt_kinds(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (several, alone): (Vec<Kind>, Vec<Kind>) = self.kinds.iter().partition(|kind| kind.count > 1);
        if several.is_empty() || self.kinds.len() == 1 {
            return Ok(());
        }
        let named = several.iter().take(NAMED).map(|Kind { count, like }| format!("{count} like {like}"));
        let mut parts: Vec<String> = named.collect();
        let rest: usize = several.iter().skip(NAMED).map(|kind| kind.count).sum();
        match several.len().saturating_sub(NAMED) {
            0 => {}
            1 => parts.push(format!("{rest} of one more kind")),
            kinds => parts.push(format!("{rest} of {kinds} more kinds")),
        }
        match alone[..] {
            [] => {}
            [Kind { like, .. }] => parts.push(format!("number {like} like no other")),
            _ => parts.push(format!("{} like no other", alone.len())),
        }
        let percent = |error: f64| format!("{:.0} %", (100.0 * error).ceil());
        let first = match self.iterations > FIRST {
            true => format!(", the first ten by {}", percent(self.prediction.error_by_first())),
            false => String::new(),
        };
        writeln!(
            f,
            "  Kinds of iterations: {} (one of each, {} in all, miss how long {} takes by {}{first})",
            parts.join(", "),
            self.kinds.len(),
            if self.phase.is_some() { "the phase" } else { "the loop" },
            percent(self.prediction.error())
        )
    }
}

impl fmt::Display for MainLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_notable {
            let (share, path) = (100.0 * self.share, printable(&self.call_path));
            if self.share >= SHARE {
                return writeln!(
                    f,
                    "no loop of MPI calls with {ITERATIONS} iterations: {} in {path} have {share:.1} % of the time",
                    self.iterations
                );
            }
            return writeln!(
                f,
                "no loop of MPI calls with {:.0} % of the time; that with most is {} iterations in {path}, {share:.1} %",
                100.0 * SHARE,
                self.iterations
            );
        }
        self.fmt_iterations(f)?;
        if self.irregular > 0 {
            let (irregular, what) = (self.irregular, if self.are_ranks { "rank" } else { "thread" });
            writeln!(
                f,
                "  Calls are too many and too irregular to find all loops: on {irregular} of {} {what}s",
                self.locations[1]
            )?;
        }
        match self.with_gaps {
            0 => {}
            1 => {
                writeln!(f, "  Recording was off during one of them, whose time holds what was not recorded")?
            }
            gaps => writeln!(
                f,
                "  Recording was off during {gaps} of them, whose times hold what was not recorded"
            )?,
        }
        if !self.has_series {
            writeln!(f, "  Values by iteration are left out, as memory is short (--memory)")?;
        }
        if !self.corresponds() {
            let Correspondence { within, outside, crossing, disagreeing, .. } = self.correspondence;
            let messages = within + outside + crossing;
            return writeln!(
                f,
                "  Iterations of one number do not correspond: {crossing} of {messages} messages and {disagreeing} collective \
                 operations join different ones"
            );
        }
        self.fmt_unlike(f)?;
        if let Some(change) = self.trend {
            let [word, moves] = if change < 0.0 { ["shorter", "falls"] } else { ["longer", "rises"] };
            let seconds = change.abs() * self.elapsed[0];
            writeln!(
                f,
                "  Iterations get {word}: a straight line fitted to their times {moves} by {seconds:.6} s over the run"
            )?;
        }
        self.fmt_kinds(f)
    }
}
