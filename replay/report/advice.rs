//! What to change, for programs that tune others: what was measured, what to change, what is gained (what-if 6.5).

use details::what_if::{Advice, AdviceTrust, MeasurePoint, Predicted, TuningPoint};

use super::masters;
use super::what_if::WhatIfSummary;
use crate::what_if::{Change, Formula, Lever, Master, Place, Policy, PolicyKind, WORTH};

/// All advice: what is the program's by gain, then what is the network's.
pub(super) fn all(summary: &WhatIfSummary) -> Vec<Advice> {
    let [mut of_program, mut of_network] = [Vec::new(), Vec::new()];
    for (at, lever) in &summary.levers {
        let is_of_program = matches!(lever, Lever::Work { .. } | Lever::Operations { .. });
        let list = if is_of_program { &mut of_program } else { &mut of_network };
        list.push(of_scenario(summary, *at, lever));
    }
    of_program.extend(summary.masters.iter().flat_map(|master| of_master(summary, master)));
    of_program.sort_by(|one, other| other.predicted.gain.total_cmp(&one.predicted.gain));
    of_program.append(&mut of_network);
    of_program
}

fn of_scenario(summary: &WhatIfSummary, at: usize, lever: &Lever) -> Advice {
    let gain = &summary.gains[at];
    let seconds = |ticks: i64| ticks as f64 / summary.ticks_per_second as f64;
    let microseconds = |ticks: f64| 1e6 * ticks / summary.ticks_per_second as f64;
    let point = |path: &str, quantity: &str, value: f64, unit: &str| MeasurePoint {
        path: path.into(),
        quantity: quantity.into(),
        rank: None,
        thread: None,
        unit: unit.into(),
        value,
    };
    let tune = |path: &str, parameter: String, now: f64, proposed: Option<f64>| TuningPoint {
        now,
        parameter,
        path: path.into(),
        proposed,
    };
    let (measured, tuning_point) = match lever {
        Lever::Work { place: Place { path, rank }, now, mean } => {
            let (quantity, parameter) = match rank {
                Some((rank, 0)) => ("work", format!("work of rank {rank} in seconds")),
                Some((rank, thread)) => {
                    ("work", format!("work of thread {thread} of rank {rank} in seconds"))
                }
                None => ("most work of a rank", "most work of a rank in seconds".into()),
            };
            let measured = MeasurePoint {
                rank: rank.map(|(rank, _)| rank),
                thread: rank.map(|(_, thread)| thread),
                ..point(path, quantity, seconds(*now), "s")
            };
            (measured, tune(path, parameter, seconds(*now), Some(seconds(*mean))))
        }
        Lever::Operations { path, now } => {
            let parameter = "time of all ranks in the operation in seconds".into();
            (
                point(path, "time in the operation", seconds(*now), "s"),
                tune(path, parameter, seconds(*now), Some(0.0)),
            )
        }
        &Lever::Latency { now, factor } => {
            let now = microseconds(now as f64);
            let measured = point("", "latency of a message", 1e-6 * now, "s");
            (measured, tune("", "latency of a message in microseconds".into(), now, Some(now * factor)))
        }
        &Lever::Byte { now, factor } => {
            let now = microseconds(now);
            let measured = point("", "time of a byte", 1e-6 * now, "s");
            (measured, tune("", "time of a byte in microseconds".into(), now, Some(now * factor)))
        }
        &Lever::Eager { now } => {
            let now = now.max(0) as f64;
            let measured = point("", "eager limit, estimated", now, "bytes");
            (measured, tune("", "eager limit in bytes".into(), now, None))
        }
        &Lever::Mpi { now } => {
            let now = seconds(now);
            (
                point("", "time in MPI", now, "s"),
                tune("", "time in MPI without waiting".into(), now, Some(0.0)),
            )
        }
    };
    Advice {
        measure_points: vec![measured],
        performance_function: gain.scenario.to_string(),
        predicted: Predicted { gain: gain.gain, seconds: gain.seconds, ticks: gain.ticks },
        trust: AdviceTrust {
            is_doubtful: summary.is_doubtful(&gain.scenario),
            is_upper_bound: gain.scenario.changes.iter().any(Change::is_bound),
            model_error: summary.model_error,
        },
        tuning_point,
    }
}

