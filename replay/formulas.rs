//! The formula layer: metrics that are computed from others, for one location at a time.
//!
//! Viewers could compute these themselves, from expressions in the report, but not all readers can, so the
//! report has their values. They are computed here when they are requested: a location stores measured
//! metrics only.

use std::borrow::Cow;

use model::{Paradigm, Region, mpi};
use patterns::Source;

use crate::call_tree::CallPath;
use crate::files_in_mpi::{FilesInMpi, regions_of};
use crate::ids::PathId;
use crate::int::to_u32;
use crate::metrics::Metrics;
use crate::options::Semantics;
use crate::severity::{MetricId, Severities};
use crate::trace::{Artificial, Trace};

/// The formulas of all metrics.
#[derive(Clone, Debug)]
pub struct Formulas {
    /// The formula of each metric.
    list: Vec<Formula>,
    /// By metric, whether its values are shares of ticks.
    has_fractions: Vec<bool>,
    /// The metrics that are computed from others, each after those that it is computed from.
    order: Vec<MetricId>,
    /// By metric, the places in this order of those that are computed from it directly, one bit each.
    followers: Vec<u128>,
    /// The metric of visits.
    visits: MetricId,
    files_in_mpi: FilesInMpi,
}

/// The formula of a metric.
#[derive(Clone, Debug)]
pub enum Formula {
    /// It is counted itself, or a location by itself has no value of it.
    Measured,
    /// Its values are shares of ticks.
    Shares,
    /// The values of another metric in some regions.
    Selected(MetricId, Selection),
    /// The sum of these metrics.
    Sum(Vec<MetricId>),
    /// The first metric without all others.
    Rest(MetricId, Vec<MetricId>),
}

/// A region with the name and the role of the function of MPI 3 that it is like, if it is one of MPI 4.
fn known_as(region: &Region, semantics: Semantics) -> Option<Region> {
    let is_function = region.paradigm == Paradigm::MPI && semantics.replays_all_of_mpi();
    let other = mpi::counterpart(&region.name).filter(|_| is_function)?;
    Some(Region { name: other.name.into(), role: other.role, ..region.clone() })
}

/// Some regions of a trace.
#[derive(Clone, Debug)]
pub struct Selection {
    /// By region, whether it is selected.
    regions: Vec<bool>,
    /// The position that stands for regions of programs.
    program: usize,
}

impl Selection {
    /// Whether severities in call paths of a region count.
    pub fn holds(&self, region: u32) -> bool {
        *self.regions.get(region as usize).unwrap_or(&self.regions[self.program])
    }
}

