//! The headline: the first of some rules that holds, in words.

use super::{Action, ClassTime, Costs, Finding, Run, communication, recorder};
use crate::error::{Result, or_obstacle};
use crate::output::numbers::{percent, seconds, share};
use crate::values::Values;
use crate::{paths, places};

/// Shares of the time from which on something is worth a headline.
const OVERHEAD: f64 = 0.10;
const WAITING: f64 = 0.05;
const IDLE: f64 = 0.20;
const FILES: f64 = 0.10;
const COMMUNICATION: f64 = 0.15;

/// The least share of the MPI time that has to be analysed, so that waiting is known.
pub const LEAST_COVERAGE: f64 = 0.80;

/// The least share of the waiting without a cause that is said.
const WITHOUT_CAUSE: f64 = 0.05;

/// The least share of the waiting that is said to have no cause since recording was off.
const LEAST_UNRECORDED: f64 = 0.005;

/// What is known of a report besides its times.
#[derive(Debug)]
pub struct Known<'a> {
    /// Share of the MPI time that was analysed.
    pub coverage: Option<f64>,
    /// Findings about the trace.
    pub findings: &'a [Finding],
    /// Delay costs of all places.
    pub costs: Option<&'a Costs>,
    /// What to do first.
    pub actions: &'a [Action],
    /// Where time went.
    pub classes: &'a [ClassTime],
}

/// What is wrong: a sentence, or two if the trace is incomplete.
///
/// # Errors
/// If values cannot be read.
pub fn headline(values: &Values<'_>, run: &Run, known: &Known<'_>) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    let losses = known.findings.iter().filter(|it| it.class == "data loss");
    let losses: Vec<&str> = losses.map(|it| it.name.as_str()).collect();
    if !losses.is_empty() {
        sentences.push(format!("The trace is incomplete: {}.", losses.join(", ")));
    } else if let Some(coverage) = known.coverage.filter(|&coverage| coverage < LEAST_COVERAGE) {
        let coverage = percent(coverage);
        sentences.push(format!("The analysis is incomplete: it covers {coverage} of the time in MPI."));
    }
    sentences.push(rule(values, run, known)?);
    Ok(sentences)
}

/// The first rule that holds.
fn rule(values: &Values<'_>, run: &Run, known: &Known<'_>) -> Result<String> {
    if run.total <= 0.0 {
        return Ok("The report has no time of a run.".into());
    }
    let overhead = run.sum_of(values, "overhead")?;
    if run.share(overhead) > OVERHEAD {
        return recorder::sentence(values, run, overhead);
    }
    let waiting = run.share(run.waiting.unwrap_or(0.0));
    if waiting >= WAITING {
        return waiting_sentence(values, run, waiting, known);
    }
    let idle = run.share(run.sum_of(values, "omp_idle_threads")?);
    if idle >= IDLE {
        let place = largest(values, run, "omp_idle_threads")?
            .map_or(String::new(), |path| format!(", most in {path}"));
        return Ok(format!("Threads are idle {} of {}{place}.", share(idle), run.whole()));
    }
    let files = run.share(run.sum_of(values, "mpi_io")?);
    if files >= FILES {
        return Ok(format!("{} of {} is file access.", share(files), run.whole()));
    }
    let mut of_mpi = run.mpi;
    for name in [
        "mpi_latesender",
        "mpi_latereceiver",
        "mpi_barrier_wait",
        "mpi_earlyreduce",
        "mpi_earlyscan",
        "mpi_latebroadcast",
        "mpi_wait_nxn",
        "mpi_io",
    ] {
        of_mpi -= run.sum_of(values, name)?;
    }
    let communication = run.share(of_mpi.max(0.0));
    if communication >= COMMUNICATION {
        let most = communication::most(values, run, known.classes, of_mpi)?;
        let most = most.map_or(String::new(), |most| format!(", most of it {most}"));
        let communication = share(communication);
        return Ok(format!("MPI takes {communication} of {} without known waiting{most}.", run.whole()));
    }
    balance_sentence(values, run, waiting + communication)
}

