//! Run times under other conditions: the member `what-if.json`, in a report or archive for which they were asked.
//!
//! New keys may come; none changes its meaning within a schema.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The name of the member.
pub const WHAT_IF: &str = "what-if.json";

/// The schema that this version writes.
pub const SCHEMA: &str = "replay-what-if/1";

/// What was asked for, what would be gained, and how far to trust it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WhatIfFile {
    /// Efficiencies of the ranks.
    pub efficiency: Efficiencies,
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
    /// What is gained of the run time, as a share; negative if the run gets longer.
    pub gain: f64,
    /// Whether the gain is only roughly known.
    pub is_doubtful: bool,
    /// Whether it is an upper bound.
    pub is_upper_bound: bool,
    /// The scenario, as `--what-if` takes it.
    pub name: String,
    /// Seconds.
    pub seconds: f64,
    /// Ticks.
    pub ticks: i64,
}

/// How far to trust run times: shares.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trust {
    /// Of the time in MPI: what takes as long as it did, whatever is different.
    pub kept: f64,
    /// Of the run time: how much longer it would be if calls of MPI took as long as the model of the network has it.
    pub model_error: f64,
    /// Of the time in MPI: what the model does not explain.
    pub unexplained: f64,
}

impl WhatIfFile {
    /// Reads the member.
    ///
    /// # Errors
    /// If it is no JSON of this form.
    pub fn parse(bytes: &[u8]) -> Result<WhatIfFile> {
        let read: WhatIfFile =
            serde_json::from_slice(bytes).map_err(|error| Error::new(format!("{WHAT_IF}: {error}")))?;
        match read.schema == SCHEMA {
            true => Ok(read),
            false => {
                Err(Error::new(format!("{WHAT_IF}: the schema is {:?}, expected {SCHEMA:?}", read.schema)))
            }
        }
    }

    /// The bytes of the member.
    pub fn to_bytes(&self) -> Vec<u8> {
        // It cannot fail: all keys are strings.
        let mut text = serde_json::to_vec(self).unwrap_or_default();
        text.push(b'\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_times_come_back_as_they_were_and_another_schema_is_refused() {
        let scenario = ScenarioTime { name: "ideal".into(), ticks: -3, gain: 0.1, ..ScenarioTime::default() };
        let file = WhatIfFile { schema: SCHEMA.into(), scenarios: vec![scenario], ..WhatIfFile::default() };
        assert_eq!(WhatIfFile::parse(&file.to_bytes()), Ok(file.clone()));
        let other = WhatIfFile { schema: "replay-what-if/9".into(), ..file };
        assert!(WhatIfFile::parse(&other.to_bytes()).unwrap_err().to_string().contains("what-if/9"));
    }
}
