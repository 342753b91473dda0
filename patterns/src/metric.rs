//! Metrics: place in the metric tree, unit, and origin of the severities.

use model::Region;

/// The unit of a metric's severities in a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Time; counted in ticks until the report is written.
    Seconds,
    /// Number of occurrences.
    Occurrences,
    /// Amounts of data.
    Bytes,
    /// Whole numbers of a unit by that power of ten, as a trace has them.
    Scaled {
        /// The unit.
        name: &'static str,
        /// The power of ten.
        exponent: i8,
    },
    /// Real numbers of a unit, made of the values that a state of threads had, as a trace has them.
    State {
        /// The unit.
        name: &'static str,
        /// Which number it is.
        number: StateNumber,
    },
}

/// A number that is made of the values of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StateNumber {
    /// The largest value.
    Maximum,
    /// The smallest value.
    Minimum,
    /// The sum of values, or their number: of interest only for their quotient, the mean.
    PartOfMean,
}

/// Origin of a metric's severities.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The walk over the events, the accounting of operations, or a pattern adds to it.
    Measured,
    /// The analysis of root causes adds to it: shares of times.
    Shares,
    /// Comparison of the location with others, when the report is written.
    Comparison,
    /// The exclusive time of the call paths whose region is selected.
    TimeIn(fn(&Region) -> bool),
    /// The visits of the call paths whose region is selected.
    VisitsOf(fn(&Region) -> bool),
    /// The sum of the metrics below.
    Sum,
    /// The first metric minus the others.
    Rest(&'static str, &'static [&'static str]),
}

/// A metric of the report. Severities are exclusive along the call tree, and inclusive along the metric tree:
/// a metric's value contains the values of its children.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Unique name; the reference analyzer's, so that reports can be compared.
    pub id: &'static str,
    /// Display name, to be read below its parent's.
    pub name: &'static str,
    /// Unique name of the parent; `None` at a root.
    pub parent: Option<&'static str>,
    /// The unit of its severities.
    pub unit: Unit,
    /// Description in one sentence.
    pub about: &'static str,
    /// Origin of its severities.
    pub source: Source,
    /// Whether its time counts as work of a location when the impact of imbalance on the critical path is computed
    /// (specification 16.3). Metrics below one that does not count are left out with it.
    pub is_work: bool,
    /// Whether the reference computes nothing like it: with its semantics the metric is absent (rest of MPI 1).
    pub is_beyond_reference: bool,
    /// The description where the reference is followed, if it is another one.
    pub about_in_reference: Option<&'static str>,
}

impl Metric {
    /// A root of the metric tree.
    pub const fn root(
        id: &'static str,
        name: &'static str,
        unit: Unit,
        source: Source,
        about: &'static str,
    ) -> Metric {
        Metric {
            id,
            name,
            parent: None,
            unit,
            about,
            source,
            is_work: true,
            is_beyond_reference: false,
            about_in_reference: None,
        }
    }

    /// A metric below `parent`.
    pub const fn below(
        parent: &'static str,
        id: &'static str,
        name: &'static str,
        unit: Unit,
        source: Source,
        about: &'static str,
    ) -> Metric {
        Metric { parent: Some(parent), ..Metric::root(id, name, unit, source, about) }
    }

    /// A waiting time below `parent` that a pattern measures.
    pub const fn wait(
        parent: &'static str,
        id: &'static str,
        name: &'static str,
        about: &'static str,
    ) -> Metric {
        Metric::below(parent, id, name, Unit::Seconds, Source::Measured, about)
    }

    /// This metric, of which the time is no work of a location.
    pub const fn not_work(self) -> Metric {
        Metric { is_work: false, ..self }
    }

    /// This metric, which the reference does not have.
    pub const fn beyond_reference(self) -> Metric {
        Metric { is_beyond_reference: true, ..self }
    }

    /// This metric, which is less where the reference is followed.
    pub const fn in_reference(self, about: &'static str) -> Metric {
        Metric { about_in_reference: Some(about), ..self }
    }

    /// A number of instances below `parent` that a pattern counts.
    pub const fn instances(
        parent: &'static str,
        id: &'static str,
        name: &'static str,
        about: &'static str,
    ) -> Metric {
        Metric::below(parent, id, name, Unit::Occurrences, Source::Measured, about)
    }
}
