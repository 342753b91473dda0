//! The formula layer: metrics that follow from others, for one location at a time.
//!
//! Viewers could compute these themselves, from expressions in the report; not all readers can, so values are stored
//! there. Here they are computed where they are asked for: a location keeps what was measured only.

use std::borrow::Cow;

use patterns::Source;

use crate::call_tree::CallPath;
use crate::metrics::Metrics;
use crate::severity::{MetricId, Severities};
use crate::trace::{Artificial, Trace};

/// How each metric follows from others.
#[derive(Clone, Debug)]
pub struct Formulas {
    /// By metric.
    list: Vec<Formula>,
    /// The position that stands for regions of programs.
    program: usize,
}

#[derive(Clone, Debug)]
enum Formula {
    /// It is counted itself, or nothing of it is known at a location by itself.
    Measured,
    /// It is made of shares of ticks.
    Shares,
    /// Another metric in these regions, by position.
    Selected(MetricId, Vec<bool>),
    /// The sum of these.
    Sum(Vec<MetricId>),
    /// The first without all others.
    Rest(MetricId, Vec<MetricId>),
}

impl Formulas {
    /// The formulas of all metrics, on the regions of a trace.
    ///
    /// # Panics
    /// If a metric is the rest of one that does not exist.
    pub fn new(trace: &Trace, metrics: &Metrics) -> Formulas {
        let number = |id: &str| metrics.find(id).expect("a metric of the tree");
        let select = |of: MetricId, select: fn(&model::Region) -> bool| {
            let regions: Vec<bool> =
                (0..trace.region_count() as u32).map(|at| select(trace.region(at))).collect();
            // Nothing is counted for a metric whose regions the trace does not have.
            if regions.contains(&true) { Formula::Selected(of, regions) } else { Formula::Measured }
        };
        let formula = |metric: &patterns::Metric| match metric.source {
            Source::Measured => Formula::Measured,
            Source::Shares | Source::Comparison => Formula::Shares,
            Source::TimeIn(regions) => select(metrics.time, regions),
            Source::VisitsOf(regions) => select(metrics.visits, regions),
            Source::Sum => {
                let children = metrics.list.iter().enumerate().filter(|(_, m)| m.parent == Some(metric.id));
                Formula::Sum(children.map(|(at, _)| at).collect())
            }
            Source::Rest(of, without) => {
                Formula::Rest(number(of), without.iter().map(|id| number(id)).collect())
            }
        };
        Formulas {
            list: metrics.list.iter().map(formula).collect(),
            program: trace.artificial(Artificial::Program) as usize,
        }
    }

    /// Whether a metric's severities are shares of ticks (see [`crate::fraction`]), not whole numbers.
    pub fn has_fractions(&self, metric: MetricId) -> bool {
        match &self.list[metric] {
            Formula::Shares => true,
            Formula::Measured | Formula::Selected(..) => false,
            Formula::Sum(parts) => parts.iter().any(|&part| self.has_fractions(part)),
            Formula::Rest(of, without) => without.iter().chain([of]).any(|&part| self.has_fractions(part)),
        }
    }

    /// The severities of a metric of whole numbers at a location, by row; `paths` are the call paths of its process. May be
    /// shorter than the list of rows: the rest is zero.
    pub fn column<'s>(
        &self,
        metric: MetricId,
        severities: &'s Severities,
        paths: &[CallPath],
    ) -> Cow<'s, [i64]> {
        self.evaluate(metric, &|leaf: Leaf<'_>| {
            let column = severities.column(leaf.column);
            if leaf.selected.is_none() {
                return column.into();
            }
            let rows = column.iter().zip(severities.paths());
            let value = |(&value, &path)| if leaf.holds(paths[path as usize].region) { value } else { 0 };
            rows.map(value).collect()
        })
    }

    /// A metric by what `leaf` has for those that it is made of, which are no sums or rests. Lists may be shorter than
    /// others: the rest is zero.
    pub fn evaluate<'s, T: Number>(
        &self,
        metric: MetricId,
        leaf: &dyn Fn(Leaf<'_>) -> Cow<'s, [T]>,
    ) -> Cow<'s, [T]> {
        let of = |part| self.evaluate(part, leaf);
        let mut column = Vec::new();
        match &self.list[metric] {
            Formula::Sum(parts) => parts.iter().for_each(|&part| match column.is_empty() {
                true => column = of(part).into_owned(),
                false => combine(&mut column, &of(part), T::plus),
            }),
            Formula::Rest(all, without) => {
                column = of(*all).into_owned();
                without.iter().for_each(|&part| combine(&mut column, &of(part), T::minus));
            }
            Formula::Measured => return leaf(Leaf { column: metric, is_shares: false, selected: None }),
            Formula::Shares => return leaf(Leaf { column: metric, is_shares: true, selected: None }),
            Formula::Selected(of, regions) => {
                let selected = Some((&regions[..], self.program));
                return leaf(Leaf { column: *of, is_shares: false, selected });
            }
        }
        column.into()
    }

    /// The metrics that a metric is made of, which are no sums or rests, and whether each is taken away.
    pub fn parts(&self, metric: MetricId) -> Vec<(MetricId, bool)> {
        let of = |part: &MetricId| self.parts(*part);
        match &self.list[metric] {
            Formula::Sum(parts) => parts.iter().flat_map(of).collect(),
            Formula::Rest(all, without) => {
                let without = without.iter().flat_map(of).map(|(part, is_without)| (part, !is_without));
                of(all).into_iter().chain(without).collect()
            }
            Formula::Measured | Formula::Shares | Formula::Selected(..) => vec![(metric, false)],
        }
    }

    /// What a metric selects in which regions, if it does.
    pub fn selection(&self, metric: MetricId) -> Option<Leaf<'_>> {
        let Formula::Selected(of, regions) = &self.list[metric] else { return None };
        Some(Leaf { column: *of, is_shares: false, selected: Some((regions, self.program)) })
    }
}

