//! Rows of derived metrics: their expressions, evaluated at a call path for all locations.

use std::cell::{Cell, RefCell};

use cubex::{CnodeId, MetricId, MetricKind};
use rustc_hash::FxHashMap;

use super::stored::StoredRows;
use super::{DERIVED, Values};
use crate::cubepl::{Flavour, NotUnderstood};
use crate::error::{Error, Result};

type Evaluated = std::result::Result<Vec<f64>, NotUnderstood>;

/// Rows that may be computed for one, so that metrics made of one another do not take forever.
const ROWS: u32 = 10_000;

/// Rows of a derived metric.
#[derive(Debug)]
pub(super) struct DerivedRows<'v> {
    values: &'v Values<'v>,
    metric: MetricId,
    /// Rows of stored metrics that were asked for.
    stored: RefCell<FxHashMap<MetricId, StoredRows<'v>>>,
    /// Why a row could not be read, while the expression is evaluated.
    failure: RefCell<Option<Error>>,
    left: Cell<u32>,
}

impl<'v> DerivedRows<'v> {
    pub(super) fn new(values: &'v Values<'v>, metric: MetricId) -> DerivedRows<'v> {
        DerivedRows {
            values,
            metric,
            stored: RefCell::default(),
            failure: RefCell::default(),
            left: Cell::new(0),
        }
    }

    /// The row of a call path: a value for each location, or one for all. Ratios of nothing are no numbers (NaN).
    ///
    /// # Errors
    /// If a row cannot be read, or the expression not evaluated.
    pub(super) fn row(&self, cnode: CnodeId, flavour: Flavour) -> Result<Vec<f64>> {
        self.left.set(ROWS);
        let row =
            self.of(self.metric, cnode, flavour).and_then(|row| self.without_nothing(row, cnode, flavour));
        row.map_err(|NotUnderstood| {
            let name = &self.values.cube().metrics[self.metric.0].unique_name;
            self.failure.take().unwrap_or_else(|| Error::obstacle(name, DERIVED))
        })
    }

    /// Values of the metric, without those that are quotients of nothing.
    fn without_nothing(&self, row: Vec<f64>, cnode: CnodeId, flavour: Flavour) -> Evaluated {
        let quantity = self.values.of_metric(self.metric);
        let Some(expression) = self.values.postderived(&quantity).filter(|_| quantity.is_quotient) else {
            return Ok(row);
        };
        self.left.set(ROWS);
        let locations = self.values.cube().locations.len();
        let mut is_nothing = vec![true; locations];
        for &needed in expression.operands() {
            let neutral = self.values.neutral(needed);
            let operand = self.of(needed, cnode, flavour)?;
            for (at, is_nothing) in is_nothing.iter_mut().enumerate() {
                *is_nothing &= operand.get(at).or(operand.first()) == Some(&neutral);
            }
        }
        let value = |at: usize| row.get(at).or(row.first()).copied().unwrap_or(f64::NAN);
        let values = is_nothing.iter().enumerate();
        Ok(values.map(|(at, is_nothing)| if *is_nothing { f64::NAN } else { value(at) }).collect())
    }

    /// Values of any metric at a call path.
    fn of(&self, metric: MetricId, cnode: CnodeId, flavour: Flavour) -> Evaluated {
        self.left.set(self.left.get().checked_sub(1).ok_or(NotUnderstood)?);
        let description = &self.values.cube().metrics[metric.0];
        if description.void || self.values.programs.is_void(metric) {
            return Ok(vec![0.0]);
        }
        match (description.kind, flavour) {
            (MetricKind::Postderived, flavour) => self.evaluated(metric, cnode, flavour),
            (MetricKind::PrederivedExclusive, Flavour::Inclusive) => {
                let mut sum = vec![0.0];
                for below in self.subtree(cnode) {
                    add(&mut sum, &self.of(metric, below, Flavour::Exclusive)?, 1.0);
                }
                Ok(sum)
            }
            (MetricKind::PrederivedExclusive, _) => self.evaluated(metric, cnode, Flavour::Exclusive),
            (MetricKind::PrederivedInclusive, Flavour::Inclusive) => {
                self.evaluated(metric, cnode, Flavour::Inclusive)
            }
            (MetricKind::PrederivedInclusive, _) => {
                let mut rest = self.evaluated(metric, cnode, Flavour::Inclusive)?;
                for &child in self.values.calls().children(cnode.0) {
                    add(&mut rest, &self.evaluated(metric, CnodeId(child), Flavour::Inclusive)?, -1.0);
                }
                Ok(rest)
            }
            (_, flavour) => self.of_stored(metric, cnode, flavour).map_err(|error| {
                self.failure.replace(Some(error));
                NotUnderstood
            }),
        }
    }

    fn evaluated(&self, metric: MetricId, cnode: CnodeId, same: Flavour) -> Evaluated {
        let mut operands = |metric, flavour| {
            let flavour = if flavour == Flavour::Same { same } else { flavour };
            self.of(metric, cnode, flavour)
        };
        self.values.programs.evaluate(self.values.cube(), metric, Some(cnode), &mut operands)
    }

    fn of_stored(&self, metric: MetricId, cnode: CnodeId, flavour: Flavour) -> Result<Vec<f64>> {
        let mut stored = self.stored.borrow_mut();
        let rows = match stored.entry(metric) {
            std::collections::hash_map::Entry::Occupied(rows) => rows.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(StoredRows::open(self.values, metric)?)
            }
        };
        let mut sum = vec![rows.combine().neutral(); self.values.cube().locations.len()];
        match flavour {
            Flavour::Inclusive if rows.is_inclusive() => {
                add(&mut sum, &rows.stored(cnode)?.unwrap_or_default(), 1.0);
            }
            Flavour::Inclusive => {
                for below in self.subtree(cnode) {
                    rows.add_exclusive(self.values, below, &mut sum)?;
                }
            }
            _ => {
                rows.add_exclusive(self.values, cnode, &mut sum)?;
            }
        }
        Ok(sum)
    }

    /// A call path and all below it.
    fn subtree(&self, cnode: CnodeId) -> Vec<CnodeId> {
        let mut found = vec![cnode];
        let mut at = 0;
        while let Some(&CnodeId(next)) = found.get(at) {
            found.extend(self.values.calls().children(next).iter().map(|&child| CnodeId(child)));
            at += 1;
        }
        found
    }
}

/// Adds a row to another one, times a factor. A row of one number is that for all locations.
fn add(sum: &mut Vec<f64>, row: &[f64], factor: f64) {
    if let [number] = row {
        sum.iter_mut().for_each(|sum| *sum += factor * number);
        return;
    }
    if let [number] = sum[..] {
        *sum = vec![number; row.len()];
    }
    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += factor * value);
}
