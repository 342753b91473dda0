//! The summary for users, about the time between the end of MPI_Init and the start of MPI_Finalize.

use std::fmt;
use std::path::PathBuf;

use super::advised::AdviceSummary;
use super::file_io::IoSummary;
use super::focus::FocusSummary;
use super::recorded::RecordedIterations;
use super::scaling::ScalingSummary;
use super::structure::StructureSummary;
use super::what_if::WhatIfSummary;
use crate::coverage::{Coverage, Fate};
use crate::findings::{Finding, Findings};
use crate::ids::ReportPath;
use crate::predicted::PredictedRun;
use crate::scaling::RunFacts;
use crate::short::ShortArchive;
use crate::trace::Trace;

/// Maximum number of entries that the summary names of each kind.
pub(super) const NAMED: usize = 5;

/// Characters of a line; longer statements continue in the next one.
const WIDTH: usize = 110;

/// Characters in front of the text, which follows the percentage and the seconds.
const INDENT: usize = 26;

/// Minimum share of the run for which the recorder's own time and that of polling are reported.
const LARGE: f64 = 0.01;

/// Minimum share of a part that is as good as all.
const ALL: f64 = 0.95;

/// Returns the first occurrence of each finding that occurred.
pub(super) fn examples(trace: &Trace, findings: &Findings) -> Vec<String> {
    let example = |finding| {
        findings.first(finding).map_or(String::new(), |first| {
            let place = trace.location_name(first.location as usize);
            let seconds = trace.definitions.clock.seconds(first.time.into());
            format!("first on {place} at {seconds:.6} s: {}", first.text)
        })
    };
    findings.occurred().map(example).collect()
}

/// A wait state at a call path, summed over all locations.
#[derive(Clone, PartialEq, Debug)]
pub struct WaitState {
    /// The name of the pattern.
    pub title: &'static str,
    /// The unique name of its metric.
    pub metric: &'static str,
    /// The call path.
    pub path: ReportPath,
    /// The names of the regions from the root, with slashes between them.
    pub call_path: String,
    /// The time lost, in seconds.
    pub seconds: f64,
}

/// Time in tests and probes that found nothing: no waiting, as the program could have done something else.
#[derive(Clone, PartialEq, Debug)]
pub struct Polled {
    /// All of it, in seconds.
    pub seconds: f64,
    /// The call path with most of it.
    pub part: Part,
}

/// Waiting time that may be an artifact of clock errors.
#[derive(Clone, PartialEq, Debug)]
pub struct Doubt {
    /// The name of the pattern.
    pub title: &'static str,
    /// The unique name of its metric.
    pub metric: &'static str,
    /// The doubtful waiting time, in seconds.
    pub seconds: f64,
    /// All waiting time of this kind, in seconds.
    pub of: f64,
}

/// A part of the costs of a culprit.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// The name of the part.
    pub text: String,
    /// Its share of the costs, from 0 to 1.
    pub share: f64,
}

impl fmt::Display for Part {
    /// Writes the share only if there is much else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", printable(&self.text))?;
        if self.share < ALL { write!(f, " ({:.0} %)", 100.0 * self.share) } else { Ok(()) }
    }
}

/// A call path and location that made others wait.
#[derive(Clone, PartialEq, Debug)]
pub struct Culprit {
    /// The name of the location, or of several that are alike.
    pub location: String,
    /// The first call path of the function.
    pub path: ReportPath,
    /// The names of the functions from the root, with slashes between them.
    pub call_path: String,
    /// Whether its time is in an MPI call and no wait state, so that the trace cannot explain it.
    pub is_unexplained: bool,
    /// Whether recording was off meanwhile, so that nobody knows what was done.
    pub is_unrecorded: bool,
    /// The line in the function: of the call before, or of the place itself.
    pub site: Option<String>,
    /// The MPI calls before and after, if the function calls MPI itself or through others.
    pub between: Option<Part>,
    /// The time in the function between such calls, in seconds.
    pub between_seconds: Option<f64>,
    /// The delay costs, in seconds: waiting of others, with that through further waiting.
    pub seconds: f64,
    /// The kind of waiting that costs most.
    pub kind: &'static str,
    /// The region with most of this waiting, and its locations.
    pub victims: Option<Part>,
    /// Whether it is on the critical path, so that the length of the run depends on it.
    pub is_critical: bool,
    /// The excess of its computation over the mean of all, as a fraction of the mean.
    pub more_work: Option<f64>,
    /// Why it was not running in a part of this excess, and the share of it; `None` if it was running, or nobody knows.
    pub not_running: Option<Part>,
    /// By which counters of the trace its computation differs from that of all, in words; `None` if nobody knows.
    pub counted: Option<String>,
    /// The number of samples taken there, in words.
    pub samples: Option<String>,
}

