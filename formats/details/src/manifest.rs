//! Manifest of the details: the trace in numbers, the meaning of the tables, and the summary. The member `replay.json`.
//!
//! New keys may come; none changes its meaning within a schema. Times of tables are ticks since the begin of the trace.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::member;

/// The name of the member.
pub const MANIFEST: &str = "replay.json";

/// The schema that this version writes.
pub const SCHEMA: &str = "replay-details/1";

/// The attribute of a report whose details are in an archive beside it: the [`digest`] of their manifest.
pub const BESIDE: &str = "Replay::Details";

/// What tells the manifest of a report from all others: SHA-256 in hexadecimal digits. Archives may add newlines to members.
pub fn digest(manifest: &[u8]) -> String {
    Sha256::digest(manifest.trim_ascii_end()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The member of a table.
pub fn member(table: &str) -> String {
    format!("replay.{table}.table")
}

/// All about the details that is not in tables.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// `replay-details/1`.
    pub schema: String,
    /// Ticks of a second.
    pub ticks_per_second: u64,
    /// The begin of the trace in ticks: 0.
    pub begin: u64,
    /// The end of the trace in ticks.
    pub end: u64,
    /// Number of ranks.
    pub ranks: u64,
    /// Number of locations, accelerator streams included.
    pub locations: u64,
    /// Largest number of CPU threads of a rank.
    pub threads: u64,
    /// Number of nodes.
    pub nodes: u64,
    /// Basename of the program; empty if the trace has none or several.
    pub program: String,
    /// Creator of the trace.
    pub recorder: String,
    /// `corrected` or `reference`.
    pub semantics: String,
    /// Classes of time in the table `grid`.
    pub classes: Vec<Class>,
    /// Levels of the table `grid`.
    pub levels: Vec<Level>,
    /// Patterns' metrics, to which tables refer by position.
    pub metrics: Vec<Metric>,
    /// Communicators of MPI, to which tables refer by number; the first 1,024 of them.
    pub communicators: Vec<Communicator>,
    /// Tables of the report.
    pub tables: Vec<Member>,
    /// The main loop, with the tables `series…`; `None` without a loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main_loop: Option<MainLoop>,
    /// The iterations that the archive was limited to; `None` if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// The numbers of the analyzer's summary.
    pub summary: Summary,
}

/// Iterations of a loop that an archive was limited to.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Recorded {
    /// Whether they were kept to stand for the others, in a short archive; else only these were recorded.
    pub is_short: bool,
    /// How many they are.
    pub iterations: u64,
    /// How many were timed: all of the loop, or those from some iteration on.
    pub of: u64,
    /// Iterations of the main loop that are some of them, as stretches: the number of the first in the main loop, its number in the
    /// program's loop, and how many follow each other in both.
    pub numbers: Vec<[u64; 3]>,
    /// Whether the iterations of the main loop are these, all of them and no others.
    pub are_main_loop: bool,
    /// How many each stands for, itself included, in their order; none unless they are kept ones.
    pub weights: Vec<u64>,
}

impl Recorded {
    /// The number in the program's loop of an iteration of the main loop; `None` if it is not known.
    pub fn number(&self, of_main_loop: u64) -> Option<u64> {
        self.numbers.iter().find_map(|&[first, number, count]| {
            let behind = of_main_loop.checked_sub(first).filter(|&behind| behind < count)?;
            number.checked_add(behind)
        })
    }
}

/// The main loop of the run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MainLoop {
    /// What has the iterations, in words, if it is not the loop with most time: `phase step`, `the loop of --loop 2.1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Number of iterations.
    pub iterations: u64,
    /// How many neighbouring iterations share a row of `series` and `series_values`: a power of two.
    pub block: u64,
    /// Number of locations that call MPI.
    pub locations: u64,
    /// Ticks of these between the end of `MPI_Init` and the start of `MPI_Finalize`.
    pub run: u64,
    /// Messages whose ends are in iterations of different numbers; 0 if these are hardly any, or collective operations confirm the
    /// numbers, so that messages are sent ahead.
    pub crossing: u64,
    /// Collective operations whose members are in iterations of different numbers.
    pub disagreeing: u64,
    /// Unique names of the metrics to which the tables refer by position.
    pub metrics: Vec<String>,
    /// Kinds of iterations, by number.
    pub kinds: Vec<Kind>,
    /// What stands for the run, and how well.
    pub signature: Signature,
    /// By how much iterations get longer over the run, relative to the median; `None` without a trend.
    pub trend: Option<f64>,
    /// Where most delay costs are, of the iterations in `series_details`.
    pub causes: Vec<IterationCause>,
    /// Locations of a group of `series_map`; the last one may have fewer.
    pub map_span: u64,
    /// Iterations of a column of `series_map`: a power of two.
    pub map_block: u64,
}

