//! Values of a report: one way for all commands to read a metric, whether it is stored, derived, or made of several.
//!
//! A [`Quantity`] is what has values. It is asked for by name with [`Values::quantity`], and read row by row with
//! [`Values::exclusive`] and [`Values::inclusive`], or summed up with [`Values::totals`] and [`Values::by_location`]. Values of
//! many call paths and locations are never in memory together: a report may be larger than memory.
//!
//! Three conventions hold everywhere: values are *exclusive* (of the call path alone) or *inclusive* (with the call paths
//! below); values of times are seconds; and a quantity whose values cannot be computed says so with
//! [`Quantity::obstacle`], and is never taken as 0.

mod derived;
mod postderived;
mod pseudo;
mod rows;
mod stored;
mod sums;

use cubex::{Cube, DataType, Forest, Metric, MetricId, MetricKind, Report};

pub use postderived::Postderived;
pub use pseudo::{DELAY, WAITING};
pub(crate) use pseudo::{is_waiting, parts, waiting};
pub use rows::{ExclusiveRows, InclusiveRows, RowWithOwn};
pub use sums::{Grouped, Totals};

use crate::cubepl::Programs;
use crate::error::{Error, Result};

/// What is printed in the place of values whose expression is not understood.
const DERIVED: &str = "n/a (derived)";

/// The unit of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Numbers of occurrences.
    Count,
    /// Bytes.
    Bytes,
    /// Another one, as the report has it; may be empty.
    Other(String),
}

impl Unit {
    /// The unit with a name in the file.
    pub fn from_name(name: &str) -> Unit {
        match name {
            "sec" | "s" | "seconds" => Unit::Seconds,
            "occ" => Unit::Count,
            "bytes" | "byte" => Unit::Bytes,
            other => Unit::Other(other.to_owned()),
        }
    }

    /// The name for scripts.
    pub fn name(&self) -> &str {
        match self {
            Unit::Seconds => "seconds",
            Unit::Count => "count",
            Unit::Bytes => "bytes",
            Unit::Other(name) => name,
        }
    }
}

/// How values of several call paths or locations become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combine {
    /// Their sum.
    Sum,
    /// The least of them.
    Minimum,
    /// The greatest of them.
    Maximum,
}

impl Combine {
    /// The value of nothing.
    pub fn neutral(self) -> f64 {
        match self {
            Combine::Sum => 0.0,
            Combine::Minimum => f64::MAX,
            Combine::Maximum => f64::MIN,
        }
    }

    /// The value of both.
    pub fn of(self, one: f64, other: f64) -> f64 {
        match self {
            Combine::Sum => one + other,
            Combine::Minimum => one.min(other),
            Combine::Maximum => one.max(other),
        }
    }

    fn of_metric(metric: &Metric) -> Combine {
        match metric.data_type {
            DataType::MinDouble => Combine::Minimum,
            DataType::MaxDouble => Combine::Maximum,
            _ => Combine::Sum,
        }
    }
}

/// What has values: a metric of the report, or a pseudo-metric.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// Unique name.
    pub name: String,
    /// Title, to be read below that of its parent.
    pub title: String,
    /// The unit of its values.
    pub unit: Unit,
    /// How values of several call paths or locations become one.
    pub combine: Combine,
    /// The metric; `None` for a pseudo-metric.
    pub metric: Option<MetricId>,
    source: Source,
    /// Whether it is a quotient of others, such as a mean, so that of nothing it is no number.
    is_quotient: bool,
}

/// Where values come from.
#[derive(Clone, Debug)]
enum Source {
    /// The sum of stored metrics; usually of one.
    Stored(Vec<MetricId>),
    /// An expression, evaluated at each call path and location.
    Derived(MetricId),
    /// An expression, evaluated once for sums of other metrics, such as a ratio.
    Postderived(MetricId),
    /// Nowhere: why not.
    Nowhere(&'static str),
}

impl Quantity {
    /// Whether values of call paths and locations add up, as times do, and ratios and largest values do not.
    pub fn is_sum(&self) -> bool {
        self.combine == Combine::Sum && !matches!(self.source, Source::Postderived(_))
    }

    /// How values of several call paths or locations become one; `None` where they do not, as those of ratios.
    pub fn combined(&self) -> Option<Combine> {
        (self.is_sum() || self.combine != Combine::Sum).then_some(self.combine)
    }