fn waiting_sentence(values: &Values<'_>, run: &Run, waiting: f64, known: &Known<'_>) -> Result<String> {
    let mut sentence = waiting_because(values, run, waiting, known)?;
    let without_cause = known.costs.and_then(Costs::without_cause);
    let unrecorded = known.costs.map_or(0.0, |costs| costs.share(costs.unrecorded));
    if let Some(share) = without_cause.filter(|&share| share >= WITHOUT_CAUSE) {
        let off = match unrecorded {
            part if part < LEAST_UNRECORDED => String::new(),
            part => format!("; {} was caused while recording was off", percent(part)),
        };
        sentence += &format!(" No cause is known for {} of the waiting{off}.", percent(share));
    } else if without_cause.is_none() && unrecorded >= WITHOUT_CAUSE {
        let part = percent(unrecorded);
        sentence +=
            &format!(" Recording was off where {part} of all delay costs were caused: by what is not known.");
    }
    Ok(sentence)
}

/// How much is waiting, and where it comes from.
fn waiting_because(values: &Values<'_>, run: &Run, waiting: f64, known: &Known<'_>) -> Result<String> {
    let (waiting, whole) = (share(waiting), run.whole());
    if let (Some(action), Some(costs)) = (known.actions.first(), known.costs) {
        let place = format!("{} on {}", paths::name(values.cube(), action.cnode), action.place);
        let part = percent(costs.share(action.seconds));
        return Ok(match costs.waiting {
            Some(_) => format!("{waiting} of {whole} is waiting, {part} of it because of {place}."),
            None => {
                let seconds = seconds(action.seconds);
                let limits = costs.limits();
                format!(
                    "{waiting} of {whole} is waiting. The largest delay costs{limits} are those of {place}: {seconds}, {part} of all{limits}."
                )
            }
        });
    }
    // Without causes: the largest wait state, and where most of it is.
    let mut most: Option<(&str, &str, f64)> = None;
    for pattern in patterns::PATTERNS.iter().filter(|pattern| pattern.is_waiting) {
        let seconds = run.sum_of(values, pattern.metric.id)?;
        if most.is_none_or(|(_, _, before)| seconds > before) {
            most = Some((pattern.title, pattern.metric.id, seconds));
        }
    }
    let Some((title, metric, seconds)) = most.filter(|most| most.2 > 0.0) else {
        return Ok(format!("{waiting} of {whole} is waiting."));
    };
    let place = largest(values, run, metric)?.map_or(String::new(), |path| format!(", most in {path}"));
    let part = share(run.share(seconds));
    Ok(format!("{waiting} of {whole} is waiting. The largest wait state is {title} ({part}){place}."))
}

/// The call path with most of a metric.
pub(super) fn largest(values: &Values<'_>, run: &Run, metric: &str) -> Result<Option<String>> {
    let cube = values.cube();
    let Some(quantity) = values.find(metric) else { return Ok(None) };
    let Ok(totals) = or_obstacle(values.totals(&quantity, &places::threads(cube)))? else { return Ok(None) };
    let between = totals.exclusive.iter().enumerate().filter(|(at, _)| run.is_between[*at]);
    let most = between.max_by(|a, b| a.1.total_cmp(b.1));
    Ok(most.filter(|(_, value)| **value > 0.0).map(|(at, _)| paths::path(cube, cubex::CnodeId(at))))
}

fn balance_sentence(values: &Values<'_>, run: &Run, both: f64) -> Result<String> {
    let both = share(both);
    let name = if values.find("comp").is_some() { "comp" } else { "time" };
    let mut sentence = match run.mpi > 0.0 || run.waiting.is_some() {
        true => format!("Waiting and communication are small ({both})"),
        false => "Neither waiting nor communication was measured".to_owned(),
    };
    if let Some(quantity) = values.find(name) {
        let row =
            or_obstacle(values.by_location(&quantity, &|cnode| run.is_between[cnode.0]))?.unwrap_or_default();
        let threads: Vec<f64> = row
            .into_iter()
            .zip(places::recorded_threads(values)?)
            .filter(|(_, is_thread)| *is_thread)
            .map(|(it, _)| it)
            .collect();
        let most = threads.iter().copied().fold(0.0, f64::max);
        #[expect(clippy::cast_precision_loss, reason = "a number of threads")]
        let mean = threads.iter().sum::<f64>() / threads.len().max(1) as f64;
        if most > 0.0 {
            sentence += &format!("; load balance is {}", percent(mean / most));
        }
    }
    let longest = match largest(values, run, "critical_path")? {
        Some(path) => Some(("longest on the critical path", path)),
        None => largest(values, run, "time")?.map(|path| ("most time", path)),
    };
    if let Some((words, path)) = longest {
        sentence += &format!("; {words}: {path}");
    }
    Ok(sentence + ".")
}
