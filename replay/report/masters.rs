//! Masters and their workers, in words and for programs (what-if 6).

use details::what_if::{FormulaFacts, MasterFacts, PolicyTimes, Time, WorkersTime};

use crate::what_if::{Formula, Master, Policy, PolicyKind, Unknown};

/// Masters that the summary names at most.
pub(super) const NAMED: usize = 3;

/// A master in a line, with so many ticks in a second.
pub(super) fn line(master: &Master, ticks_per_second: u64) -> String {
    let seconds = |ticks: f64| brief(ticks / ticks_per_second as f64);
    let (rank, workers) = (master.rank, master.count());
    let head = format!("Master rank {rank} with {workers} workers");
    match (master.unknown, &master.formula) {
        (_, Some(formula)) => {
            let best = formula.best();
            let [now, then] = [workers, best].map(|workers| seconds(formula.time(workers)));
            format!(
                "{head}, a task each at a time: {best} would be best by formula ({then} instead of {now})"
            )
        }
        (Some(unknown), None) => {
            format!("{head}: what other numbers would take is not known, {}", why(unknown))
        }
        (None, None) => {
            let (best, ticks) = master.best;
            let [now, then] = [master.now(), ticks].map(|ticks| seconds(ticks as f64));
            let which = match best == workers {
                true => format!("no other number is better ({now})"),
                false => {
                    // Behind the last number that was tried there may be a better one.
                    let or_more =
                        if master.times.iter().all(|&(tried, _)| tried <= best) { " or more" } else { "" };
                    format!("{best}{or_more} would be best ({then} instead of {now})")
                }
            };
            let limit = master.service.zip(master.least()).map(|(service, least)| {
                format!("; service {} a task limits it to {}", seconds(service as f64), seconds(least as f64))
            });
            format!("{head}: {which}{}", limit.unwrap_or_default())
        }
    }
}

fn why(unknown: Unknown) -> &'static str {
    match unknown {
        Unknown::Service => "as the time for a task at the master is not",
        Unknown::Noise => "as the times for tasks at the master differ too much",
        Unknown::Tasks => "as there are less than two tasks for each at a time",
        Unknown::Iterations => "as iterations differ",
        Unknown::Replay => "as its time with these is not that of its tasks",
    }
}

/// A time with two or three digits.
fn brief(seconds: f64) -> String {
    match seconds {
        0.1.. => format!("{seconds:.2} s"),
        1e-4.. => format!("{:.1} ms", 1e3 * seconds),
        _ => format!("{:.1} µs", 1e6 * seconds),
    }
}

/// A master for programs, with so many ticks in a second.
pub(super) fn facts(master: &Master, ticks_per_second: u64) -> MasterFacts {
    let of = |ticks: f64| ticks / ticks_per_second as f64;
    let seconds = |ticks: i64| of(ticks as f64);
    let time = |ticks: i64| Time { seconds: seconds(ticks), ticks };
    let with = |&(workers, ticks): &(u32, i64)| WorkersTime { seconds: seconds(ticks), ticks, workers };
    let formula = |formula: &Formula| FormulaFacts {
        best: formula.best(),
        constant: of(formula.constant),
        optimum: formula.optimum(),
        shared: of(formula.shared),
    };
    let policy = |Policy { kind, first, chunks, now, best }: &Policy| PolicyTimes {
        batches: if let PolicyKind::Fixed { batches } = kind { Some(*batches) } else { None },
        best: seconds(*best),
        chunks: *chunks,
        first_chunk: *first,
        name: name(*kind).into(),
        now: seconds(*now),
    };
    let is_known = master.unknown.is_none();
    MasterFacts {
        best: is_known.then(|| with(&master.best)),
        bytes_back: master.bytes_back,
        bytes_there: master.bytes_there,
        formula: master.formula.as_ref().map(formula),
        iterations: master.iterations,
        latency: seconds(master.latency),
        limit: master.least().map(time),
        measured: time(master.measured),
        model_error: master.service.map(|_| master.error()),
        policies: master.policies.iter().map(policy).collect(),
        rank: master.rank,
        receives_in: master.receives_in.clone(),
        seconds_of_byte: Some(of(master.by_byte)).filter(|&seconds| seconds > 0.0),
        sends_in: master.sends_in.clone(),
        service: master.service.map(seconds),
        tasks: master.tasks,
        times: master.times.iter().filter(|_| is_known).map(with).collect(),
        unit_deviation: of(master.unit_deviation),
        unit_mean: of(master.unit_mean),
        units: master.units,
        unknown: master.unknown.map(|unknown| code(unknown).into()),
        work: time(master.work),
        workers: master.workers.clone(),
    }
}

fn code(unknown: Unknown) -> &'static str {
    match unknown {
        Unknown::Service => "service",
        Unknown::Noise => "noise",
        Unknown::Tasks => "tasks",
        Unknown::Iterations => "iterations",
        Unknown::Replay => "replay",
    }
}

/// The name of a policy.
pub(super) fn name(kind: PolicyKind) -> &'static str {
    match kind {
        PolicyKind::Fixed { .. } => "FSC",
        PolicyKind::Predictive => "DPF",
        PolicyKind::Adjusting => "DAF",
    }
}
