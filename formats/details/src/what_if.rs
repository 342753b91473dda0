//! Run times under other conditions: the member `what-if.json`, in a report or archive for which they were asked.
//!
//! New keys may come; none changes its meaning within a schema.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::member;

/// The name of the member.
pub const WHAT_IF: &str = "what-if.json";

/// The schema that this version writes.
pub const SCHEMA: &str = "replay-what-if/1";

/// What was asked for, what would be gained, and how far to trust it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WhatIfFile {
    /// What to change, most gain first, what is the network's behind what is the program's; only with the standard set.
    pub advice: Vec<Advice>,
    /// Efficiencies of the ranks; null if they are not known.
    pub efficiency: Option<Efficiencies>,
    /// How much latency the run bears, if the standard set was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyFile>,
    /// Processes that hand out work to others; only with the standard set.
    pub masters: Vec<MasterFacts>,
    /// Efficiencies of phases, in the order in which they were named.
    pub phases: Vec<WhatIfPhase>,
    /// The run time as it was.
    pub run_time: Time,
    /// In the order in which they were asked for; those of the standard set by what they gain, most first.
    pub scenarios: Vec<ScenarioTime>,
    /// `replay-what-if/1`.
    pub schema: String,
    /// Efficiencies of all threads; none if no rank has any but its main one.
    pub threads: Option<AllThreads>,
    /// Ticks of a second.
    pub ticks_per_second: u64,
    /// How far to trust run times.
    pub trust: Trust,
}

/// A time in both units.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Time {
    /// Seconds.
    pub seconds: f64,
    /// Ticks.
    pub ticks: i64,
}

/// How much latency the run bears.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LatencyFile {
    /// Messages in a row that decide when the run ends.
    pub messages: u64,
    /// Steps of operations of many in a row, by themselves: ⌈log₂ P⌉ of an operation of P processes.
    pub operations: u64,
    /// Operations of many in a row, by themselves.
    pub operations_in_a_row: u64,
    /// By percents that the run may be longer: microseconds that each message and each step may take longer;
    /// null where nothing is too much.
    pub tolerance_us: BTreeMap<String, Option<f64>>,
}

/// Efficiencies, from 0 to 1.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Efficiencies {
    /// The same as differences: what each lacks is a share of the run time that is lost.
    pub additive: Shares,
    /// Mean work in relation to the most.
    pub load_balance: f64,
    /// Mean work in relation to the run time: the product of the others.
    pub parallel: f64,
    /// The most work in relation to the run time on an ideal network.
    pub serialisation: f64,
    /// The run time on an ideal network in relation to the real one.
    pub transfer: f64,
}

/// Efficiencies of main threads, from 0 to 1.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Shares {
    /// Serialisation and transfer together.
    pub communication: f64,
    /// Load balance.
    pub load_balance: f64,
    /// Mean work in relation to the run time.
    pub parallel: f64,
    /// Serialisation; unknown if the windows of a phase take longer on an ideal network.
    pub serialisation: Option<f64>,
    /// Transfer; unknown in the same case.
    pub transfer: Option<f64>,
}

/// Efficiencies of all threads.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AllThreads {
    /// As differences: what each lacks is a share of the run time that is lost.
    pub additive: AllThreadsShares,
    /// What threads do that do not work.
    pub idle: IdleTime,
    /// The fewest threads of a rank.
    pub least: u32,
    /// The most threads of a rank.
    pub most: u32,
    /// As factors.
    pub multiplicative: AllThreadsShares,
    /// Mean work of all threads in relation to the run time: process · thread.
    pub parallel: f64,
}

/// Efficiencies of processes and of their threads, from 0 to 1.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AllThreadsShares {
    /// Of processes: load balance of main threads outside of MPI.
    pub load_balance: f64,
    /// Of processes: load balance, serialisation and transfer together.
    pub process: f64,
    /// Of threads in parallel regions.
    pub region: f64,
    /// Of threads outside of parallel regions.
    pub serial: f64,
    /// Of processes: serialisation; unknown if the windows of a phase take longer on an ideal network.
    pub serialisation: Option<f64>,
    /// Of threads: in and outside of parallel regions together.
    pub thread: f64,
    /// Of processes: transfer; unknown like serialisation.
    pub transfer: Option<f64>,
}

/// Time of threads without work while their process is outside of MPI, as shares of the run time of all.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IdleTime {
    /// Outside of parallel regions.
    pub outside: f64,
    /// All else in parallel regions.
    pub rest: f64,
    /// In parallel regions, waiting for the slowest thread.
    pub waiting: f64,
}

