//! What would be gained under other conditions, in words (what-if 3).

use std::fmt;

use details::what_if::{Efficiencies, SCHEMA, ScenarioTime, Time, Trust, WhatIfFile};
use model::ClockProperties;

use super::summary::printable;
use crate::what_if::{Change, Efficiency, Place, Prediction, Predictions, Scenario};

/// Shares from which on gains are only roughly right (what-if 4).
const DOUBTFUL: f64 = 0.1;

/// Error of the model of the network, as a share of the run time, from which on what it says of other networks is.
const MISFIT: f64 = 0.05;

/// Gains of the standard set that are printed at most, and the least of them if another one gains more.
const NAMED: usize = 7;
const LEAST: f64 = 0.0005;

/// A scenario, and what it would gain.
#[derive(Clone, PartialEq, Debug)]
pub struct Gain {
    /// The scenario.
    pub scenario: Scenario,
    /// The run time, in seconds.
    pub seconds: f64,
    /// The run time in ticks.
    pub ticks: i64,
    /// How many calls of MPI, and events of threads, have another time than measured.
    pub moved: u64,
    /// The share of the run time that is gained; negative if the run gets longer.
    pub gain: f64,
}

/// What would be gained.
#[derive(Clone, PartialEq, Debug)]
pub struct WhatIfSummary {
    /// The run time, in seconds.
    pub run: f64,
    /// The run time in ticks.
    pub run_ticks: i64,
    /// The share of the time in MPI that the model does not explain.
    pub unexplained: f64,
    /// The share of the time in MPI that takes as long as it did, whatever is different.
    pub kept: f64,
    /// How much longer the run would be, as a share, if calls of MPI took as long as the model of the network has it.
    pub model_error: f64,
    /// Efficiencies of the run.
    pub efficiency: Efficiency,
    /// Whether it is the standard set, of which only what gains something is printed.
    pub is_standard: bool,
    /// In the order of the scenarios; those of the standard set by what they gain, most first.
    pub gains: Vec<Gain>,
}

impl WhatIfSummary {
    /// Of predictions, with this clock.
    pub fn new(predictions: &Predictions, clock: &ClockProperties) -> WhatIfSummary {
        let seconds = |ticks: i64| clock.seconds(ticks.into());
        let of_mpi =
            |ticks| if predictions.mpi > 0 { seconds(ticks) / seconds(predictions.mpi) } else { 0.0 };
        let share = |ticks| if predictions.run > 0 { seconds(ticks) / seconds(predictions.run) } else { 0.0 };
        let gain = |Prediction { scenario, ticks, moved }: &Prediction| Gain {
            scenario: scenario.clone(),
            seconds: seconds(*ticks),
            ticks: *ticks,
            moved: *moved,
            gain: share(predictions.run - ticks),
        };
        WhatIfSummary {
            run: seconds(predictions.run),
            run_ticks: predictions.run,
            unexplained: of_mpi(predictions.unexplained),
            kept: of_mpi(predictions.kept),
            model_error: share(predictions.fitted - predictions.run),
            efficiency: predictions.efficiency,
            is_standard: predictions.is_standard,
            gains: predictions.list.iter().map(gain).collect(),
        }
    }
}

impl WhatIfSummary {
    /// The same for programs.
    pub(super) fn file(&self, ticks_per_second: u64) -> WhatIfFile {
        let scenario = |Gain { scenario, seconds, ticks, gain, .. }: &Gain| ScenarioTime {
            gain: *gain,
            is_doubtful: self.is_doubtful(scenario),
            is_upper_bound: scenario.changes.iter().any(Change::is_bound),
            name: scenario.to_string(),
            seconds: *seconds,
            ticks: *ticks,
        };
        WhatIfFile {
            efficiency: Efficiencies {
                load_balance: self.efficiency.load_balance(),
                parallel: self.efficiency.parallel(),
                serialisation: self.efficiency.serialisation(),
                transfer: self.efficiency.transfer(),
            },
            run_time: Time { seconds: self.run, ticks: self.run_ticks },
            scenarios: self.gains.iter().map(scenario).collect(),
            schema: SCHEMA.into(),
            ticks_per_second,
            trust: Trust { kept: self.kept, model_error: self.model_error, unexplained: self.unexplained },
        }
    }

