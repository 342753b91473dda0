//! A run: the numbers of one report, or of a line of a history, that are compared.

use cubex::CnodeId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::advice::RunAdvice;
use super::calls::{self, Call};
use crate::error::{Error, Result, or_obstacle};
use crate::opened::Opened;
use crate::overview::{self, ClassTime};
use crate::values::{DELAY, Quantity, Unit, Values, WAITING};
use crate::{paths, places, unrecorded};

/// Where the numbers of a run come from: the two delimit the run by slightly different events, so their times differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Base {
    /// From the manifest of the details.
    Details,
    /// From the metrics alone, of a report without details.
    Metrics,
}

impl Base {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Base::Details => "details",
            Base::Metrics => "metrics alone",
        }
    }

    /// What is said of a run on this base; empty if it is the usual one.
    pub fn remark(self) -> &'static str {
        match self {
            Base::Details => "",
            Base::Metrics => ", without details: by metrics alone",
        }
    }
}

/// What runs of one side must have in common.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// Number of ranks.
    pub ranks: usize,
    /// Largest number of threads of a rank.
    pub threads: usize,
    /// The program; empty if the report does not say.
    pub program: String,
}

impl Shape {
    /// That of a report.
    pub fn of(opened: &Opened) -> Shape {
        Shape {
            ranks: overview::ranks(opened),
            threads: overview::threads(opened),
            program: overview::program(opened),
        }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shape { ranks, threads, program } = self;
        let plural =
            |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let program = if program.is_empty() { "n/a" } else { program };
        write!(f, "{program} on {} of {}", plural(*ranks, "rank"), plural(*threads, "thread"))
    }
}

/// A metric of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct MetricSums {
    /// The unit.
    pub unit: Unit,
    /// Whether values of locations and call paths add up, as times do and ratios do not.
    pub is_sum: bool,
    /// Over the CPU locations and call paths of the run.
    pub total: f64,
    /// By call path, exclusive: the sum over CPU locations, and the largest of a location, which is no number where it is
    /// not known.
    pub by_call: FxHashMap<usize, (f64, f64)>,
    /// Which values of call paths are there.
    pub known: Known,
}

/// Which values of call paths a run knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// All: others are 0.
    All,
    /// Those that are there, and no others.
    Listed,
    /// Parts of those that are there: of several call paths of one name some may be missing.
    Parts,
}

impl MetricSums {
    /// What call paths have together that are not there; 0 if all are known.
    pub fn not_listed(&self) -> f64 {
        match self.known {
            Known::All => 0.0,
            Known::Listed | Known::Parts => self.total - self.listed(),
        }
    }

    /// What call paths have together that are there.
    pub fn listed(&self) -> f64 {
        self.by_call.values().map(|(sum, _)| sum).sum()
    }
}

/// A finding by class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FindingCount {
    /// `note`, `data loss` or `wrong`.
    pub class: String,
    /// Number of occurrences.
    pub count: u64,
}

/// A culprit by its action.
#[derive(Clone, PartialEq, Debug)]
pub struct Culprit {
    /// The id of the action, the same in all runs of the same code.
    pub id: String,
    /// What to do, in a sentence.
    pub text: String,
    /// The names of its call path.
    pub path: Vec<String>,
    /// Waiting of others, in seconds; `None` of a line of a history, which has ids only: no text and no path, either.
    pub seconds: Option<f64>,
}

/// A run. Times are in seconds, of CPU locations, and without start-up and shutdown unless these were asked for.
#[derive(Debug)]
pub struct Reading<'r> {
    /// What it is called: the file, or the line of a history.
    pub label: String,
    /// Ranks, threads and program.
    pub shape: Shape,
    /// Where the numbers come from; `None` of a line of a history that does not say.
    pub base: Option<Base>,
    /// Number of CPU locations.
    pub locations: f64,
    /// The run's recorded time, summed over locations, also while they are idle: that of all classes.
    pub total: f64,
    /// The longest one of a location.
    pub length: f64,
    /// Work before `MPI_Init` and after `MPI_Finalize`, summed over locations: metrics contain it, and the run's time does
    /// not, if it has details. 0 where the run's time does, too.
    pub outside: f64,
    /// Waiting; `None` if the report has no such metric.
    pub waiting: Option<f64>,
    /// Where time went, by class.
    pub classes: Vec<ClassTime>,
    /// Start-up and shutdown, if they were asked for.
    pub start_up: Option<f64>,
    /// Share of the MPI time that was analysed.
    pub coverage: Option<f64>,
    /// Findings; `None` if the report does not say.
    pub findings: Option<Vec<FindingCount>>,
    /// Culprits; `None` without a manifest.
    pub culprits: Option<Vec<Culprit>>,
    /// Advice; `None` if it was not looked for, or of a line of a history, which does not have it.
    pub advice: Option<RunAdvice>,
    /// Metrics by unique name, and the pseudo-metrics.
    pub metrics: FxHashMap<String, MetricSums>,
    /// Metrics that are there, but whose values cannot be computed.
    pub obstacles: Vec<String>,
    /// Call paths.
    pub calls: Vec<Call>,
    /// The report; `None` of a line of a history.
    pub report: Option<Values<'r>>,
    /// Whether a call path is part of the run.
    pub is_counted: Vec<bool>,
    /// Whether a location is a thread of which anything was recorded.
    pub is_thread: Vec<bool>,
}

