//! What to do first: the places that others wait for.

use cubex::{CnodeId, LocationId, Region};
use patterns::{PATTERNS, Pattern};

use super::findings::is_analysed;
use super::{Costs, Run, culprits};
use crate::error::{Result, or_obstacle};
use crate::opened::Opened;
use crate::output::numbers;
use crate::values::{DELAY, Values};
use crate::{paths, places};

/// The most actions.
const MOST: usize = 3;

/// The least share of a place that is named: of the waiting or the delay costs (see [`Costs`]), and of the run.
const LEAST: f64 = 0.05;
const LEAST_OF_RUN: f64 = 0.01;

/// The least excess of work over the mean that is to be balanced.
const EXCESS: f64 = 0.05;

/// Something to do.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// The same in all runs of the same code: kind, `-`, 8 hexadecimal digits of its call path.
    pub id: String,
    /// `balance`, `earlier` or `unexplained`.
    pub kind: &'static str,
    /// What to do, in a sentence.
    pub text: String,
    /// The call path.
    pub cnode: CnodeId,
    /// The locations, in words.
    pub place: String,
    /// Waiting of others, in seconds.
    pub seconds: f64,
    /// What shows it, in words.
    pub evidence: Vec<String>,
    /// The pattern of the waiting.
    pub pattern: Option<&'static str>,
    /// What helps against such waiting.
    pub advice: Option<&'static str>,
}

/// The wait states at barriers of threads, which have one kind of delay costs: those of the program, and those that end
/// constructs; and the role of the region of each.
pub(super) const THREAD_BARRIERS: [(&str, &str); 2] =
    [("omp_ebarrier_wait", "barrier"), ("omp_ibarrier_wait", "implicit barrier")];

/// Kinds of waiting: the words of culprits, metrics of delay costs begin so, the metric of the wait state.
const KINDS: [(&str, &str, &str); 8] = [
    ("late senders", "delay_latesender", "mpi_latesender"),
    ("late receivers", "delay_latereceiver", "mpi_latereceiver"),
    ("waiting at barriers", "delay_barrier", "mpi_barrier_wait"),
    ("waiting at N x N", "delay_n2n", "mpi_wait_nxn"),
    ("late broadcasts", "delay_12n", "mpi_latebroadcast"),
    ("early reductions", "delay_n21", "mpi_earlyreduce"),
    ("waiting at OpenMP barriers", "delay_ompbarrier", "omp_ibarrier_wait"),
    ("idle threads", "delay_ompidle", "omp_idle_threads"),
];

/// The actions of a report: its culprits, else the places with most delay costs.
///
/// # Errors
/// If values cannot be read.
pub fn actions(
    opened: &Opened,
    values: &Values<'_>,
    run: &Run,
    costs: Option<&Costs>,
) -> Result<Vec<Action>> {
    let Some(costs) = costs else { return Ok(Vec::new()) };
    let mut actions = match culprits(opened, values)? {
        Some(culprits) => culprits,
        None => of_delays(values, run, is_analysed(opened))?,
    };
    actions
        .retain(|action| costs.share(action.seconds) >= LEAST && run.share(action.seconds) >= LEAST_OF_RUN);
    actions.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    actions.truncate(MOST);
    Ok(actions)
}

/// The id of an action.
pub(super) fn id(values: &Values<'_>, kind: Kind, cnode: CnodeId) -> String {
    format!("{}-{:08x}", kind.name(), paths::hash(values.cube(), cnode))
}

/// What to do about a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It has more work than others.
    Balance,
    /// It ends too late.
    Earlier,
    /// A call of MPI that takes its time without being a wait state.
    Unexplained,
}

impl Kind {
    /// The kind of a place, with the excess of its work over the mean as a fraction of it.
    pub(super) fn of(is_unexplained: bool, more_work: Option<f64>) -> Kind {
        match more_work {
            _ if is_unexplained => Kind::Unexplained,
            Some(more) if more >= EXCESS => Kind::Balance,
            _ => Kind::Earlier,
        }
    }