/// What is advised about a master: another number of workers, and another way to hand out work.
fn of_master(summary: &WhatIfSummary, master: &Master) -> Vec<Advice> {
    let mut advice = Vec::new();
    let workers = f64::from(master.count());
    let number = |proposed: u32| TuningPoint {
        now: workers,
        parameter: format!("number of workers of rank {}", master.rank),
        path: master.sends_in.clone(),
        proposed: Some(proposed.into()),
    };
    if let Some(formula) = master.formula.filter(|formula| formula.best() != master.count()) {
        let best = formula.best();
        let text = "a + b / x for x workers, best where x (a + b / x)² is least; a = 2 L + α λ V, b = (1 − α) λ V + Tc";
        advice.push(of(summary, master, text.into(), number(best), saved(&formula, master, best)));
    }
    if master.unknown.is_some() {
        return advice;
    }
    let (best, ticks) = master.best;
    if best != master.count() {
        let text = "T(x) by replay of the tasks with x workers, best where x T(x)² is least";
        advice.push(of(summary, master, text.into(), number(best), master.now() - ticks));
    }
    if let Some(policy) = master.best_policy() {
        let saved = master.now() - policy.now;
        if saved as f64 > WORTH * summary.run_ticks as f64 {
            let tuning_point = TuningPoint {
                now: master.units as f64 / master.tasks as f64,
                parameter: "units of work in the first chunk".into(),
                path: master.sends_in.clone(),
                proposed: Some(policy.first as f64),
            };
            advice.push(of(summary, master, words(policy), tuning_point, saved));
        }
    }
    advice
}

/// What a policy is, in words.
fn words(policy: &Policy) -> String {
    let name = masters::name(policy.kind);
    match policy.kind {
        PolicyKind::Fixed { batches } => format!("{name}: chunks of one size, {batches} for each worker"),
        PolicyKind::Predictive => format!("{name}: each batch has half of the units that are left"),
        PolicyKind::Adjusting => {
            format!("{name}: batches by how much the times of units differ in iterations before")
        }
    }
}

/// Ticks of all iterations that another number of workers saves by formula.
#[expect(clippy::cast_possible_truncation)]
fn saved(formula: &Formula, master: &Master, workers: u32) -> i64 {
    ((formula.time(master.count()) - formula.time(workers)) * master.iterations as f64) as i64
}

/// Advice that saves so many ticks of a master's part of the run.
fn of(
    summary: &WhatIfSummary,
    master: &Master,
    performance_function: String,
    tuning_point: TuningPoint,
    saved: i64,
) -> Advice {
    let seconds = |ticks: f64| ticks / summary.ticks_per_second as f64;
    let point = |path: &str, quantity: &str, value: f64, unit: &str| MeasurePoint {
        path: path.into(),
        quantity: quantity.into(),
        rank: Some(master.rank),
        thread: Some(0),
        unit: unit.into(),
        value,
    };
    let mut measure_points = vec![
        point(&master.sends_in, "tasks", master.tasks as f64, "1"),
        point(&master.sends_in, "iterations", master.iterations as f64, "1"),
        point(&master.receives_in, "work of all tasks", seconds(master.work as f64), "s"),
    ];
    if let Some(service) = master.service {
        measure_points.insert(0, point(&master.sends_in, "service of a task", seconds(service as f64), "s"));
    }
    let ticks = summary.run_ticks - saved;
    Advice {
        measure_points,
        performance_function,
        predicted: Predicted {
            gain: saved as f64 / summary.run_ticks.max(1) as f64,
            seconds: seconds(ticks as f64),
            ticks,
        },
        trust: AdviceTrust {
            is_doubtful: summary.is_rough(),
            // Where several do so at the same time, one alone may gain nothing.
            is_upper_bound: summary.masters.len() > 1,
            model_error: master.error(),
        },
        tuning_point,
    }
}