impl<'r> Reading<'r> {
    /// Reads the numbers of a report, with start-up and shutdown if `is_all`.
    ///
    /// # Errors
    /// If it has no CPU locations, or cannot be read.
    pub fn read(opened: &'r Opened, is_all: bool) -> Result<Reading<'r>> {
        let values = Values::new(&opened.report);
        let cube = values.cube();
        let times = overview::Run::new(opened, &values)?;
        let is_thread = places::recorded_threads(&values)?;
        if times.threads == 0 {
            return Err(
                Error::new("no threads of processes, whose time could be compared").in_file(&opened.path)
            );
        }
        let is_recorded = |at: usize| !unrecorded::is_off(cube, CnodeId(at));
        let is_counted = match is_all {
            true => (0..cube.cnodes.len()).map(is_recorded).collect(),
            false => times.is_between.clone(),
        };
        let mut run = Reading {
            label: opened.path.display().to_string(),
            shape: Shape::of(opened),
            base: Some(if opened.manifest.is_some() { Base::Details } else { Base::Metrics }),
            locations: times.threads as f64,
            total: times.with_idle,
            length: times.length,
            outside: 0.0,
            waiting: times.waiting,
            classes: overview::classes(opened, &values, &times)?,
            start_up: None,
            coverage: overview::coverage(opened),
            findings: overview::findings(opened).map(|findings| {
                let count = |it: overview::Finding| FindingCount { class: it.class, count: it.count };
                findings.into_iter().map(count).collect()
            }),
            culprits: if has_causes(opened) { overview::culprits(opened, &values)? } else { None }.map(
                |culprits| {
                    let culprit = |it: overview::Action| {
                        let path = paths::names(cube, it.cnode).into_iter().map(str::to_owned).collect();
                        Culprit { id: it.id, text: it.text, path, seconds: Some(it.seconds) }
                    };
                    culprits.into_iter().map(culprit).collect()
                },
            ),
            advice: opened.advice.as_ref().map(RunAdvice::of),
            metrics: FxHashMap::default(),
            obstacles: Vec::new(),
            calls: calls::of_report(cube),
            report: Some(values),
            is_counted,
            is_thread,
        };
        run.read_metrics(is_all)?;
        if is_all {
            let times = run.by_location("time", None)?.unwrap_or_default();
            let before = run.total;
            run.total = times.iter().sum();
            run.start_up = Some(run.total - before);
            run.length = times.iter().copied().fold(0.0, f64::max);
        }
        run.find_outside();
        Ok(run)
    }

    /// A run of a history, which has totals only.
    pub fn of_history(label: String, shape: Shape, locations: f64, calls: Vec<Call>) -> Reading<'r> {
        Reading {
            label,
            shape,
            base: None,
            locations,
            total: 0.0,
            length: 0.0,
            outside: 0.0,
            waiting: None,
            classes: Vec::new(),
            start_up: None,
            coverage: None,
            findings: None,
            culprits: None,
            advice: None,
            metrics: FxHashMap::default(),
            obstacles: Vec::new(),
            is_counted: vec![true; calls.len()],
            calls,
            report: None,
            is_thread: Vec::new(),
        }
    }