    /// Its name in ids.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Balance => "balance",
            Kind::Earlier => "earlier",
            Kind::Unexplained => "unexplained",
        }
    }

    /// What to do, with the excess of work if it is that of the whole place. `is_analysed` says whether all waiting in MPI is
    /// known.
    pub(super) fn sentence(
        self,
        function: &str,
        place: &str,
        more_work: Option<f64>,
        is_analysed: bool,
    ) -> String {
        match (self, more_work) {
            (Kind::Balance, Some(more)) => {
                let (have, more) = (has(place), numbers::percent(more));
                format!("Balance {function}: {place} {have} {more} more work than the mean")
            }
            (Kind::Balance, None) => format!("Balance {function} on {place}"),
            (Kind::Earlier, _) => format!("Let {function} end earlier on {place}"),
            // Coverage has a word of its own for long ones: this is all such time, also where nothing is wrong.
            (Kind::Unexplained, _) => {
                let what = if is_analysed { "is no wait state" } else { "is not known to be waiting" };
                format!("Look into {function} on {place}: time in MPI that {what}")
            }
        }
    }

    /// What helps: the advice of a pattern is about the work before a call of MPI, not about the call.
    pub(super) fn advice(self, pattern: Option<&str>) -> Option<&'static str> {
        let pattern = pattern.filter(|_| self != Kind::Unexplained)?;
        pattern_of(pattern).map(|pattern| pattern.explanation.advice())
    }
}

/// The verb for a place.
fn has(place: &str) -> &'static str {
    let is_several = ["ranks ", "threads ", "processes "].iter().any(|words| place.starts_with(words));
    if is_several { "have" } else { "has" }
}

/// The metric of the wait state of a kind of waiting in the words of culprits, which name the region where others wait, if
/// that is known.
pub(super) fn pattern_of_words(
    values: &Values<'_>,
    words: &str,
    victims: Option<&str>,
) -> Result<Option<&'static str>> {
    let metric = KINDS.iter().find(|known| known.0 == words).map(|known| known.2);
    if !metric.is_some_and(is_of_barrier) {
        return Ok(metric);
    }
    // Regions with a name that is the begin of another one are told apart by the word behind it.
    let is_named = |region: &&Region| {
        victims
            .and_then(|text| text.strip_prefix("in ")?.strip_prefix(region.name.as_str()))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(" of "))
    };
    let region = values.cube().regions.iter().filter(|region| region.paradigm == "openmp").find(is_named);
    match region.and_then(|region| THREAD_BARRIERS.iter().find(|known| known.1 == region.role)) {
        Some((metric, _)) => Ok(Some(metric)),
        None => only_barrier(values),
    }
}

fn is_of_barrier(metric: &str) -> bool {
    THREAD_BARRIERS.iter().any(|known| known.0 == metric)
}

/// The wait state at barriers of threads of a report that has one of both only.
fn only_barrier(values: &Values<'_>) -> Result<Option<&'static str>> {
    let mut found = Vec::new();
    for (metric, _) in THREAD_BARRIERS {
        let Some(quantity) = values.find(metric) else { continue };
        let row = or_obstacle(values.by_location(&quantity, &|_| true))?.unwrap_or_default();
        if row.iter().any(|&value| value != 0.0) {
            found.push(metric);
        }
    }
    Ok(if let [only] = found[..] { Some(only) } else { None })
}

fn pattern_of(metric: &str) -> Option<&'static Pattern> {
    PATTERNS.iter().find(|pattern| pattern.metric.id == metric)
}

/// Actions of a report without manifest: the call path and location with most delay costs, for each call path.
fn of_delays(values: &Values<'_>, run: &Run, is_analysed: bool) -> Result<Vec<Action>> {
    let cube = values.cube();
    let Some(delay) = values.find(DELAY) else { return Ok(Vec::new()) };
    let Ok(mut rows) = or_obstacle(values.exclusive(&delay))? else { return Ok(Vec::new()) };
    let mut places: Vec<(CnodeId, f64, usize, f64)> = Vec::new();
    while let Some((cnode, row)) = rows.next()? {
        let sum: f64 = row.iter().sum();
        let largest = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        if let Some((location, &value)) = largest.filter(|_| run.is_between[cnode.0]) {
            places.push((cnode, sum, location, value));
        }
        // More than enough to choose from, however many call paths there are.
        if places.len() > 1024 {
            places.sort_by(|a, b| b.1.total_cmp(&a.1));
            places.truncate(MOST);
        }
    }
    places.sort_by(|a, b| b.1.total_cmp(&a.1));
    places.truncate(MOST);
    let sizes = places::sizes(cube);
    let mut actions = Vec::new();
    for (cnode, sum, location, value) in places {
        let function = paths::name(cube, cnode);
        let stands_out = 2.0 * value >= sum;
        let name = places::name(cube, &sizes, LocationId(location));
        let place = if stands_out { name } else { format!("several ranks, most on {name}") };
        let more_work = if stands_out { excess(values, cnode, location)? } else { None };
        let region = &cube.regions[cube.cnodes[cnode.0].region.0];
        let kind = Kind::of(region.paradigm == "mpi", more_work);
        let text = kind.sentence(function, &place, more_work, is_analysed);
        let seconds = if stands_out { value } else { sum };
        let words = largest_kind(values, cnode)?;
        let pattern = words.map_or(Ok(None), |words| pattern_of_words(values, words, None))?;
        actions.push(Action {
            id: id(values, kind, cnode),
            kind: kind.name(),
            text,
            cnode,
            place,
            seconds,
            evidence: words.map(str::to_owned).into_iter().collect(),
            pattern,
            advice: kind.advice(pattern),
        });
    }
    Ok(actions)
}