/// A phase: visits of a call path.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WhatIfPhase {
    /// The rank with the fewest visits.
    pub least: RankVisits,
    /// The rank with the most.
    pub most: RankVisits,
    /// The call path, as `--phase` takes it.
    pub path: String,
    /// What is known if all ranks have equally many visits; else nothing.
    pub windows: Option<PhaseTimes>,
}

/// A rank, and how often it comes to a phase.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RankVisits {
    /// The rank.
    pub rank: u32,
    /// Its outermost visits.
    pub visits: u64,
}

/// The windows of a phase: the k-th visits of all ranks, from the first enter to the last leave.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseTimes {
    /// Efficiencies of main threads in the windows.
    pub efficiency: PhaseEfficiencies,
    /// The time of all windows on an ideal network.
    pub ideal: Time,
    /// The part of the windows that lies in those before.
    pub overlap: Time,
    /// The time of all windows.
    pub run_time: Time,
    /// The share of the run time that lies in windows.
    pub share: f64,
    /// Efficiencies of all threads; none as in the run, or if visits begin or end in parallel regions.
    pub threads: Option<AllThreads>,
}

/// Efficiencies of main threads in both forms.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseEfficiencies {
    /// As differences.
    pub additive: Shares,
    /// As factors.
    pub multiplicative: Shares,
}

/// The run time of a scenario.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ScenarioTime {
    /// What is gained of the run time, as a share; negative if the run gets longer. Null if it would deadlock, or is not known.
    pub gain: Option<f64>,
    /// Whether the gain is only roughly known.
    pub is_doubtful: bool,
    /// Whether the messages of the run do not tell how long they would take: then it has no run time.
    pub is_unknown: bool,
    /// Whether it is an upper bound.
    pub is_upper_bound: bool,
    /// Whether nothing is at its call paths that it could change.
    pub is_void: bool,
    /// The scenario, as `--what-if` takes it.
    pub name: String,
    /// Seconds; null as the gain.
    pub seconds: Option<f64>,
    /// Ticks; null as the gain.
    pub ticks: Option<i64>,
    /// How many messages would come in another order than before at a call path that may have chosen them.
    pub would_come_otherwise: u64,
    /// Whether processes would wait for each other.
    pub would_deadlock: bool,
}

/// How far to trust run times: shares, and numbers of messages.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trust {
    /// Receives that may have been free to choose their messages.
    pub choices: u64,
    /// Of the time in MPI: what takes as long as it did, whatever is different.
    pub kept: f64,
    /// Of the run time: how much longer it would be if calls of MPI took as long as the model of the network has it.
    pub model_error: f64,
    /// Of the time in MPI: what the model does not explain.
    pub unexplained: f64,
    /// Of the choices, the most that might be others in a scenario.
    pub would_come_otherwise: u64,
}

/// What to change, for programs that tune others.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Advice {
    /// What was measured.
    pub measure_points: Vec<MeasurePoint>,
    /// The scenario, or the formula, as text.
    pub performance_function: String,
    /// What is predicted.
    pub predicted: Predicted,
    /// How far to trust it.
    pub trust: AdviceTrust,
    /// What to change.
    pub tuning_point: TuningPoint,
}

/// Something that was measured.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MeasurePoint {
    /// Names of a call path with slashes between them; empty if it is at none.
    pub path: String,
    /// What it is.
    pub quantity: String,
    /// The rank; none if it is of all.
    pub rank: Option<u32>,
    /// The thread of the rank.
    pub thread: Option<u32>,
    /// Unit of the value: `s`, `bytes`, or `1` of numbers.
    pub unit: String,
    /// The value.
    pub value: f64,
}

/// Something to change.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TuningPoint {
    /// The value now.
    pub now: f64,
    /// What it is, with its unit.
    pub parameter: String,
    /// Names of a call path with slashes between them; empty if it is at none.
    pub path: String,
    /// The value that is proposed; none if it is without bound.
    pub proposed: Option<f64>,
}

/// What is predicted of the run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Predicted {
    /// What is gained of the run time, as a share; negative if the run gets longer.
    pub gain: f64,
    /// Seconds of the run.
    pub seconds: f64,
    /// Ticks of the run.
    pub ticks: i64,
}