impl Culprit {
    /// Returns the place in words.
    fn place(&self) -> String {
        let call_path = match self.is_unrecorded {
            // The region that stands for it is no place in the program.
            true => self.call_path.rsplit_once('/').map_or("", |(above, _)| above),
            false => &self.call_path,
        };
        let mut place = format!("{} in {}", printable(&self.location), printable(call_path));
        if let Some(site) = &self.site {
            place += &format!(" {}", printable(site));
        }
        if let Some(between) = &self.between {
            let comma = if self.site.is_some() { "," } else { "" };
            place += &format!("{comma} {between}");
        }
        if self.is_unexplained {
            place += ", time in MPI that is no wait state";
        }
        if self.is_unrecorded {
            place += ", where recording was off and what it did is unknown";
        }
        place
    }

    /// Returns the consequences, one after the other.
    fn consequences(&self) -> Vec<String> {
        let victims = self.victims.as_ref().map_or(String::new(), |victims| format!(" {victims}"));
        let critical = self.is_critical.then(|| "on the critical path".to_owned());
        let more = self.more_work.filter(|&more| more >= 0.005 && !self.is_unexplained);
        let not_running = self.not_running.as_ref().map_or(String::new(), |part| {
            format!(", {:.0} % of it not running: {}", 100.0 * part.share, part.text)
        });
        let counted = self.counted.as_ref().map_or(String::new(), |counted| format!(" ({counted})"));
        let more =
            more.map(|more| format!("{:.0} % more work than the mean{counted}{not_running}", 100.0 * more));
        let all = [Some(format!("{}{victims}", self.kind)), critical, more, self.samples.clone()];
        all.into_iter().flatten().collect()
    }
}

impl fmt::Display for Culprit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.consequences().join("; "))
    }
}

/// The root causes of waiting.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Causes {
    /// The delay costs of all places, in seconds.
    pub costs: f64,
    /// The delay costs of the recorder, which had to write out events or to compare clocks.
    pub recorder: f64,
    /// Whether some of the costs are of idle threads: these are no part of the time of the run.
    pub has_idle: bool,
    /// The places that stand out, the largest costs first.
    pub culprits: Vec<Culprit>,
}

impl Causes {
    /// What costs are a share of if they are a part of it.
    const TIME: &'static str = "the time";

    /// What costs are a share of, in seconds and in words: the time of all locations, `run`, if they are a part of it.
    fn whole(&self, run: f64) -> (f64, &'static str) {
        match self.has_idle || self.costs > run {
            true => (self.costs, "all delay costs"),
            false => (run, Self::TIME),
        }
    }

    /// Writes the causes; `run` is the time of all locations, in seconds.
    fn write(&self, f: &mut fmt::Formatter<'_>, run: f64) -> fmt::Result {
        let (costs, (whole, what)) = (self.costs, self.whole(run));
        let is_part = what == Self::TIME;
        let share = if is_part { format!(", {:.1} % of {what}", percent(costs, run)) } else { String::new() };
        let shares = if is_part { "" } else { "; shares are of them" };
        if costs > 0.0 && self.culprits.is_empty() {
            writeln!(
                f,
                "\nWho made others wait, or idle: nobody stands out ({costs:.6} s of delay costs{share})"
            )?;
        } else if costs > 0.0 {
            writeln!(f, "\nWho made others wait, or idle ({costs:.6} s of delay costs{share}{shares}):")?;
        }
        for culprit in &self.culprits {
            write!(f, "  {:5.1} %  {:12.6} s  ", percent(culprit.seconds, whole), culprit.seconds)?;
            write_wrapped(f, &culprit.place(), &culprit.consequences())?;
        }
        if self.recorder >= LARGE * run && self.recorder > 0.0 {
            let (seconds, share) = (self.recorder, percent(self.recorder, whole));
            writeln!(
                f,
                "\nThe recorder made others wait for {seconds:.6} s, {share:.1} % of {what}: writing out events, comparing clocks"
            )?;
        }
        Ok(())
    }
}

/// Writes a place and its consequences behind an indentation: in one line, if that is not too long.
fn write_wrapped(f: &mut fmt::Formatter<'_>, place: &str, consequences: &[String]) -> fmt::Result {
    let length = |text: &str| text.chars().count();
    let all = consequences.join("; ");
    if INDENT + length(place) + 2 + length(&all) <= WIDTH {
        return writeln!(f, "{place}: {all}");
    }
    write!(f, "{place}:")?;
    let mut column = WIDTH;
    for (at, consequence) in consequences.iter().enumerate() {
        let separator = if at + 1 < consequences.len() { ";" } else { "" };
        if column + 1 + length(consequence) + separator.len() > WIDTH {
            write!(f, "\n{:INDENT$}{consequence}{separator}", "")?;
            column = INDENT + length(consequence) + separator.len();
        } else {
            write!(f, " {consequence}{separator}")?;
            column += 1 + length(consequence) + separator.len();
        }
    }
    writeln!(f)
}