impl Formulas {
    /// Makes the formulas of all metrics for the regions of a trace. A rest is without those metrics that there are.
    ///
    /// # Panics
    /// If a metric is the rest of one that does not exist.
    pub fn new(trace: &Trace, metrics: &Metrics) -> Formulas {
        let number = |id: &str| metrics.find(id).expect("a metric of the tree");
        let program = trace.artificial(Artificial::Program) as usize;
        let select = |of: MetricId, select: fn(&model::Region) -> bool| {
            let is_selected = |at| match known_as(trace.region(at), trace.semantics) {
                Some(other) => select(&other),
                None => select(trace.region(at)),
            };
            let regions: Vec<bool> = (0..to_u32(trace.region_count())).map(is_selected).collect();
            // Nothing is counted for a metric whose regions the trace does not have.
            match regions.contains(&true) {
                true => Formula::Selected(of, Selection { regions, program }),
                false => Formula::Measured,
            }
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
                Formula::Rest(number(of), without.iter().filter_map(|id| metrics.find(id)).collect())
            }
        };
        let list: Vec<Formula> = metrics.list.iter().map(formula).collect();
        let has_fractions = (0..list.len()).map(|metric| has_fractions(&list, metric)).collect();
        let mut order: Vec<MetricId> = (0..list.len()).filter(|&metric| depth(&list, metric) > 0).collect();
        order.sort_by_key(|&metric| depth(&list, metric));
        assert!(order.len() < 128, "a set of metrics has 128 places");
        let mut followers = vec![0; list.len()];
        for (place, &metric) in order.iter().enumerate() {
            list[metric].parts().for_each(|part| followers[part] |= 1 << place);
        }
        let visits = metrics.visits;
        let files_in_mpi = FilesInMpi::new(trace);
        Formulas { list, has_fractions, order, followers, visits, files_in_mpi }
    }

    /// Returns the region that severities of a metric at a call path are counted for, given the regions of the path from the inside out:
    /// what MPI does with files in one of its calls is time of that call, and its visits are none of the program (io 5.2).
    pub fn counted_for(&self, of: MetricId, mut regions: impl Iterator<Item = u32> + Clone) -> Option<u32> {
        match self.files_in_mpi.call(regions.clone()) {
            Some(_) if of == self.visits => None,
            Some(call) => Some(call),
            None => regions.next(),
        }
    }

    /// Whether a metric has severities at a call path because it selects its region.
    pub fn selects(&self, metric: MetricId, paths: &[CallPath], path: PathId) -> bool {
        match &self.list[metric] {
            Formula::Selected(of, regions) => self.is_selected(*of, regions, paths, path),
            _ => false,
        }
    }

    fn is_selected(&self, of: MetricId, regions: &Selection, paths: &[CallPath], path: PathId) -> bool {
        self.counted_for(of, regions_of(paths, path)).is_some_and(|region| regions.holds(region))
    }

    /// Returns the calls of MPI that do something with files.
    pub fn files_in_mpi(&self) -> &FilesInMpi {
        &self.files_in_mpi
    }

    /// Returns the formula of a metric.
    pub fn of(&self, metric: MetricId) -> &Formula {
        &self.list[metric]
    }

    /// Returns the metrics that are computed from others, each after those that it is computed from.
    pub fn order(&self) -> &[MetricId] {
        &self.order
    }

    /// Returns the places in the [order](Formulas::order) of the metrics that are computed from this one
    /// directly: a bit for each.
    pub fn followers(&self, metric: MetricId) -> u128 {
        self.followers[metric]
    }

    /// Whether a metric's severities are shares of ticks (see [`crate::fraction`]), not whole numbers.
    pub fn has_fractions(&self, metric: MetricId) -> bool {
        self.has_fractions[metric]
    }

    /// Returns the severities of a metric of whole numbers at a location, by row; `paths` are the call paths
    /// of its process. The result may be shorter than the list of rows: the rest is zero.
    pub fn column<'s>(
        &self,
        metric: MetricId,
        severities: &'s Severities,
        paths: &[CallPath],
    ) -> Cow<'s, [i64]> {
        let of = |part| self.column(part, severities, paths);
        let mut column = Vec::new();
        match &self.list[metric] {
            Formula::Measured | Formula::Shares => return severities.column(metric),
            Formula::Selected(of, regions) => {
                column = severities.column(*of).into_owned();
                for (value, &path) in column.iter_mut().zip(severities.paths()) {
                    if !self.is_selected(*of, regions, paths, path) {
                        *value = 0;
                    }
                }
            }
            Formula::Sum(parts) => parts.iter().for_each(|&part| match column.is_empty() {
                true => column = of(part).into_owned(),
                false => combine(&mut column, &of(part), i64::saturating_add),
            }),
            Formula::Rest(all, without) => {
                column = of(*all).into_owned();
                without.iter().for_each(|&part| combine(&mut column, &of(part), i64::saturating_sub));
            }
        }
        column.into()
    }
}

impl Formula {
    /// Returns the metrics that it is computed from.
    fn parts(&self) -> impl Iterator<Item = MetricId> {
        let (one, several) = match self {
            Formula::Measured | Formula::Shares => (None, &[][..]),
            Formula::Selected(of, _) => (Some(*of), &[][..]),
            Formula::Sum(parts) => (None, &parts[..]),
            Formula::Rest(all, without) => (Some(*all), &without[..]),
        };
        one.into_iter().chain(several.iter().copied())
    }
}

fn has_fractions(list: &[Formula], metric: MetricId) -> bool {
    let is_made_of = |formula: &Formula| formula.parts().any(|part| has_fractions(list, part));
    matches!(list[metric], Formula::Shares) || is_made_of(&list[metric])
}

/// Returns how many steps a metric is from what is counted.
fn depth(list: &[Formula], metric: MetricId) -> usize {
    list[metric].parts().map(|part| 1 + depth(list, part)).max().unwrap_or(0)
}