/// How far to trust advice.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdviceTrust {
    /// Whether the gain is only roughly known.
    pub is_doubtful: bool,
    /// Whether it is an upper bound.
    pub is_upper_bound: bool,
    /// How much longer the run, or the master's part of it, would be by the model, nothing changed, as a share.
    pub model_error: f64,
}

/// A process that hands out work to others.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MasterFacts {
    /// The best number of workers; none if it is not known.
    pub best: Option<WorkersTime>,
    /// Bytes of all results.
    pub bytes_back: u64,
    /// Bytes of all tasks.
    pub bytes_there: u64,
    /// How an iteration depends on the number of workers, where each gets one task; none if it does not hold.
    pub formula: Option<FormulaFacts>,
    /// How often all results were in.
    pub iterations: u64,
    /// Seconds of a message without data, one way.
    pub latency: f64,
    /// What serving all tasks takes, whatever the number of workers; none if it is not known.
    pub limit: Option<Time>,
    /// From the first task to the last result, in all iterations.
    pub measured: Time,
    /// How much longer that is if it is replayed by tasks, as a share; none if service is not known.
    pub model_error: Option<f64>,
    /// Ways to hand out work in chunks; empty if it is not known what they take.
    pub policies: Vec<PolicyTimes>,
    /// Its rank.
    pub rank: u32,
    /// The call path that receives most results.
    pub receives_in: String,
    /// Seconds for a byte; none if it is not known.
    pub seconds_of_byte: Option<f64>,
    /// The call path that sends most tasks.
    pub sends_in: String,
    /// Seconds of the master for a task; none if they are not known.
    pub service: Option<f64>,
    /// Tasks that were answered.
    pub tasks: u64,
    /// Times by number of workers; empty if they are not known.
    pub times: Vec<WorkersTime>,
    /// Standard deviation of the seconds of a unit of work.
    pub unit_deviation: f64,
    /// Mean seconds of a unit of work.
    pub unit_mean: f64,
    /// Units of work in all tasks.
    pub units: u64,
    /// Why other numbers of workers are not known: `service`, `noise`, `tasks`, `iterations` or `replay`.
    pub unknown: Option<String>,
    /// Work of all tasks.
    pub work: Time,
    /// The ranks of its workers.
    pub workers: Vec<u32>,
}

/// The time with a number of workers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkersTime {
    /// Seconds.
    pub seconds: f64,
    /// Ticks.
    pub ticks: i64,
    /// Workers.
    pub workers: u32,
}

/// What an iteration takes with x workers: `constant + shared / x` seconds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FormulaFacts {
    /// The number of workers with the smallest product of workers and squared time.
    pub best: u32,
    /// Seconds that do not get shorter.
    pub constant: f64,
    /// Where that product is smallest.
    pub optimum: f64,
    /// Seconds that are shared by the workers.
    pub shared: f64,
}

/// What the master's part takes if work is handed out in chunks.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyTimes {
    /// Chunks for each worker, of one size.
    pub batches: Option<u64>,
    /// Seconds with the best number of workers.
    pub best: f64,
    /// Chunks with as many workers as there are.
    pub chunks: u64,
    /// Units of the first chunk.
    pub first_chunk: u64,
    /// `FSC`, `DPF` or `DAF`.
    pub name: String,
    /// Seconds with as many workers as there are.
    pub now: f64,
}

impl WhatIfFile {
    /// Reads the member.
    ///
    /// # Errors
    /// If it is no JSON of this form, or of another schema.
    pub fn parse(bytes: &[u8]) -> Result<WhatIfFile> {
        member::parse(WHAT_IF, bytes, SCHEMA, |read: &WhatIfFile| &read.schema)
    }

    /// The bytes of the member.
    pub fn to_bytes(&self) -> Vec<u8> {
        member::to_bytes(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_times_come_back_as_they_were_and_another_schema_is_refused() {
        let scenario = ScenarioTime {
            name: "ideal".into(),
            ticks: Some(-3),
            gain: Some(0.1),
            ..ScenarioTime::default()
        };
        let file = WhatIfFile { schema: SCHEMA.into(), scenarios: vec![scenario], ..WhatIfFile::default() };
        assert_eq!(WhatIfFile::parse(&file.to_bytes()), Ok(file.clone()));
        let other = WhatIfFile { schema: "replay-what-if/9".into(), ..file };
        assert!(WhatIfFile::parse(&other.to_bytes()).unwrap_err().to_string().contains("what-if/9"));
    }
}
