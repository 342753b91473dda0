//! Rows of a stored metric at any call path, exclusive or inclusive as they are asked for.

use cubex::{CnodeId, MetricId, MetricKind, RowReader};
use rustc_hash::FxHashMap;

use super::{Combine, Values};
use crate::error::Result;

/// Rows of one stored metric.
#[derive(Debug)]
pub(super) struct StoredRows<'r> {
    reader: RowReader<'r>,
    /// The number of the row of a call path.
    places: FxHashMap<usize, usize>,
    combine: Combine,
    /// Whether stored values include the call paths below.
    is_inclusive: bool,
}

impl<'r> StoredRows<'r> {
    /// Opens the rows of a metric.
    ///
    /// # Errors
    /// If the metric does not exist, or its members are damaged.
    pub(super) fn open(values: &Values<'r>, metric: MetricId) -> Result<StoredRows<'r>> {
        let reader = values.report.rows(metric)?;
        let description = &values.cube().metrics[metric.0];
        let combine = Combine::of_metric(description);
        // A void metric is zero, whatever is stored.
        let cnodes = if description.void { &[] } else { reader.cnodes() };
        let places = cnodes.iter().enumerate().map(|(row, cnode)| (cnode.0, row)).collect();
        let is_inclusive = combine == Combine::Sum && description.kind != MetricKind::Exclusive;
        Ok(StoredRows { reader, places, combine, is_inclusive })
    }

    /// Call paths that may have an exclusive value; all others have none.
    pub(super) fn cnodes(&self) -> impl Iterator<Item = usize> {
        self.places.keys().copied()
    }

    /// Whether stored values include the call paths below.
    pub(super) fn is_inclusive(&self) -> bool {
        self.is_inclusive
    }

    /// How rows become one.
    pub(super) fn combine(&self) -> Combine {
        self.combine
    }

    /// The row as it is stored.
    pub(super) fn stored(&self, cnode: CnodeId) -> Result<Option<Vec<f64>>> {
        let Some(&row) = self.places.get(&cnode.0) else { return Ok(None) };
        Ok(self.reader.row(row)?.to_f64())
    }

    /// Combines a row with the exclusive values of a call path; returns whether it has any.
    ///
    /// # Errors
    /// If rows cannot be read.
    pub(super) fn add_exclusive(&self, values: &Values<'r>, cnode: CnodeId, sum: &mut [f64]) -> Result<bool> {
        let Some(row) = self.stored(cnode)? else { return Ok(false) };
        for (sum, value) in sum.iter_mut().zip(row) {
            *sum = self.combine.of(*sum, value);
        }
        if self.is_inclusive {
            for &child in values.calls().children(cnode.0) {
                for (sum, value) in sum.iter_mut().zip(self.stored(CnodeId(child))?.into_iter().flatten()) {
                    *sum -= value;
                }
            }
        }
        Ok(true)
    }
}