fn combine(column: &mut Vec<i64>, other: &[i64], operation: impl Fn(i64, i64) -> i64) {
    if column.len() < other.len() {
        column.resize(other.len(), 0);
    }
    for (value, &other) in column.iter_mut().zip(other) {
        *value = operation(*value, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_tree::{CallTree, NO_SITE};
    use crate::options::Semantics;
    use crate::trace::Trace;
    use model::{Paradigm, Region, RegionRole};

    /// A trace with these regions, by number.
    fn of_regions(regions: [(&str, Paradigm, RegionRole); 3]) -> Trace {
        let mut definitions = crate::trace::tests::world(&[0]);
        for (at, (name, paradigm, role)) in (0..).zip(regions) {
            let region = Region { name: name.into(), paradigm, role, ..Region::default() };
            definitions.regions.push(at, region).unwrap();
        }
        Trace::new(definitions, Semantics::Corrected).unwrap()
    }

    #[test]
    fn classes_of_time_follow_from_the_regions_and_sum_up() {
        let trace = of_regions([
            ("main", Paradigm::COMPILER, RegionRole::FUNCTION),
            ("MPI_Recv", Paradigm::MPI, RegionRole::POINT2POINT),
            ("MPI_Wtime", Paradigm::MPI, RegionRole::FUNCTION),
        ]);
        let metrics = Metrics::new(true, Semantics::Corrected);
        let mut tree = CallTree::default();
        let root = tree.enter(PathId::NONE, 0, NO_SITE);
        tree.enter(root, 1, NO_SITE);
        tree.enter(root, 2, NO_SITE);
        let mut severities = Severities::default();
        (0..3).for_each(|path| assert_eq!(severities.row(PathId::new(path)).index(), path));
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
        let mpi = metrics.find("mpi").unwrap();
        let place = |of: MetricId| formulas.order().iter().position(|&metric| metric == of);
        assert!(place(metrics.time).is_none() && place(mpi) < place(metrics.computation));
        let Formula::Selected(of, regions) = formulas.of(mpi) else { panic!("MPI time is selected") };
        assert_eq!((*of, [0, 1, 2].map(|it| regions.holds(it))), (metrics.time, [false, true, true]));
    }

    #[test]
    fn what_mpi_does_with_files_is_time_of_its_call_and_no_call_of_the_program() {
        let trace = of_regions([
            ("main", Paradigm::COMPILER, RegionRole::FUNCTION),
            ("MPI_File_write", Paradigm::MPI, RegionRole::FILE_IO),
            ("pwrite", Paradigm::NONE, RegionRole::FILE_IO),
        ]);
        let metrics = Metrics::new(true, Semantics::Corrected);
        let mut tree = CallTree::default();
        let root = tree.enter(PathId::NONE, 0, NO_SITE);
        let call = tree.enter(root, 1, NO_SITE);
        tree.enter(call, 2, NO_SITE);
        tree.enter(root, 2, NO_SITE);
        let mut severities = Severities::default();
        (0..4).for_each(|path| assert_eq!(severities.row(PathId::new(path)).index(), path));
        severities.set_column(metrics.time, vec![50, 30, 20, 7]);
        severities.set_column(metrics.visits, vec![1, 3, 6, 2]);
        let formulas = Formulas::new(&trace, &metrics);
        let column = |id: &str| {
            let at = metrics.find(id).unwrap();
            formulas.column(at, &severities, tree.paths()).into_owned()
        };
        assert_eq!(column("mpi"), [0, 30, 20, 0]);
        assert_eq!(column("mpi_io_individual"), [0, 30, 20, 0]);
        assert_eq!(column("comp"), [50, 0, 0, 7]);
        assert_eq!(column("io_writing_time"), [0, 0, 0, 7]);
        assert_eq!(column("mpi_file_iwops"), [0, 3, 0, 0]);
        assert_eq!(column("io_ops_write"), [0, 3, 0, 2]);
        let writes = metrics.find("io_ops_write").unwrap();
        let selects = |path| formulas.selects(writes, tree.paths(), PathId::new(path));
        assert_eq!([0, 1, 2, 3].map(selects), [false, true, false, true]);
        assert!(!formulas.selects(metrics.time, tree.paths(), PathId::new(1)));
    }
}
