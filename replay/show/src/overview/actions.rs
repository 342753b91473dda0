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

/// Share of this excess from which on it is not work, as the place was not running.
const HALF: f64 = 0.5;

/// What helps where a place was not running.
const RUN: &str = "Look for what runs beside it, or makes it wait in the system: more threads than cores, a second job, files, pages \
    of memory. Bind ranks to cores, and leave one for the system.";

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

/// A kind of waiting that delay costs are about.
struct WaitKind {
    /// The words of culprits, and those where others wait for progress, too.
    words: &'static [&'static str],
    /// Metrics of delay costs begin so.
    delay: &'static str,
    /// The metrics of its wait states.
    metrics: &'static [&'static str],
}

/// Kinds of waiting.
const KINDS: [WaitKind; 14] = [
    WaitKind::new(&["late senders"], "delay_latesender", &["mpi_latesender"]),
    WaitKind::new(&["late receivers"], "delay_latereceiver", &["mpi_latereceiver"]),
    WaitKind::new(
        &["waiting at barriers", "waiting for barriers"],
        "delay_barrier",
        &["mpi_barrier_wait", "mpi_nbcoll_wait_barrier", PROGRESS],
    ),
    WaitKind::new(
        &["waiting at N x N", "waiting for N x N operations"],
        "delay_n2n",
        &["mpi_wait_nxn", "mpi_nbcoll_wait_nxn", PROGRESS],
    ),
    WaitKind::new(
        &["late broadcasts", "waiting for 1-to-N operations"],
        "delay_12n",
        &["mpi_latebroadcast", "mpi_nbcoll_wait_12n", PROGRESS],
    ),
    WaitKind::new(
        &["early reductions", "waiting for N-to-1 operations"],
        "delay_n21",
        &["mpi_earlyreduce", "mpi_nbcoll_wait_n21", PROGRESS],
    ),
    WaitKind::new(
        &["waiting for neighbours"],
        "delay_neighbor",
        &["mpi_wait_neighbor", "mpi_nbcoll_wait_neighbor", PROGRESS],
    ),
    WaitKind::new(
        &["creating or disconnecting communicators"],
        "delay_mgmt",
        &["mpi_comm_wait_at_create", "mpi_comm_wait_at_free", "mpi_nbcoll_wait_create", PROGRESS],
    ),
    WaitKind::new(&["waiting for progress"], "delay_progress", &["mpi_p2p_wait_for_progress"]),
    WaitKind::new(
        &["waiting for one-sided partners"],
        "delay_rma",
        &[
            "mpi_rma_wait_at_create",
            "mpi_rma_wait_at_free",
            "mpi_rma_wait_at_fence",
            "mpi_rma_early_wait",
            "mpi_rma_sync_late_post",
            "mpi_rma_sync_lock_competition",
            "mpi_rma_sync_wait_for_progress",
            "mpi_rma_comm_late_post",
            "mpi_rma_comm_lock_competition",
            "mpi_rma_comm_wait_for_progress",
        ],
    ),
    WaitKind::new(
        &["waiting in collective file operations"],
        "delay_io",
        &["mpi_mgmt_file_wait", "mpi_io_collective_wait", "mpi_nbcoll_wait_io", PROGRESS],
    ),
    WaitKind::new(
        &["waiting at OpenMP barriers"],
        "delay_ompbarrier",
        &["omp_ebarrier_wait", "omp_ibarrier_wait"],
    ),
    WaitKind::new(&["waiting for devices"], "delay_accel_wait", &["accel_wait"]),
    WaitKind::new(&["idle threads"], "delay_ompidle", &["omp_idle_threads"]),
];

/// Waiting for progress of non-blocking collective operations, which is in the costs of several kinds.
const PROGRESS: &str = "mpi_nbcoll_wait_for_progress";

impl WaitKind {
    const fn new(
        words: &'static [&'static str],
        delay: &'static str,
        metrics: &'static [&'static str],
    ) -> WaitKind {
        WaitKind { words, delay, metrics }
    }
}

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
    /// It takes longer than the others because it is not running.
    NotRunning,
    /// It ends too late.
    Earlier,
    /// A call of MPI that takes its time without being a wait state.
    Unexplained,
}

