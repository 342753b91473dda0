//! Metrics. They form a forest in which a parent's values contain those of its children.

use crate::{Attribute, DataType, MetricId};

/// A metric.
///
/// Most fields may stay at their default:
///
/// ```
/// use cubex::{DataType, Metric, MetricKind};
///
/// let visits = Metric {
///     unique_name: "visits".into(),
///     display_name: "Visits".into(),
///     data_type: DataType::UInt64,
///     unit: "occ".into(),
///     ..Metric::default()
/// };
/// assert_eq!(visits.kind, MetricKind::Exclusive);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metric {
    /// The parent, which contains this metric. Parents come first in [`Cube::metrics`](crate::Cube::metrics).
    pub parent: Option<MetricId>,
    /// Exclusive, inclusive or derived.
    pub kind: MetricKind,
    /// Hidden from display, for use in expressions of other metrics (`viztype="GHOST"`).
    pub ghost: bool,
    /// Unique name, the key for tools; letters, digits, `_`, `:` and `=` only.
    pub unique_name: String,
    /// Display name.
    pub display_name: String,
    /// Element type of the rows.
    pub data_type: DataType,
    /// Unit: `sec`, `occ`, `bytes`, or free text.
    pub unit: String,
    /// Disabled: always zero, not displayed (`val` is `VOID`).
    pub void: bool,
    /// URL of the documentation, in which `@mirror@` stands for any of
    /// [`Cube::mirrors`](crate::Cube::mirrors).
    pub url: String,
    /// One line of description.
    pub description: String,
    /// Definition of the values, if [`kind`](Metric::kind) is a derived one.
    pub expression: Option<Expression>,
    /// A derived metric that remapping must not turn into a stored one.
    pub not_convertible: bool,
    /// A derived metric whose expression has side effects, so that its values must not be cached.
    pub not_cacheable: bool,
    /// Further attributes.
    pub attributes: Vec<Attribute>,
}

/// Kind of a metric: the meaning of its values along the call tree, and whether they are stored or derived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MetricKind {
    /// Stored; a value excludes the call paths below. Right for everything sparse, such as wait states and
    /// visits.
    #[default]
    Exclusive,
    /// Stored; a value includes the call paths below. The row of an ancestor of a non-zero row must not be
    /// omitted.
    Inclusive,
    /// An obsolete kind. Can be read (as Inclusive, as the reference library does) but not written.
    Simple,
    /// Computed for each call path and location, then summed like Exclusive.
    PrederivedExclusive,
    /// Computed for each call path and location, then treated like Inclusive.
    PrederivedInclusive,
    /// Computed once, from sums of other metrics. Right for ratios.
    Postderived,
}

impl MetricKind {
    /// The kind with this name in the file; `Exclusive` for unknown names, as in the reference library.
    pub(crate) fn from_name(name: &str) -> MetricKind {
        match name {
            "INCLUSIVE" => MetricKind::Inclusive,
            "SIMPLE" => MetricKind::Simple,
            "PREDERIVED_EXCLUSIVE" => MetricKind::PrederivedExclusive,
            "PREDERIVED_INCLUSIVE" => MetricKind::PrederivedInclusive,
            "POSTDERIVED" | "DERIVED" => MetricKind::Postderived,
            _ => MetricKind::Exclusive,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            MetricKind::Exclusive => "EXCLUSIVE",
            MetricKind::Inclusive => "INCLUSIVE",
            MetricKind::Simple => "SIMPLE",
            MetricKind::PrederivedExclusive => "PREDERIVED_EXCLUSIVE",
            MetricKind::PrederivedInclusive => "PREDERIVED_INCLUSIVE",
            MetricKind::Postderived => "POSTDERIVED",
        }
    }

    /// Whether values are computed by the reader instead of being stored.
    #[must_use]
    pub fn is_derived(self) -> bool {
        matches!(
            self,
            MetricKind::PrederivedExclusive | MetricKind::PrederivedInclusive | MetricKind::Postderived
        )
    }
}

/// CubePL program of a derived metric. This crate stores it but does not evaluate it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expression {
    /// The expression itself.
    pub value: String,
    /// Evaluated value by value instead of for whole rows at once (`rowwise="false"`).
    pub by_value: bool,
    /// Statements to be run once after loading; may be empty.
    pub init: String,
    /// Operators that replace the usual sums and differences.
    pub aggregations: Vec<(Aggregation, String)>,
}

/// An operator of a derived metric that can be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aggregation {
    /// Addition of values.
    Plus,
    /// Subtraction of the children's values.
    Minus,
    /// Aggregation over locations.
    Locations,
}

impl Aggregation {
    pub(crate) fn from_name(name: &str) -> Option<Aggregation> {
        match name {
            "plus" => Some(Aggregation::Plus),
            "minus" => Some(Aggregation::Minus),
            "aggr" => Some(Aggregation::Locations),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Aggregation::Plus => "plus",
            Aggregation::Minus => "minus",
            Aggregation::Locations => "aggr",
        }
    }
}
