//! What would be gained under other conditions, in words (what-if 3).

use std::fmt;

use cubex::Attribute;
use details::what_if::{Efficiencies, LatencyFile, SCHEMA, ScenarioTime, Time, Trust, WhatIfFile};
use model::ClockProperties;

use super::efficiencies::{PhaseSummary, additive, all_threads, write_phases, write_threads};
use super::summary::printable;
use super::{advice, masters};
use crate::what_if::{
    Change, Efficiency, Latency, Levels, Lever, Master, Place, Prediction, Predictions, Scenario, TOLERATED,
};

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
    /// How many messages would come in another order than before at a call path that may have chosen them.
    pub otherwise: u64,
    /// Whether processes would wait for each other, so that there is no run time.
    pub deadlocks: bool,
    /// Whether the messages of the run do not tell how long they would take, so that there is no run time.
    pub is_unknown: bool,
    /// Whether nothing is at its call paths that it could change.
    pub is_void: bool,
    /// The share of the run time that is gained; negative if the run gets longer.
    pub gain: f64,
}

impl Gain {
    /// Whether there is a run time.
    pub fn has_time(&self) -> bool {
        !self.deadlocks && !self.is_unknown
    }
}

/// How much latency the run bears.
#[derive(Clone, PartialEq, Debug)]
pub struct LatencySummary {
    /// Messages in a row that decide when the run ends.
    pub messages: u64,
    /// Operations of many in a row.
    pub operations: u64,
    /// Their steps.
    pub steps: u64,
    /// By [`TOLERATED`]: seconds that each message and step may take longer; `None` where nothing is too much.
    pub tolerance: [Option<f64>; 3],
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
    /// Efficiencies of the run; `None` if they are not known.
    pub efficiency: Option<Efficiency>,
    /// Receives that may have been free to choose their messages.
    pub choices: u64,
    /// How much latency the run bears.
    pub latency: Option<LatencySummary>,
    /// Of all threads.
    pub levels: Levels,
    /// Of phases, in the order in which they were named.
    pub phases: Vec<PhaseSummary>,
    /// Whether it is the standard set, of which only what gains something is printed.
    pub is_standard: bool,
    /// In the order of the scenarios; those of the standard set by what they gain, most first.
    pub gains: Vec<Gain>,
    /// What those change that gain enough for advice: position among them, and what it is.
    pub levers: Vec<(usize, Lever)>,
    /// Masters and their workers.
    pub masters: Vec<Master>,
    /// Ticks of a second.
    pub ticks_per_second: u64,
}

impl WhatIfSummary {
    /// Of predictions, with this clock.
    pub fn new(predictions: &Predictions, clock: &ClockProperties) -> WhatIfSummary {
        let seconds = |ticks: i64| clock.seconds(ticks.into());
        let of_mpi =
            |ticks| if predictions.mpi > 0 { seconds(ticks) / seconds(predictions.mpi) } else { 0.0 };
        let share = |ticks| if predictions.run > 0 { seconds(ticks) / seconds(predictions.run) } else { 0.0 };
        let gain = |it: &Prediction| Gain {
            scenario: it.scenario.clone(),
            seconds: seconds(it.ticks),
            ticks: it.ticks,
            moved: it.moved,
            otherwise: it.otherwise,
            deadlocks: it.deadlocks,
            is_unknown: it.is_unknown,
            is_void: it.is_void,
            gain: share(predictions.run - it.ticks),
        };
        let latency = |it: &Latency| LatencySummary {
            messages: it.messages,
            operations: it.operations,
            steps: it.steps,
            tolerance: it.tolerance.map(|ticks| ticks.map(|ticks| ticks / clock.resolution as f64)),
        };
        WhatIfSummary {
            run: seconds(predictions.run),
            run_ticks: predictions.run,
            unexplained: of_mpi(predictions.unexplained),
            kept: of_mpi(predictions.kept),
            model_error: share(predictions.fitted - predictions.run),
            efficiency: predictions.efficiency,
            choices: predictions.choices,
            latency: predictions.latency.as_ref().map(latency),
            levels: predictions.levels.clone(),
            phases: predictions
                .phases
                .iter()
                .map(|phase| PhaseSummary::new(phase, predictions.run, clock))
                .collect(),
            is_standard: predictions.is_standard,
            gains: predictions.list.iter().map(gain).collect(),
            levers: predictions.levers.clone(),
            masters: predictions.masters.clone(),
            ticks_per_second: clock.resolution,
        }
    }
}