/// The excess of computation of a location at a call path, wherever that is called, over the mean of the threads that run it,
/// as a fraction of the mean.
fn excess(values: &Values<'_>, cnode: CnodeId, location: usize) -> Result<Option<f64>> {
    let Some(quantity) = values.find("comp") else { return Ok(None) };
    let cube = values.cube();
    let names = paths::names(cube, cnode);
    let is_same = |at: CnodeId| {
        at == cnode || paths::name(cube, at) == paths::name(cube, cnode) && paths::names(cube, at) == names
    };
    let row = or_obstacle(values.by_location(&quantity, &is_same))?.unwrap_or_default();
    Ok(excess_of(&row, &places::recorded_threads(values)?, location))
}

/// The excess of a value over the mean of those that are not 0.
fn excess_of(row: &[f64], is_thread: &[bool], location: usize) -> Option<f64> {
    let threads = row.iter().zip(is_thread).filter(|(value, is_thread)| **is_thread && **value > 0.0);
    let (sum, count) = threads.fold((0.0, 0.0), |(sum, count), (value, _)| (sum + value, count + 1.0));
    let own = row.get(location).copied().unwrap_or(0.0);
    (sum > 0.0).then(|| own * count / sum - 1.0)
}

/// The kind of waiting with most delay costs at a call path, in words.
fn largest_kind(values: &Values<'_>, cnode: CnodeId) -> Result<Option<&'static str>> {
    let mut largest = None;
    let mut most = 0.0;
    for (words, prefix, _) in KINDS {
        let mut sum = 0.0;
        for name in [prefix.to_owned(), format!("{prefix}_longterm")] {
            let Some(quantity) = values.find(&name) else { continue };
            let row = or_obstacle(values.by_location(&quantity, &|at| at == cnode))?.unwrap_or_default();
            sum += row.iter().sum::<f64>();
        }
        if sum > most {
            (most, largest) = (sum, Some(words));
        }
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_compared_with_threads_that_have_any() {
        assert_eq!(excess_of(&[3.0, 0.0, 1.0, 0.0], &[true; 4], 0), Some(0.5));
        assert_eq!(excess_of(&[3.0, 0.0], &[true; 2], 0), Some(0.0), "nobody to balance with");
        assert_eq!(excess_of(&[0.0, 0.0], &[true; 2], 0), None);
    }

    #[test]
    fn several_ranks_have_and_one_has() {
        let text = |place| Kind::Balance.sentence("work", place, Some(0.22), true).replace('\u{a0}', " ");
        assert_eq!(text("rank 3"), "Balance work: rank 3 has 22 % more work than the mean");
        assert_eq!(text("ranks 1, 5–7"), "Balance work: ranks 1, 5–7 have 22 % more work than the mean");
        assert_eq!(has("threads 0–1 of rank 0"), "have");
        assert_eq!(has("rank 0 thread 2"), "has");
    }

    #[test]
    fn time_in_mpi_is_no_work_and_gets_no_advice_about_it() {
        let kind = Kind::of(true, Some(0.5));
        assert_eq!(kind, Kind::Unexplained);
        assert_eq!(kind.advice(Some("mpi_latesender")), None);
        assert!(Kind::of(false, None).advice(Some("mpi_latesender")).is_some());
    }

    #[test]
    fn kinds_are_those_of_patterns_and_metrics() {
        let metrics = patterns::metrics();
        for (_, delay, metric) in KINDS {
            assert!(metrics.iter().any(|it| it.id == delay), "{delay}");
            assert!(metrics.iter().any(|it| it.id == metric), "{metric}");
        }
    }
}