    /// A value; `None` for what stands where there is none: a minimum, a maximum or a quotient of nothing.
    pub fn known(&self, value: f64) -> Option<f64> {
        let is_nothing = value.is_nan() || self.combine != Combine::Sum && value == self.combine.neutral();
        (!is_nothing).then_some(value)
    }

    /// Whether a value of 0 is one, unlike a sum of 0, which is nothing.
    pub fn has_zero(&self) -> bool {
        self.combine != Combine::Sum || self.is_quotient
    }

    /// Why there are no values, to be printed in their place, such as `n/a (derived)`; `None` if there are.
    pub fn obstacle(&self) -> Option<&'static str> {
        match self.source {
            Source::Nowhere(why) => Some(why),
            Source::Stored(_) | Source::Derived(_) | Source::Postderived(_) => None,
        }
    }
}

/// The values of a report.
#[derive(Debug)]
pub struct Values<'r> {
    report: &'r Report,
    calls: Forest,
    programs: Programs,
}

impl<'r> Values<'r> {
    /// The values of a report.
    pub fn new(report: &'r Report) -> Values<'r> {
        let cube = report.cube();
        Values { report, calls: Forest::of_cnodes(cube), programs: Programs::new(cube) }
    }

    /// The description of the report.
    pub fn cube(&self) -> &'r Cube {
        self.report.cube()
    }

    /// The call tree; nodes are positions of call paths.
    pub fn calls(&self) -> &Forest {
        &self.calls
    }

    /// The metric or pseudo-metric of a name, such as `time`, `mpi_latesender` or `waiting`; `None` if the report has none.
    pub fn find(&self, name: &str) -> Option<Quantity> {
        // A stored metric goes first: Replay's `delay` is one.
        let metric = self.cube().metric_named(name).map(|metric| self.of_metric(metric));
        match metric {
            Some(metric) if metric.obstacle().is_none() => Some(metric),
            metric => pseudo::find(self.cube(), name).or(metric),
        }
    }

    /// The metric or pseudo-metric of a name, such as `time`, `mpi_latesender` or `waiting`; else the only one that is shown by this
    /// name: a counter was recorded by it, such as `page-faults`, which no unique name can be.
    ///
    /// # Errors
    /// If the report has none.
    pub fn quantity(&self, name: &str) -> Result<Quantity> {
        let all = self.cube().metrics.iter().enumerate();
        let shown: Vec<usize> =
            all.filter(|(_, metric)| metric.display_name == name).map(|(at, _)| at).collect();
        let only = || match shown[..] {
            [only] => Some(self.of_metric(MetricId(only))),
            _ => None,
        };
        self.find(name).or_else(only).ok_or_else(|| {
            Error::new(format!(
                "no metric {name} in this report: replay-show tree --metrics lists those that it has"
            ))
        })
    }

    /// Whether a metric is to be shown: it is neither hidden nor switched off.
    pub fn is_visible(&self, id: MetricId) -> bool {
        let metric = self.cube().metrics.get(id.0);
        metric.is_some_and(|metric| !metric.ghost && !metric.void && !self.programs.is_void(id))
    }

    /// The quantity that a metric of the report is.
    pub fn of_metric(&self, id: MetricId) -> Quantity {
        let Some(metric) = self.cube().metrics.get(id.0) else {
            let nowhere = Source::Nowhere("n/a");
            let (name, title, unit) = (String::new(), String::new(), Unit::Other(String::new()));
            let (source, is_quotient) = (nowhere, false);
            return Quantity { name, title, unit, combine: Combine::Sum, metric: None, source, is_quotient };
        };
        let source = match metric.kind {
            kind if kind.is_derived() && !self.programs.is_understood(id) => Source::Nowhere(DERIVED),
            MetricKind::Postderived => Source::Postderived(id),
            kind if kind.is_derived() => Source::Derived(id),
            _ if !is_number(&metric.data_type) => Source::Nowhere("n/a (no number)"),
            _ => Source::Stored(vec![id]),
        };
        Quantity {
            name: metric.unique_name.clone(),
            title: if metric.display_name.is_empty() { &metric.unique_name } else { &metric.display_name }
                .clone(),
            unit: Unit::from_name(&metric.unit),
            combine: Combine::of_metric(metric),
            metric: Some(id),
            is_quotient: metric.kind == MetricKind::Postderived && self.programs.is_quotient(id),
            source,
        }
    }
}

/// Whether elements are plain numbers.
fn is_number(data_type: &DataType) -> bool {
    data_type.size().is_some_and(|size| size <= 8) && !matches!(data_type, DataType::NDoubles(_))
}