impl WhatIfSummary {
    /// The same for programs.
    pub(super) fn file(&self) -> WhatIfFile {
        let ticks_per_second = self.ticks_per_second;
        let scenario = |it: &Gain| ScenarioTime {
            gain: it.has_time().then_some(it.gain),
            is_doubtful: self.is_doubtful(&it.scenario),
            is_upper_bound: it.scenario.changes.iter().any(Change::is_bound),
            name: it.scenario.to_string(),
            is_unknown: it.is_unknown,
            is_void: it.is_void,
            seconds: it.has_time().then_some(it.seconds),
            ticks: it.has_time().then_some(it.ticks),
            would_come_otherwise: it.otherwise,
            would_deadlock: it.deadlocks,
        };
        let latency = |it: &LatencySummary| LatencyFile {
            messages: it.messages,
            operations: it.steps,
            operations_in_a_row: it.operations,
            tolerance_us: std::iter::zip(TOLERATED, it.tolerance)
                .map(|(percent, seconds)| (percent.to_string(), seconds.map(|seconds| 1e6 * seconds)))
                .collect(),
        };
        WhatIfFile {
            advice: advice::all(self),
            masters: self.masters.iter().map(|master| masters::facts(master, ticks_per_second)).collect(),
            efficiency: self.efficiency.map(|efficiency| Efficiencies {
                additive: additive(&self.levels, &efficiency),
                load_balance: efficiency.load_balance(),
                parallel: efficiency.parallel(),
                serialisation: efficiency.serialisation(),
                transfer: efficiency.transfer(),
            }),
            latency: self.latency.as_ref().map(latency),
            phases: self.phases.iter().map(PhaseSummary::file).collect(),
            run_time: Time { seconds: self.run, ticks: self.run_ticks },
            scenarios: self.gains.iter().map(scenario).collect(),
            schema: SCHEMA.into(),
            threads: all_threads(&self.levels),
            ticks_per_second,
            trust: Trust {
                choices: self.choices,
                kept: self.kept,
                model_error: self.model_error,
                unexplained: self.unexplained,
                would_come_otherwise: self.otherwise(),
            },
        }
    }

    /// The run time of each scenario, in seconds, and how far to trust it, as attributes of the report; some
    /// scenarios have no run time.
    pub(super) fn attributes(&self) -> impl Iterator<Item = Attribute> {
        let with_time = self.gains.iter().filter(|gain| gain.has_time());
        let times =
            with_time.map(|gain| (format!("What-if::{}", gain.scenario), format!("{:.9}", gain.seconds)));
        let shares =
            [("unexplained", self.unexplained), ("kept", self.kept), ("model error", self.model_error)];
        let shares = shares.map(|(name, share)| (name, format!("{share:.6}")));
        let counts = [("choices", self.choices), ("would come otherwise", self.otherwise())];
        let counts = counts.map(|(name, count)| (name, count.to_string()));
        let trust = shares.into_iter().chain(counts);
        let trust = trust.map(|(name, value)| (format!("What-if trust::{name}"), value));
        times.chain(trust).map(|(name, value)| Attribute::new(format!("Replay::{name}"), value))
    }

    /// The most choices that might be others in a scenario.
    fn otherwise(&self) -> u64 {
        self.gains.iter().map(|gain| gain.otherwise).max().unwrap_or(0)
    }

    /// Whether all gains are only roughly known (what-if 4).
    pub(super) fn is_rough(&self) -> bool {
        self.unexplained > DOUBTFUL || self.kept > DOUBTFUL
    }