/// What formulas are made of: severities that locations have by themselves.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<'f> {
    /// The metric that they are severities of.
    pub column: MetricId,
    /// Whether they are shares of ticks, not whole numbers.
    pub is_shares: bool,
    /// The regions that count, if not all do, and the position that stands for regions of programs.
    selected: Option<(&'f [bool], usize)>,
}

impl Leaf<'_> {
    /// Whether severities in call paths of a region count.
    pub fn holds(&self, region: u32) -> bool {
        self.selected
            .is_none_or(|(regions, program)| *regions.get(region as usize).unwrap_or(&regions[program]))
    }
}

/// A number that severities are.
pub trait Number: Copy + Default + 'static {
    /// The sum of two; the largest number there is instead of a larger one.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// The difference of two, in the same way.
    #[must_use]
    fn minus(self, other: Self) -> Self;
}

impl Number for i64 {
    fn plus(self, other: i64) -> i64 {
        self.saturating_add(other)
    }

    fn minus(self, other: i64) -> i64 {
        self.saturating_sub(other)
    }
}

impl Number for i128 {
    fn plus(self, other: i128) -> i128 {
        self.saturating_add(other)
    }

    fn minus(self, other: i128) -> i128 {
        self.saturating_sub(other)
    }
}

fn combine<T: Number>(column: &mut Vec<T>, other: &[T], operation: impl Fn(T, T) -> T) {
    if column.len() < other.len() {
        column.resize(other.len(), T::default());
    }
    for (value, &other) in column.iter_mut().zip(other) {
        *value = operation(*value, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_tree::{CallTree, NO_PATH, NO_SITE};
    use crate::options::Semantics;
    use crate::trace::Trace;
    use model::{Paradigm, Region, RegionRole};

    #[test]
    fn classes_of_time_follow_from_the_regions_and_sum_up() {
        let mut definitions = crate::trace::tests::world(&[0]);
        for (at, (name, paradigm, role)) in [
            ("main", Paradigm::COMPILER, RegionRole::FUNCTION),
            ("MPI_Recv", Paradigm::MPI, RegionRole::POINT2POINT),
            ("MPI_Wtime", Paradigm::MPI, RegionRole::FUNCTION),
        ]
        .into_iter()
        .enumerate()
        {
            let region = Region { name: name.into(), paradigm, role, ..Region::default() };
            definitions.regions.push(at as u64, region).unwrap();
        }
        let trace = Trace::new(definitions, Semantics::Corrected).unwrap();
        let metrics = Metrics::new(true);
        let mut tree = CallTree::default();
        tree.enter(NO_PATH, 0, NO_SITE);
        tree.enter(0, 1, NO_SITE);
        tree.enter(0, 2, NO_SITE);
        let mut severities = Severities::default();
        (0..3).for_each(|path| assert_eq!(severities.row(path), path));
        severities.set_column(metrics.time, vec![50, 30, 20]);
        let formulas = Formulas::new(&trace, &metrics);
        let column = |id: &str| {
            let at = metrics.find(id).unwrap();
            formulas.column(at, &severities, tree.paths()).into_owned()
        };
        assert_eq!(column("execution"), [50, 30, 20]);
        assert_eq!(column("comp"), [50, 0, 0]);
        assert_eq!(column("mpi"), [0, 30, 20]);
        assert_eq!(column("mpi_communication"), [0, 30, 0]);
        assert_eq!(column("overhead"), [0, 0, 0]);
        let [execution, mpi] = ["execution", "mpi"].map(|id| metrics.find(id).unwrap());
        let parts = formulas.parts(metrics.computation);
        assert!(parts.contains(&(execution, false)) && parts.contains(&(mpi, true)));
        let selected = formulas.selection(mpi).unwrap();
        assert_eq!(
            (selected.column, [0, 1, 2].map(|it| selected.holds(it))),
            (metrics.time, [false, true, true])
        );
    }
}