impl Kind {
    /// The kind of a place, with the excess of its work over the mean as a fraction of it, and the share of this in which it was not
    /// running.
    pub(super) fn of(is_unexplained: bool, more_work: Option<f64>, not_running: f64) -> Kind {
        match more_work {
            _ if is_unexplained => Kind::Unexplained,
            Some(more) if more >= EXCESS && not_running >= HALF => Kind::NotRunning,
            Some(more) if more >= EXCESS => Kind::Balance,
            _ => Kind::Earlier,
        }
    }

    /// Its name in ids.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Balance => "balance",
            Kind::NotRunning => "not-running",
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
            (Kind::NotRunning, _) => format!("Keep {place} running in {function}"),
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
        if self == Kind::NotRunning {
            return Some(RUN);
        }
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
/// that is known. Of several metrics it is the largest one there, and otherwise the only one that the report has any of.
pub(super) fn pattern_of_words(
    values: &Values<'_>,
    words: &str,
    victims: Option<&str>,
) -> Result<Option<&'static str>> {
    let metrics = match KINDS.iter().find(|known| known.words.contains(&words)).map(|known| known.metrics) {
        Some([only]) => return Ok(Some(only)),
        Some(metrics) => metrics,
        None => return Ok(None),
    };
    let cube = values.cube();
    // Regions with a name that is the begin of another one are told apart by the word behind it.
    let is_named = |region: &Region| {
        victims
            .and_then(|text| text.strip_prefix("in ")?.strip_prefix(region.name.as_str()))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(" of "))
    };
    let (mut largest, mut most, mut existing) = (None, 0.0, Vec::new());
    for &metric in metrics {
        let is_victims = |at: CnodeId| is_named(&cube.regions[cube.cnodes[at.0].region.0]);
        let there = sum_at(values, metric, &is_victims)?;
        if there > most {
            (most, largest) = (there, Some(metric));
        }
        if sum_at(values, metric, &|_| true)? > 0.0 {
            existing.push(metric);
        }
    }
    Ok(largest.or(if let [only] = existing[..] { Some(only) } else { None }))
}

/// The sum of a metric over some call paths; 0 if the report does not have it.
fn sum_at(values: &Values<'_>, metric: &str, is_counted: &dyn Fn(CnodeId) -> bool) -> Result<f64> {
    let Some(quantity) = values.find(metric) else { return Ok(0.0) };
    let row = or_obstacle(values.by_location(&quantity, is_counted))?.unwrap_or_default();
    Ok(row.iter().sum())
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
        let kind = Kind::of(region.paradigm == "mpi", more_work, 0.0);
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
    for WaitKind { words, delay, metrics } in &KINDS {
        let mut sum = 0.0;
        for name in [(*delay).to_owned(), format!("{delay}_longterm")] {
            sum += sum_at(values, &name, &|at| at == cnode)?;
        }
        if sum > most {
            (most, largest) = (sum, Some((words, metrics)));
        }
    }
    let Some((words, metrics)) = largest else { return Ok(None) };
    let has_progress = metrics.contains(&PROGRESS) && sum_at(values, PROGRESS, &|_| true)? > 0.0;
    Ok(if has_progress { words.last() } else { words.first() }.copied())
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
        let kind = Kind::of(true, Some(0.5), 0.9);
        assert_eq!(kind, Kind::Unexplained);
        assert_eq!(kind.advice(Some("mpi_latesender")), None);
        assert!(Kind::of(false, None, 0.0).advice(Some("mpi_latesender")).is_some());
    }

    #[test]
    fn place_that_was_not_running_is_not_asked_to_do_less_work() {
        let kind = Kind::of(false, Some(0.5), 0.8);
        assert_eq!(kind.sentence("work", "rank 3", Some(0.5), true), "Keep rank 3 running in work");
        assert_eq!(kind.advice(None), Some(RUN));
        assert_eq!(Kind::of(false, Some(0.5), 0.2), Kind::Balance);
    }

    #[test]
    fn kinds_are_those_of_patterns_and_metrics() {
        let metrics = patterns::metrics();
        for WaitKind { delay, metrics: of_kind, .. } in KINDS {
            assert!(metrics.iter().any(|it| it.id == delay), "{delay}");
            for metric in of_kind {
                assert!(metrics.iter().any(|it| it.id == *metric), "{metric}");
            }
        }
    }
}