    /// Which part of the recording the run's time is.
    pub fn interval(&self) -> &'static str {
        match self.base {
            Some(Base::Details) if self.start_up.is_none() => "between MPI_Init and MPI_Finalize",
            Some(Base::Metrics) if self.is_counted.contains(&false) => {
                "all but MPI_Init and MPI_Finalize, also what lies before and after them"
            }
            Some(Base::Metrics) if self.report.is_none() => {
                "all but MPI_Init and MPI_Finalize, if there are any, also what lies before and after them"
            }
            Some(_) => "all that was recorded",
            None => "not said by the log",
        }
    }

    /// Finds what metrics contain and the run does not, of a run whose time and metrics are known.
    pub fn find_outside(&mut self) {
        let time = self.metrics.get("time").filter(|_| self.base == Some(Base::Details));
        let outside = time.map_or(0.0, |time| time.total - self.total);
        // Sums in another order differ by less.
        self.outside = if outside > 1e-9 * self.total { outside } else { 0.0 };
    }

    /// A metric of the run, summed over locations: without what lies outside of it.
    pub fn sum(&self, metric: &str) -> Option<f64> {
        let sums = self.metrics.get(metric)?;
        Some(if has_outside(metric) { sums.total - self.outside } else { sums.total })
    }

    fn read_metrics(&mut self, is_all: bool) -> Result<()> {
        let Some(values) = &self.report else { return Ok(()) };
        let stored = (0..values.cube().metrics.len()).map(cubex::MetricId);
        let mut quantities: Vec<Quantity> =
            stored.filter(|&id| values.is_visible(id)).map(|id| values.of_metric(id)).collect();
        // Their calls are not counted, so that their values would be nearly 0.
        quantities.retain(|quantity| is_all || !is_of_start_up(&quantity.name));
        quantities.extend(
            [WAITING, DELAY].iter().filter_map(|name| values.find(name)).filter(|it| it.metric.is_none()),
        );
        let mut metrics = FxHashMap::default();
        let mut obstacles = Vec::new();
        for quantity in quantities {
            match or_obstacle(self.sums(values, &quantity))? {
                Ok(sums) => metrics.extend(sums.map(|sums| (quantity.name, sums))),
                Err(_) => obstacles.push(quantity.name),
            }
        }
        (self.metrics, self.obstacles) = (metrics, obstacles);
        Ok(())
    }

    /// The values of a quantity; `None` if there are none.
    fn sums(&self, values: &Values<'r>, quantity: &Quantity) -> Result<Option<MetricSums>> {
        let (unit, is_sum) = (quantity.unit.clone(), quantity.is_sum());
        let known = Known::All;
        let mut sums = MetricSums { unit, is_sum, total: 0.0, by_call: FxHashMap::default(), known };
        if !is_sum {
            let total = quantity.known(values.totals(quantity, &self.is_thread)?.all);
            return Ok(total.map(|total| MetricSums { total, ..sums }));
        }
        let mut rows = values.exclusive(quantity)?;
        while let Some((cnode, row)) = rows.next()? {
            if !self.is_counted[cnode.0] {
                continue;
            }
            let own = || {
                row.iter().zip(&self.is_thread).filter(|(_, is_thread)| **is_thread).map(|(value, _)| *value)
            };
            let sum: f64 = own().sum();
            let most = own().fold(f64::NEG_INFINITY, f64::max);
            if sum != 0.0 || most > 0.0 {
                sums.total += sum;
                sums.by_call.insert(cnode.0, (sum, most));
            }
        }
        Ok(Some(sums))
    }

    /// Whether the report has a metric, with values or without.
    pub fn has_metric(&self, metric: &str) -> bool {
        self.report.as_ref().is_some_and(|values| values.find(metric).is_some())
    }

    /// Values of a metric by CPU location, over the call paths that are selected (or all). `None` if there are none.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn by_location(&self, metric: &str, selected: Option<&[bool]>) -> Result<Option<Vec<f64>>> {
        let Some(values) = &self.report else { return Ok(None) };
        let Some(quantity) = values.find(metric) else { return Ok(None) };
        let is_counted = |cnode: CnodeId| {
            self.is_counted[cnode.0] && selected.is_none_or(|selected| selected.get(cnode.0) == Some(&true))
        };
        let Ok(row) = or_obstacle(values.by_location(&quantity, &is_counted))? else { return Ok(None) };
        let is_none = |value: &f64| quantity.known(*value).is_none();
        let own =
            row.into_iter().zip(&self.is_thread).filter(|(value, is_thread)| **is_thread && !is_none(value));
        Ok(Some(own.map(|(value, _)| value).collect()))
    }
}

/// Whether a metric contains work before `MPI_Init` and after `MPI_Finalize`.
pub fn has_outside(metric: &str) -> bool {
    ["time", "execution", "comp"].contains(&metric)
}

/// Whether a metric is time in start-up and shutdown, or a part of it.
pub fn is_of_start_up(metric: &str) -> bool {
    let metrics = patterns::metrics();
    let parent = |name: &str| metrics.iter().find(|it| it.id == name)?.parent;
    std::iter::successors(Some(metric), |name| parent(name)).any(|name| name == "mpi_init_exit")
}

/// Whether root causes were searched: without, a list of culprits is empty and says nothing.
fn has_causes(opened: &Opened) -> bool {
    opened.manifest.as_ref().is_some_and(|manifest| manifest.summary.costs.is_some())
}
