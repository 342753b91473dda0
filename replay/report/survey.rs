//! Survey: a first pass over all rows of a worker, for the sums of computation and the index of rows.

use super::index::Index;
use super::locations::Locations;
use crate::ids::ReportPath;
use crate::imbalance::{ComputationTotal, Own, Totals};

/// Results of the first pass.
#[derive(Debug)]
pub(super) struct Survey {
    /// The computation of all locations together.
    pub(super) totals: Totals,
    /// By call path of the report: the minimum and maximum computation of a location, of those without visits
    /// there, and of those with visits. The minimum is above the maximum if there are none.
    extremes: Vec<[[i64; 2]; 2]>,
    /// The rows that are stored for the locations.
    index: Index,
}

impl Survey {
    pub(super) fn new(locations: &Locations<'_>) -> Survey {
        let (metrics, paths) = (locations.metrics.list.len(), locations.paths.len());
        let mut totals = vec![ComputationTotal::default(); paths];
        let mut extremes = vec![[[i64::MAX, i64::MIN]; 2]; paths];
        let mut index = Index::new(metrics, paths);
        let all = ReportPath::default()..ReportPath::new(paths);
        locations.each_row(&all, 0..locations.list.len(), |rows| {
            let (mut computed, mut visitors) = (0_i128, 0);
            let extremes = &mut extremes[rows.path.index()];
            rows.each_work(|_, Own { computation, comes, .. }| {
                computed += i128::from(computation);
                visitors += u32::from(comes);
                let [least, most] = &mut extremes[usize::from(comes)];
                (*least, *most) = (computation.min(*least), computation.max(*most));
            });
            totals[rows.path.index()].add(computed, visitors);
            let metrics =
                rows.list().map(|(metric, _)| metric).chain(rows.states().map(|(metric, _)| metric));
            metrics.for_each(|metric| index.insert(metric, rows.path));
        });
        Survey { totals: Totals { paths: totals, participants: locations.participants() }, extremes, index }
    }

    /// Returns the rows of the locations, once it is known whether these computed more or less than the mean.
    pub(super) fn index(mut self, locations: &Locations<'_>) -> Index {
        let Some(computed) = locations.computed else { return self.index };
        for ((path, &is_parallel), extremes) in
            locations.paths.all().zip(&locations.is_parallel).zip(self.extremes)
        {
            for (comes, extremes) in [false, true].into_iter().zip(extremes) {
                let [least, most] = extremes;
                for computation in extremes.into_iter().filter(|_| least <= most) {
                    let own = Own { path, is_parallel, computation, comes };
                    let metrics = computed.parts(own).map(|part| locations.metrics.imbalance[part as usize]);
                    metrics.for_each(|metric| self.index.insert(metric, path));
                }
            }
        }
        self.index
    }
}
