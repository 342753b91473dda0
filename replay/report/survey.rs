//! A first look at all rows of a worker: what its locations computed, and which rows they have.

use super::index::Index;
use super::locations::Locations;
use crate::imbalance::{Own, Part, Total, Totals};

/// What a first look tells.
#[derive(Debug)]
pub(super) struct Survey {
    /// What the locations computed together.
    pub(super) totals: Totals,
    /// By call path of the report: the least and the most that any of them computed, of those that do not come there, and of
    /// those that do.
    extremes: Vec<[Option<[i64; 2]>; 2]>,
    /// The rows that they have by themselves.
    index: Index,
}

impl Survey {
    pub(super) fn new(locations: &Locations<'_>) -> Survey {
        let (metrics, paths) = (locations.metrics.list.len(), locations.paths.len());
        let mut totals = vec![Total::default(); paths];
        let mut extremes = vec![[None; 2]; paths];
        let mut index = Index::new(metrics, paths);
        locations.each_row(&(0..paths as u32), 0..locations.list.len(), |rows| {
            rows.each_work(|_, Own { path, computation, comes, .. }| {
                totals[path as usize].add(computation.into(), comes.into());
                let extreme = &mut extremes[path as usize][usize::from(comes)];
                let [least, most] = extreme.unwrap_or([computation; 2]);
                *extreme = Some([least.min(computation), most.max(computation)]);
            });
            rows.list().for_each(|(metric, _)| index.insert(metric, rows.path));
        });
        Survey { totals: Totals { paths: totals, participants: locations.participants() }, extremes, index }
    }

    /// The rows that the locations have, once they know of all whether these computed more or less.
    pub(super) fn index(mut self, locations: &Locations<'_>) -> Index {
        let Some(computed) = locations.computed else { return self.index };
        for ((path, &is_parallel), extremes) in (0..).zip(&locations.is_parallel).zip(self.extremes) {
            for (comes, extremes) in [false, true].into_iter().zip(extremes) {
                for computation in extremes.into_iter().flatten() {
                    let own = Own { path, is_parallel, computation, comes };
                    for part in Part::ALL.into_iter().filter(|&part| computed.difference(part, own) != 0) {
                        self.index.insert(locations.metrics.imbalance[part as usize], path);
                    }
                }
            }
        }
        self.index
    }
}
