//! Efficiencies of all threads, and of phases, in words and for programs (what-if 5.1, 5.2).

use std::fmt;

use details::what_if::{
    AllThreads, AllThreadsShares, IdleTime, PhaseEfficiencies, PhaseTimes, RankVisits as VisitsOfRank,
    Shares, Time, WhatIfPhase,
};
use model::{ClockProperties, Ticks};

use super::summary::printable;
use crate::what_if::{Efficiency, LevelShares, Levels, Phase, PhaseWindows, RankVisits, comparable};

/// Parts of windows that lie in the window before, as a share of all, from which on they are told.
const OVERLAP: f64 = 0.001;

/// A phase, and its times in seconds.
#[derive(Clone, PartialEq, Debug)]
pub struct PhaseSummary {
    /// Its efficiencies, with times in ticks.
    pub phase: Phase,
    /// The time of all windows together; 0 if there are none.
    pub seconds: f64,
    /// The same on an ideal network.
    pub ideal: f64,
    /// The part that lies in the windows before.
    pub overlap: f64,
    /// The share of the run time that lies in windows.
    pub share: f64,
}

impl PhaseSummary {
    /// Of a phase of a run of so many ticks, with this clock.
    pub(super) fn new(phase: &Phase, run: Ticks, clock: &ClockProperties) -> PhaseSummary {
        let seconds = |ticks: Ticks| clock.seconds(ticks.into());
        let (time, ideal, overlap) = match &phase.windows {
            Some(windows) => (windows.efficiency.run, windows.efficiency.ideal, windows.overlap),
            None => (0, 0, 0),
        };
        PhaseSummary {
            phase: phase.clone(),
            seconds: seconds(time),
            ideal: seconds(ideal),
            overlap: seconds(overlap),
            share: if run > 0 { (time - overlap) as f64 / run as f64 } else { 0.0 },
        }
    }

    /// The same for programs.
    pub(super) fn file(&self) -> WhatIfPhase {
        let Phase { path, visits: [least, most], windows } = &self.phase;
        let time = |ticks, seconds| Time { seconds, ticks };
        let of = |windows: &PhaseWindows| PhaseTimes {
            efficiency: PhaseEfficiencies {
                additive: additive(&windows.levels, &windows.efficiency),
                multiplicative: multiplicative(&windows.efficiency),
            },
            ideal: time(windows.efficiency.ideal, self.ideal),
            overlap: time(windows.overlap, self.overlap),
            run_time: time(windows.efficiency.run, self.seconds),
            share: self.share,
            threads: if windows.is_split { None } else { all_threads(&windows.levels) },
        };
        let visits = |of: &RankVisits| VisitsOfRank { rank: of.rank, visits: of.count };
        WhatIfPhase {
            least: visits(least),
            most: visits(most),
            path: path.clone(),
            windows: windows.as_ref().map(of),
        }
    }
}

/// Serialisation and transfer of main threads in a phase, if they can be told apart.
fn told_apart(efficiency: &Efficiency) -> Option<[f64; 2]> {
    let of = |ideal| Efficiency { ideal, ..*efficiency };
    comparable(efficiency.ideal, efficiency.run)
        .map(|ideal| [of(ideal).serialisation(), of(ideal).transfer()])
}

/// Efficiencies of main threads whose product is the parallel efficiency.
fn multiplicative(efficiency: &Efficiency) -> Shares {
    let known = told_apart(efficiency);
    Shares {
        communication: efficiency.communication(),
        load_balance: efficiency.load_balance(),
        parallel: efficiency.parallel(),
        serialisation: known.map(|[serialisation, _]| serialisation),
        transfer: known.map(|[_, transfer]| transfer),
    }
}

/// Efficiencies of main threads, each of which lacks what is lost by one cause.
pub(super) fn additive(levels: &Levels, efficiency: &Efficiency) -> Shares {
    let LevelShares { load_balance, serialisation, transfer, .. } = levels.additive();
    Shares {
        communication: levels.communication(),
        load_balance,
        parallel: efficiency.parallel(),
        serialisation,
        transfer,
    }
}