/// Iterations that are alike.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kind {
    /// How many there are.
    pub iterations: u64,
    /// The number of the one that stands for them.
    pub representative: u64,
}

/// Parts that stand for the run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Signature {
    /// Kinds of iterations of loops, and stretches between loops.
    pub phases: Vec<Phase>,
    /// Of the main loop alone.
    pub of_loop: Vec<Prediction>,
    /// Of the run.
    pub of_run: Vec<Prediction>,
}

/// A part of the run that stands for others.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Phase {
    /// `main loop`, `other loop`, `stretch` or `between instances`.
    pub of: String,
    /// The number of the other loop, or of the stretch, in the order of time, from 1; 1 of others.
    pub number: u64,
    /// The number of the iteration; 1 of a stretch.
    pub representative: u64,
    /// How many it stands for, itself included.
    pub weight: u64,
    /// Ticks until the last location is through.
    pub elapsed: i64,
    /// Its time over all locations, in ticks.
    pub time: f64,
    /// Of this the time in MPI.
    pub mpi: f64,
    /// The share of the run that it stands for, from 0 to 1.
    pub share: f64,
    /// Whether it counts in predictions.
    pub is_relevant: bool,
}

/// A quantity as it was measured, and as parts of the run have it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Prediction {
    /// `elapsed`, or the unique name of a metric.
    pub of: String,
    /// Ticks, bytes or occurrences, as they were measured.
    pub measured: f64,
    /// What the relevant phases predict.
    pub predicted: f64,
    /// What is predicted if the first ten iterations stand for the main loop.
    pub by_first: f64,
}

/// The place with most delay costs in an iteration.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IterationCause {
    /// The number of the iteration.
    pub iteration: u64,
    /// The location.
    pub location: u32,
    /// The call path.
    pub cnode: u32,
    /// Its delay costs in the iteration, in ticks.
    pub ticks: f64,
    /// Those in the whole run, in ticks.
    pub ticks_of_run: f64,
}

/// A class of time: each tick of a location belongs to one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Class {
    /// Its name, such as `late_sender`.
    pub name: String,
    /// Its title, such as `Late Sender`.
    pub title: String,
    /// `work`, `communicate`, `files`, `wait`, `threads` or `tool`.
    pub role: String,
    /// Its colour, `#rrggbb`.
    pub colour: String,
    /// Unique names of the metrics whose sum it is.
    pub adds: Vec<String>,
    /// Unique names of the metrics that are taken from this sum.
    pub subtracts: Vec<String>,
}

/// A level of the table `grid`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Level {
    /// Locations of a group, consecutive ones; the last group may have fewer.
    pub span: u64,
    /// Number of groups.
    pub groups: u64,
    /// Number of bins: a power of two.
    pub bins: u64,
    /// Ticks of a bin.
    pub bin_ticks: u64,
}

/// A metric that tables refer to.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Metric {
    /// Its unique name.
    pub name: String,
    /// Its title without context.
    pub title: String,
}

/// A communicator.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Communicator {
    /// Its number in tables.
    pub number: u32,
    /// Its name; may be empty.
    pub name: String,
    /// Number of members.
    pub size: u64,
    /// The ranks of its members, unless there are more than 64.
    pub members: Option<Vec<u32>>,
}

/// A table of the report.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Member {
    /// The name of the member: `replay.NAME.table`.
    pub member: String,
    /// Number of rows.
    pub rows: u64,
    /// Whether the table has all there is.
    pub complete: Complete,
}

/// Whether a table has all there is: `true`, or what was left out and by which limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Complete {
    /// Whether it has.
    Is(bool),
    /// What was left out, and by which limit.
    No(String),
}

impl Default for Complete {
    fn default() -> Complete {
        Complete::Is(true)
    }
}

/// Results in short. Times are in seconds, between the end of `MPI_Init` and the start of `MPI_Finalize`, summed over CPU
/// locations, if nothing else is said.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Number of CPU locations with events.
    pub locations: u64,
    /// Recorded time.
    pub run: f64,
    /// The longest such time of one location.
    pub length: f64,
    /// Time that was not recorded.
    pub not_recorded: f64,
    /// Time in MPI.
    pub mpi: f64,
    /// Time waiting for others.
    pub waiting: f64,
    /// The largest wait states, the largest first.
    pub wait_states: Vec<WaitState>,
    /// Delay costs of all places; `None` without root causes.
    pub costs: Option<f64>,
    /// Delay costs of the recorder.
    pub recorder_costs: f64,
    /// The places that stand out, the largest costs first.
    pub culprits: Vec<Culprit>,
    /// Ranks that wait most, the longest first.
    pub ranks: Vec<Rank>,
    /// Time in MPI by what the analysis could do with it.
    pub coverage: Vec<Coverage>,
    /// Findings about the trace that occurred.
    pub findings: Vec<Finding>,
    /// The clocks.
    pub clocks: Clocks,
}