/// The results of an analysis, in short. Times are in seconds, between the end of MPI_Init and the start of
/// MPI_Finalize.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The recorded time of all CPU locations, without time in which threads were idle.
    pub run: f64,
    /// The time of these that was not recorded.
    pub not_recorded: f64,
    /// Whether threads were idle.
    pub has_idle: bool,
    /// The energy that all nodes have taken, in joules, and how many nodes; `None` if it is not known.
    pub energy: Option<(f64, usize)>,
    /// Their time in MPI calls.
    pub mpi: f64,
    /// Their waiting time.
    pub waiting: f64,
    /// The number of CPU locations that have events.
    pub locations: usize,
    /// The largest wait states, the largest first.
    pub wait_states: Vec<WaitState>,
    /// The part of the run that counts; `None` if all does.
    pub focus: Option<FocusSummary>,
    /// The loop that most time is in.
    pub structure: StructureSummary,
    /// The iterations that the recording was limited to.
    pub recorded: RecordedIterations,
    /// Facts for efficiencies; `None` if they are not known.
    pub efficiency: Option<RunFacts>,
    /// The run under other conditions.
    pub what_if: Option<WhatIfSummary>,
    /// What to change first; `None` if it was not looked for.
    pub advice: Option<AdviceSummary>,
    /// File I/O, if its model was asked for, or others wait for it.
    pub io: Option<IoSummary>,
    /// Runs of other sizes beside this one.
    pub scaling: Option<ScalingSummary>,
    /// The short archive that was written.
    pub short: Option<ShortArchive>,
    /// What the run is predicted for, if it was not measured.
    pub scenario: Option<String>,
    /// The predicted run that was written.
    pub predicted: Option<PredictedRun>,
    /// Time of polling, if there is any.
    pub polled: Option<Polled>,
    /// The ranks with the longest waiting time: name, waiting time, time.
    pub ranks: Vec<(String, f64, f64)>,
    /// Lower bound of the clock error.
    pub clock_error: f64,
    /// With corrected clocks: the number of events that were too early, and the largest correction.
    pub corrected: Option<(u64, f64)>,
    /// Wait states no longer than the clock error.
    pub doubts: Vec<Doubt>,
    /// The causes of waiting.
    pub causes: Causes,
    /// The share of the MPI time that was analysed.
    pub coverage: Coverage,
    /// The findings about the trace.
    pub findings: Findings,
    /// The first occurrence of each finding that occurred.
    pub examples: Vec<String>,
    /// The path of the report.
    pub report: PathBuf,
}