    /// Whether what a scenario gains is only roughly known (what-if 2.5, 4).
    pub(super) fn is_doubtful(&self, scenario: &Scenario) -> bool {
        let is_of_network =
            |change: &Change| matches!(change, Change::Latency(_) | Change::Bandwidth(_) | Change::Add(_));
        self.is_rough() || self.model_error.abs() > MISFIT && scenario.changes.iter().any(is_of_network)
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
        write!(f, "; error of the model {:+.1} %", 100.0 * model_error)?;
        if self.choices > 0 {
            write!(f, ";\nmay have chosen their messages: {} receives", self.choices)?;
            match self.otherwise() {
                0 => {}
                otherwise => write!(f, ", of which up to {otherwise} would come in another order")?,
            }
        }
        writeln!(f, "):")?;
        let largest = gains.iter().map(|gain| gain.gain).fold(0.0, f64::max);
        let is_worth =
            |gain: &&Gain| !self.is_standard || gain.gain >= if largest >= LEAST { LEAST } else { 0.0 };
        let most = if self.is_standard { NAMED } else { gains.len() };
        let (mut has_doubtful, mut has_bound) = (false, false);
        for gain in gains.iter().filter(is_worth).take(most) {
            let Gain { scenario, seconds, deadlocks, is_unknown, is_void, .. } = gain;
            let void = if *is_void { " (there is nothing of that kind)" } else { "" };
            let words = format!("{}{void}", printable(&words(scenario)));
            if *deadlocks {
                writeln!(f, "   would deadlock            {words}")?;
                continue;
            }
            if *is_unknown {
                writeln!(f, "   not known                 {words}: the messages of the run do not tell")?;
                continue;
            }
            let percent = 100.0 * gain.gain;
            let (is_doubtful, is_bound) =
                (self.is_doubtful(scenario), scenario.changes.iter().any(Change::is_bound));
            (has_doubtful, has_bound) = (has_doubtful | is_doubtful, has_bound | is_bound);
            let mark = |is_so: bool, mark: &'static str| if is_so { mark } else { " " };
            writeln!(
                f,
                "{}{}{percent:5.1} %  {seconds:12.6} s  {words}",
                mark(is_doubtful, "≈"),
                mark(is_bound, "≤")
            )?;
        }
        if has_bound {
            writeln!(
                f,
                "≤ is the most that there may be: work has to be done somewhere, and data to arrive."
            )?;
        }
        if has_doubtful {
            writeln!(f, "≈ is roughly so: see the shares of the time in MPI, and the error of the model.")?;
        }
        if let Some(efficiency) = &self.efficiency {
            let [parallel, balance, serialisation, transfer] = [
                efficiency.parallel(),
                efficiency.load_balance(),
                efficiency.serialisation(),
                efficiency.transfer(),
            ]
            .map(|share| 100.0 * share);
            writeln!(
                f,
                "Parallel efficiency of the ranks: {parallel:.1} % = load balance {balance:.1} % · serialisation \
                 {serialisation:.1} % · transfer {transfer:.1} %"
            )?;
        }
        write_threads(f, "", &self.levels)?;
        write_phases(f, &self.phases)?;
        if let Some(latency) = &self.latency {
            writeln!(f, "{latency}")?;
        }
        for master in self.masters.iter().take(masters::NAMED) {
            writeln!(f, "{}", masters::line(master, self.ticks_per_second))?;
        }
        match self.masters.len().saturating_sub(masters::NAMED) {
            0 => Ok(()),
            more => writeln!(f, "Masters besides: {more}"),
        }
    }
}

impl fmt::Display for LatencySummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LatencySummary { messages, operations, steps, tolerance } = self;
        let several = |count: u64, one: &'static str, many: &'static str| if count == 1 { one } else { many };
        if messages + operations == 0 {
            return f.write_str("Latency: no message and no operation of many decides when the run ends");
        }
        write!(
            f,
            "Latency: {messages} {} and {operations} {} ({steps} {}) in a row decide; ",
            several(*messages, "message", "messages"),
            several(*operations, "operation of many", "operations of many"),
            several(*steps, "step", "steps")
        )?;
        match tolerance[0] {
            Some(seconds) => {
                let microseconds = 1e6 * seconds;
                let digits = if microseconds < 10.0 { 3 } else { 1 };
                write!(f, "1 % longer if each message and step takes {microseconds:.digits$} µs more")
            }
            None => f.write_str("no message decides, however long it takes"),
        }
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
        Change::Latency(factor) => format!("latency of the network times {factor}"),
        Change::Bandwidth(factor) => format!("bandwidth of the network times {factor}"),
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
        Change::Without(place) => {
            format!("without the delays that others have waited for{}{}", within(&place.path), on(place))
        }
        Change::Overlap(path) => format!("what is received in {path} is awaited at the next call of MPI"),
        Change::Quiet(path) => {
            format!("no stretch of work{} takes longer than it usually does", within(path))
        }
        Change::Rendezvous(bytes) => format!("sends of more than {bytes} bytes wait for their receives"),
        Change::Mapping(file) => format!("processes on the nodes of {file}"),
        Change::Spread(path) => format!("work in {path} shared evenly by all ranks in each phase of the run"),
        Change::Posted(path) => {
            format!("receives that {path} waits for are posted before the message is sent")
        }
        Change::Arrival(path) => format!("messages received in {path} in the order in which they are sent"),
        Change::Split(path, parts) => {
            format!("messages received in {path} and the work for them in {parts} parts")
        }
        Change::Progress(path) => {
            format!("messages that {path} waits for go on while the other side is outside of MPI")
        }
    }
}