/// A wait state at a call path.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitState {
    /// Unique name of its metric.
    pub metric: String,
    /// Its call path.
    pub cnode: u32,
    /// The names of the call path's regions from the root, with slashes between them.
    pub call_path: String,
    /// Waiting time, in seconds.
    pub seconds: f64,
}

/// A part of the costs of a culprit, in words.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    /// The part.
    pub text: String,
    /// Its share of the costs, from 0 to 1.
    pub share: f64,
}

/// A call path and location that made others wait.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Culprit {
    /// The location, or several that are alike, in words.
    pub place: String,
    /// The call path.
    pub cnode: u32,
    /// The names of the call path's regions from the root, with slashes between them.
    pub call_path: String,
    /// Delay costs, in seconds: waiting of others, with that through further waiting.
    pub seconds: f64,
    /// The kind of waiting that costs most, in words.
    pub kind: String,
    /// Whether its time is in MPI and no wait state, so that the trace cannot explain it.
    pub is_unexplained: bool,
    /// The line in the function: of the call before, or of the place itself.
    pub site: Option<String>,
    /// The stretch of the function: the calls of MPI before and after.
    pub between: Option<Part>,
    /// Time in the function between such calls, in seconds.
    pub between_seconds: Option<f64>,
    /// Where most of the costs were waited, and by whom.
    pub victims: Option<Part>,
    /// Whether it is on the critical path.
    pub is_critical: bool,
    /// The excess of its computation over the mean of all, as a fraction of the mean.
    pub more_work: Option<f64>,
    /// Why it was not running in a part of this excess, in words, and the share of it; absent if it was running, or nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_running: Option<Part>,
    /// By which counters its computation differs from that of all, in words; absent if nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    /// Samples taken there, in words.
    pub samples: Option<String>,
}

/// A rank that waits.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Rank {
    /// Its name.
    pub name: String,
    /// Time waiting, in seconds.
    pub waiting: f64,
    /// Time, in seconds.
    pub run: f64,
}

/// Time in MPI of a fate.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Coverage {
    /// `analysed`, or why not.
    pub fate: String,
    /// Time in MPI, in seconds.
    pub seconds: f64,
}

/// A finding about the trace.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// `note`, `data loss` or `wrong`.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Number of occurrences.
    pub count: u64,
    /// Its meaning.
    pub meaning: String,
    /// The first occurrence, in words.
    pub example: String,
}

/// The clocks of the trace.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Clocks {
    /// Lower bound of the error, in seconds; 0 if none is known.
    pub error: f64,
    /// With corrected clocks: events that were too early.
    pub corrected: Option<u64>,
    /// With corrected clocks: the largest correction, in seconds.
    pub largest: Option<f64>,
    /// Waiting no longer than the error.
    pub doubts: Vec<Doubt>,
}

/// Waiting that may be due to wrong clocks.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Doubt {
    /// Unique name of the metric.
    pub metric: String,
    /// The doubtful waiting, in seconds.
    pub seconds: f64,
    /// All waiting of this kind, in seconds.
    pub of: f64,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// If it is no JSON of this shape, or of another schema.
    pub fn parse(bytes: &[u8]) -> Result<Manifest> {
        member::parse(MANIFEST, bytes, SCHEMA, |read: &Manifest| &read.schema)
    }

    /// Writes this manifest: JSON in one line.
    pub fn to_bytes(&self) -> Vec<u8> {
        member::to_bytes(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_is_read_as_written() {
        let manifest = Manifest {
            schema: SCHEMA.into(),
            ticks_per_second: 1_000_000_000,
            levels: vec![Level { span: 16, groups: 3, bins: 64, bin_ticks: 7 }],
            summary: Summary { run: 0.1 + 0.2, costs: None, ..Summary::default() },
            ..Manifest::default()
        };
        assert_eq!(Manifest::parse(&manifest.to_bytes()), Ok(manifest));
    }

    #[test]
    fn digest_depends_on_the_text_and_not_on_newlines_behind_it() {
        assert_eq!(digest(b"abc\n\n"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_ne!(digest(b"abd"), digest(b"abc"));
    }

    #[test]
    fn another_schema_and_damaged_manifests_are_refused() {
        assert!(Manifest::parse(b"{\"schema\": \"replay-details/2\"}").is_err());
        assert!(Manifest::parse(b"{\"schema\": \"replay-details/1\", \"end\": -1}").is_err());
        assert!(Manifest::parse(b"{").is_err());
    }
}