/// Efficiencies of all threads; none if no rank has any but its main one.
pub(super) fn all_threads(levels: &Levels) -> Option<AllThreads> {
    let shares = |of: LevelShares| AllThreadsShares {
        load_balance: of.load_balance,
        process: of.process,
        region: of.region,
        serial: of.serial,
        serialisation: of.serialisation,
        thread: of.thread,
        transfer: of.transfer,
    };
    let idle = levels.idle();
    let (least, most) = levels.threads();
    levels.has_threads().then(|| AllThreads {
        additive: shares(levels.additive()),
        idle: IdleTime { outside: idle.outside, rest: idle.rest, waiting: idle.waiting },
        least,
        most,
        multiplicative: shares(levels.multiplicative()),
        parallel: levels.efficiency(),
    })
}

/// Efficiencies of all threads in words: lines with this indent; nothing if no rank has any but its main one.
pub(super) fn write_threads(f: &mut fmt::Formatter<'_>, indent: &str, levels: &Levels) -> fmt::Result {
    if !levels.has_threads() {
        return Ok(());
    }
    let of = levels.multiplicative();
    let percent = |share: f64| 100.0 * share;
    writeln!(
        f,
        "{indent}Parallel efficiency of all threads: {:.1} % = processes {:.1} % · parallel regions {:.1} % · outside \
         of these {:.1} %",
        percent(levels.efficiency()),
        percent(of.process),
        percent(of.region),
        percent(of.serial)
    )?;
    write!(f, "{indent}Of processes: load balance {:.1} % · ", percent(of.load_balance))?;
    match (of.serialisation, of.transfer) {
        (Some(serialisation), Some(transfer)) => writeln!(
            f,
            "serialisation {:.1} % · transfer {:.1} %",
            percent(serialisation),
            percent(transfer)
        )?,
        _ => writeln!(f, "communication {:.1} %", percent(levels.communication()))?,
    }
    let idle = levels.idle();
    writeln!(
        f,
        "{indent}Threads do not work in {:.1} % of the time outside of parallel regions, in {:.1} % waiting for the \
         slowest thread in one, in {:.1} % else in there",
        percent(idle.outside),
        percent(idle.waiting),
        percent(idle.rest)
    )
}

/// Efficiencies of phases in words; nothing if there are none.
pub(super) fn write_phases(f: &mut fmt::Formatter<'_>, phases: &[PhaseSummary]) -> fmt::Result {
    if !phases.is_empty() {
        writeln!(f, "Parallel efficiency of the ranks in phases:")?;
    }
    for summary in phases {
        let Phase { path, visits: [least, most], windows } = &summary.phase;
        write!(f, "  {}: ", printable(path))?;
        let Some(PhaseWindows { efficiency, levels, is_split, .. }) = windows else {
            writeln!(
                f,
                "unknown, as rank {} comes there {} and rank {} {}",
                least.rank,
                times(least.count),
                most.rank,
                times(most.count)
            )?;
            continue;
        };
        let percent = |share: f64| 100.0 * share;
        write!(
            f,
            "{:.1} % = load balance {:.1} % · ",
            percent(efficiency.parallel()),
            percent(efficiency.load_balance())
        )?;
        match told_apart(efficiency) {
            Some([serialisation, transfer]) => write!(
                f,
                "serialisation {:.1} % · transfer {:.1} %",
                percent(serialisation),
                percent(transfer)
            )?,
            None => write!(f, "communication {:.1} %", percent(efficiency.communication()))?,
        }
        let visits = if most.count == 1 { "visit" } else { "visits" };
        writeln!(f, ", {} {visits}, {:.1} % of the run time", most.count, percent(summary.share))?;
        if told_apart(efficiency).is_none() {
            writeln!(
                f,
                "    On an ideal network its visits take {:.6} s instead of {:.6} s: ranks come there at times that \
                 differ more, so serialisation and transfer cannot be told apart",
                summary.ideal, summary.seconds
            )?;
        }
        if summary.overlap > OVERLAP * summary.seconds {
            writeln!(
                f,
                "    {:.1} % of its time counts twice: ranks begin a visit before others have ended the one before",
                percent(summary.overlap / summary.seconds)
            )?;
        }
        match is_split {
            true if levels.has_threads() => {
                writeln!(
                    f,
                    "    Of other threads nothing is known: visits begin or end in parallel regions"
                )?;
            }
            // In phases that are calls of MPI there is nothing to say.
            _ if levels.most == 0 => {}
            _ => write_threads(f, "    ", levels)?,
        }
    }
    Ok(())
}

/// A number of times in words.
fn times(count: u64) -> String {
    if count == 1 { "once".into() } else { format!("{count} times") }
}