/// Returns a saturating sum of ticks: absurd times in a trace must not make it overflow.
pub(super) fn total(ticks: impl Iterator<Item = i64>) -> i64 {
    ticks.fold(0, i64::saturating_add)
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

/// Returns a text from a trace without control characters, for a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// A word that a shell reads as this text.
fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "./_-+,:=@%".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Writes the efficiencies that need no replay (what-if 5.1).
fn write_efficiency(f: &mut fmt::Formatter<'_>, facts: &RunFacts) -> fmt::Result {
    let [parallel, balance, communication] =
        [facts.parallel(), facts.load_balance(), facts.communication()].map(|share| 100.0 * share);
    writeln!(
        f,
        "\nParallel efficiency of the ranks: {parallel:.1} % = load balance {balance:.1} % · communication {communication:.1} %"
    )
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { run, mpi, waiting, not_recorded, .. } = *self;
        let plural = if self.locations == 1 { "" } else { "s" };
        // Who did not end has not come there.
        let cut = if self.findings.count(Finding::Unfinished) > 0 { ", or the last event" } else { "" };
        let idle = if self.has_idle { ", without their idle time" } else { "" };
        if let Some(focus) = &self.focus {
            write!(f, "{focus}")?;
        }
        if let Some(scenario) = &self.scenario {
            writeln!(f, "Not measured, but predicted for {}", printable(scenario))?;
        }
        write!(
            f,
            "Between MPI_Init and MPI_Finalize{cut}, summed over {} thread{plural}{idle}: {run:.6} s",
            self.locations
        )?;
        if not_recorded > 0.0 {
            let share = percent(not_recorded, run + not_recorded);
            write!(f, " recorded; {not_recorded:.6} s ({share:.1} %) were not, and nothing is said of them")?;
        }
        writeln!(f)?;
        writeln!(f, "  {:5.1} %  {mpi:12.6} s  in MPI", percent(mpi, run))?;
        writeln!(f, "  {:5.1} %  {waiting:12.6} s  waiting for others", percent(waiting, run))?;
        let analysed = 100.0 * self.coverage.share(Fate::Analysed);
        if self.wait_states.is_empty() && analysed < 99.95 {
            writeln!(f, "\nNo wait states in the {analysed:.1} % of the MPI time that was analysed.")?;
        } else if self.wait_states.is_empty() {
            writeln!(f, "\nNo wait states.")?;
        } else {
            writeln!(f, "\nLargest wait states:")?;
        }
        for state in &self.wait_states {
            let share = percent(state.seconds, run);
            let path = printable(&state.call_path);
            writeln!(f, "  {share:5.1} %  {:12.6} s  {} in {path}", state.seconds, state.title)?;
        }
        if let Some(Polled { seconds, part }) = self.polled.as_ref().filter(|it| it.seconds >= LARGE * run) {
            let share = percent(*seconds, run);
            let most = if part.share < ALL { "most " } else { "" };
            writeln!(
                f,
                "\nPolling in vain took {seconds:.6} s, {share:.1} % of the time, which is no wait state: {most}in {part}"
            )?;
        }
        write!(f, "{}{}", self.structure, self.recorded)?;
        self.causes.write(f, run)?;
        if let Some(advice) = &self.advice {
            write!(f, "{advice}")?;
        }
        if let Some(facts) = &self.efficiency
            && (self.what_if.is_none() || self.predicted.is_some())
        {
            write_efficiency(f, facts)?;
        }
        if let Some(what_if) = &self.what_if {
            if self.predicted.is_some() {
                write!(f, "\nThe measured run:")?;
            }
            write!(f, "{what_if}")?;
            if self.efficiency.is_none() {
                writeln!(
                    f,
                    "Efficiencies are not known: events are lost, not all was recorded, or times are wrong."
                )?;
            }
        }
        if let Some(io) = &self.io {
            write!(f, "{io}")?;
        }
        if let Some(scaling) = &self.scaling {
            write!(f, "{scaling}")?;
        }
        if !self.ranks.is_empty() {
            writeln!(f, "\nRanks that wait most:")?;
        }
        for (name, waiting, run) in &self.ranks {
            writeln!(f, "  {:5.1} %  {waiting:12.6} s  {name}, of {run:.6} s", percent(*waiting, *run))?;
        }
        match self.corrected {
            None => {}
            Some((0, _)) => writeln!(f, "\nClocks needed no correction")?,
            Some((count, largest)) => {
                let events = if count == 1 { "event was" } else { "events were" };
                writeln!(f, "\nClocks were corrected: {count} {events} too early, by up to {largest:.9} s")?;
            }
        }
        if self.clock_error > 0.0 {
            let error = self.clock_error;
            let advice = if self.corrected.is_none() { " (--clock-correction helps)" } else { "" };
            writeln!(
                f,
                "\nClocks are wrong by at least {error:.9} s{advice}. Waiting that is no longer may be nothing else:"
            )?;
        }
        for Doubt { title, seconds, of, .. } in &self.doubts {
            writeln!(f, "  {:5.1} %  {seconds:12.6} s  of {title}", percent(*seconds, *of))?;
        }
        if let Some((joules, nodes)) = self.energy {
            let (plural, all) = if nodes == 1 { ("", "that node") } else { ("s", "these nodes") };
            writeln!(
                f,
                "\nEnergy: {joules:.0} J of {nodes} node{plural}, from MPI_Init to MPI_Finalize, with all else on {all}"
            )?;
        }
        if self.coverage.total() > 0 {
            writeln!(f, "\nCoverage: {analysed:.1} % of the MPI time was analysed for wait states")?;
        } else {
            writeln!(f, "\nCoverage: no time in MPI was recorded between MPI_Init and MPI_Finalize")?;
        }
        for fate in Fate::ALL.into_iter().skip(1).filter(|&fate| self.coverage.ticks(fate) > 0) {
            writeln!(f, "  {:5.1} %  not: {}", 100.0 * self.coverage.share(fate), fate.name())?;
        }
        let count = self.findings.occurred().count();
        if count == 0 {
            writeln!(f, "Findings: none")?;
        } else {
            writeln!(f, "Findings:")?;
        }
        for (finding, example) in self.findings.occurred().zip(&self.examples) {
            let (class, name) = (finding.class().name(), finding.name());
            writeln!(f, "  {:9} {:>9} x {name}: {}", class, self.findings.count(finding), finding.meaning())?;
            writeln!(f, "  {:9} {:>9}   {}", "", "", printable(example))?;
        }
        if let Some(short) = &self.short {
            write!(f, "{short}")?;
        }
        if let Some(predicted) = &self.predicted {
            write!(f, "{predicted}")?;
        }
        let report = printable(&self.report.display().to_string());
        write!(f, "Report: {report}\nLook at it: replay-show {}", shell_word(&report))
    }
}