    /// Whether what a scenario gains is only roughly known (what-if 2.5, 4).
    fn is_doubtful(&self, scenario: &Scenario) -> bool {
        let is_of_network =
            |change: &Change| matches!(change, Change::Latency(_) | Change::Bandwidth(_) | Change::Add(_));
        self.unexplained > DOUBTFUL
            || self.kept > DOUBTFUL
            || self.model_error.abs() > MISFIT && scenario.changes.iter().any(is_of_network)
    }
}

impl fmt::Display for WhatIfSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WhatIfSummary { run, unexplained, kept, model_error, gains, .. } = self;
        writeln!(f, "\nGain under other conditions, of {run:.6} s from MPI_Init to MPI_Finalize")?;
        write!(f, "(of the time in MPI {:.1} % is unexplained", 100.0 * unexplained)?;
        if *kept > 0.0 {
            write!(f, ", {:.1} % is taken as it was", 100.0 * kept)?;
        }
        writeln!(f, "; error of the model {:+.1} %):", 100.0 * model_error)?;
        let largest = gains.iter().map(|gain| gain.gain).fold(0.0, f64::max);
        let is_worth =
            |gain: &&Gain| !self.is_standard || gain.gain >= if largest >= LEAST { LEAST } else { 0.0 };
        let most = if self.is_standard { NAMED } else { gains.len() };
        let mut has_bound = false;
        for Gain { scenario, seconds, gain, .. } in gains.iter().filter(is_worth).take(most) {
            let percent = 100.0 * gain;
            let is_bound = scenario.changes.iter().any(Change::is_bound);
            has_bound |= is_bound;
            let mark = match (self.is_doubtful(scenario), is_bound) {
                (true, _) => "≈",
                (false, true) => "≤",
                (false, false) => " ",
            };
            writeln!(f, " {mark}{percent:5.1} %  {seconds:12.6} s  {}", printable(&words(scenario)))?;
        }
        if has_bound {
            writeln!(
                f,
                "≤ is the most that there may be: work has to be done somewhere, and data to arrive."
            )?;
        }
        let [parallel, balance, serialisation, transfer] = [
            self.efficiency.parallel(),
            self.efficiency.load_balance(),
            self.efficiency.serialisation(),
            self.efficiency.transfer(),
        ]
        .map(|share| 100.0 * share);
        writeln!(
            f,
            "Parallel efficiency of the ranks: {parallel:.1} % = load balance {balance:.1} % · serialisation \
             {serialisation:.1} % · transfer {transfer:.1} %"
        )
    }
}

/// A scenario in words.
fn words(scenario: &Scenario) -> String {
    let words: Vec<String> = scenario.changes.iter().map(of_change).collect();
    words.join("; ")
}

fn of_change(change: &Change) -> String {
    let within = |path: &str| if path.is_empty() { String::new() } else { format!(" in {path}") };
    let on = |place: &Place| match place.rank {
        None => String::new(),
        Some((rank, 0)) => format!(" on rank {rank}"),
        Some((rank, thread)) => format!(" on thread {thread} of rank {rank}"),
    };
    match change {
        Change::Same => "nothing different".into(),
        Change::Fitted => "calls of MPI take as long as they usually do".into(),
        Change::Ideal => "on an ideal network: MPI takes no time but waiting".into(),
        Change::Latency(factor) => format!("latency of messages times {factor}"),
        Change::Bandwidth(factor) => format!("bandwidth of messages times {factor}"),
        Change::Add(microseconds) => format!("each message takes {microseconds} µs longer"),
        Change::Eager(None) => "no send waits for its receive".into(),
        Change::Eager(Some(bytes)) => format!("no send of up to {bytes} bytes waits for its receive"),
        Change::Remove(path) => format!("without operations of many processes in {path}"),
        Change::EarlySend(path) => {
            format!("messages sent in {path} leave as soon as the sender has heard of others")
        }
        Change::Cpu(factor, place) => {
            format!("work{}{} takes {factor} times as long", within(&place.path), on(place))
        }
        Change::Level(place) => {
            let who = match place.rank {
                None => "no rank".into(),
                Some((rank, 0)) => format!("rank {rank}"),
                Some((rank, thread)) => format!("thread {thread} of rank {rank}"),
            };
            let verb = if place.rank.is_none() { "does more" } else { "does no more" };
            format!("{who} {verb} than the mean of all{}", within(&place.path))
        }
        Change::LevelAuto => {
            "nobody does more than the mean of all at the place with most work above it".into()
        }
        Change::Balance(path) => format!("work in {path} shared evenly by those that come there"),
    }
}
