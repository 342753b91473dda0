//! Severities: the values of one metric with their sums along the call tree, for small reports.
//!
//! Everything is kept in memory, as floats; integers beyond 53 bits are rounded. Use
//! [`RowReader`](crate::RowReader) for large reports and exact numbers.

use crate::error::{Error, Result};
use crate::forest::Forest;
use crate::report::Report;
use crate::{CnodeId, DataType, LocationId, MetricId, MetricKind};

/// Severities of a metric.
#[derive(Debug)]
pub struct Severities {
    forest: Forest,
    rows: Vec<Option<Vec<f64>>>,
    locations: usize,
    neutral: f64,
    combine: fn(f64, f64) -> f64,
    stored: StoredKind,
}

/// Meaning of the stored values along the call tree.
#[derive(Debug, PartialEq)]
enum StoredKind {
    Exclusive,
    Inclusive,
    /// Minima or maxima: not defined for a call path without its subtree, and never subtracted.
    Extreme,
}

impl Severities {
    pub(crate) fn load(report: &Report, metric: MetricId) -> Result<Severities> {
        let cube = report.cube();
        let mut reader = report.rows(metric)?;
        let (metric, _) = report.metric(metric)?;
        let name = &metric.unique_name;
        if metric.kind.is_derived() {
            return Err(Error::invalid(format!("metric {name}: derived metrics are not evaluated")));
        }
        let mut rows = vec![None; cube.cnodes.len()];
        while let Some((cnode, values)) = reader.next()? {
            let Some(values) = values.to_f64() else {
                let data_type = &metric.data_type;
                return Err(Error::invalid(format!("metric {name}: {data_type} is not a plain number")));
            };
            // A void metric is zero, whatever is stored.
            if let Some(row) = rows.get_mut(cnode.0).filter(|_| !metric.void) {
                *row = Some(values);
            }
        }
        let (combine, stored): (fn(f64, f64) -> f64, _) = match (&metric.data_type, metric.kind) {
            (DataType::MinDouble, _) => (f64::min, StoredKind::Extreme),
            (DataType::MaxDouble, _) => (f64::max, StoredKind::Extreme),
            (_, MetricKind::Exclusive) => (|a, b| a + b, StoredKind::Exclusive),
            _ => (|a, b| a + b, StoredKind::Inclusive),
        };
        Ok(Severities {
            forest: Forest::of_cnodes(cube),
            rows,
            locations: cube.locations.len(),
            neutral: metric.data_type.neutral(),
            combine,
            stored,
        })
    }

    /// The value in the file, or the neutral one if the row is missing.
    #[must_use]
    pub fn stored(&self, cnode: CnodeId, location: LocationId) -> f64 {
        let row = self.rows.get(cnode.0).and_then(Option::as_ref);
        row.and_then(|row| row.get(location.0)).copied().unwrap_or(self.neutral)
    }

    /// The exclusive value of a call path.
    #[must_use]
    pub fn exclusive(&self, cnode: CnodeId, location: LocationId) -> f64 {
        let own = self.stored(cnode, location);
        if self.stored != StoredKind::Inclusive {
            return own;
        }
        let children = self.forest.children(cnode.0).iter();
        children.fold(own, |rest, &child| rest - self.stored(CnodeId(child), location))
    }

    /// The inclusive value of a call path. Takes time in proportion to the size of its subtree.
    #[must_use]
    pub fn inclusive(&self, cnode: CnodeId, location: LocationId) -> f64 {
        if self.stored == StoredKind::Inclusive {
            return self.stored(cnode, location);
        }
        let mut sum = self.neutral;
        let mut pending = vec![cnode.0];
        while let Some(cnode) = pending.pop() {
            sum = (self.combine)(sum, self.stored(CnodeId(cnode), location));
            pending.extend_from_slice(self.forest.children(cnode));
        }
        sum
    }

    /// The total over all call paths and all locations.
    #[must_use]
    pub fn total(&self) -> f64 {
        let locations = (0..self.locations).map(LocationId);
        let values = locations.flat_map(|location| {
            self.forest.roots().iter().map(move |&root| self.inclusive(CnodeId(root), location))
        });
        values.fold(self.neutral, self.combine)
    }
}
