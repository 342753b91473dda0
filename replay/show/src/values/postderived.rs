//! Expressions of sums, such as ratios: worked out of what they are made of, as their own values are no parts of anything.

use cubex::{CnodeId, MetricId, MetricKind};

use super::{Combine, DERIVED, Quantity, Source, Values};
use crate::cubepl::{Flavour, NotUnderstood};
use crate::error::{Error, Result};

/// An expression of sums.
#[derive(Debug)]
pub struct Postderived<'v> {
    values: &'v Values<'v>,
    metric: MetricId,
    /// What it is made of in the end, each once.
    operands: Vec<MetricId>,
    is_quotient: bool,
}

impl Values<'_> {
    /// The expression that a quantity is; `None` if its values are those of call paths and locations.
    pub fn postderived(&self, quantity: &Quantity) -> Option<Postderived<'_>> {
        let Source::Postderived(metric) = quantity.source else { return None };
        let mut operands = Vec::new();
        let mut pending = self.programs.needs(metric);
        while let Some(needed) = pending.pop() {
            match self.is_postderived(needed) {
                true => pending.extend(self.programs.needs(needed)),
                false => operands.push(needed),
            }
        }
        operands.sort_unstable();
        operands.dedup();
        Some(Postderived { values: self, metric, operands, is_quotient: quantity.is_quotient })
    }

    /// Whether a metric is an expression of sums that is understood.
    pub(super) fn is_postderived(&self, metric: MetricId) -> bool {
        let kind = self.cube().metrics.get(metric.0).map(|metric| metric.kind);
        kind == Some(MetricKind::Postderived) && self.programs.is_understood(metric)
    }

    /// What stands where a metric has no value.
    pub(super) fn neutral(&self, metric: MetricId) -> f64 {
        Combine::of_metric(&self.cube().metrics[metric.0]).neutral()
    }
}

impl Postderived<'_> {
    /// The metrics that it is made of, whose values can be combined.
    pub fn operands(&self) -> &[MetricId] {
        &self.operands
    }

    /// Its value, alone or with what is below, where `operand` returns that of each of its [`operands`](Self::operands); no number (NaN)
    /// if it is a quotient of nothing.
    ///
    /// # Errors
    /// If it cannot be evaluated.
    pub fn value(&self, is_exclusive: bool, operand: impl Fn(MetricId, bool) -> Option<f64>) -> Result<f64> {
        let same = if is_exclusive { Flavour::Exclusive } else { Flavour::Inclusive };
        self.at((None, same), &|needed, flavour| operand(needed, flavour == Flavour::Exclusive))
    }

    /// The same at a call path, if there is one.
    pub(super) fn at(
        &self,
        (cnode, same): (Option<CnodeId>, Flavour),
        sum: &dyn Fn(MetricId, Flavour) -> Option<f64>,
    ) -> Result<f64> {
        let is_nothing = |&needed: &MetricId| sum(needed, same) == Some(self.values.neutral(needed));
        if self.is_quotient && self.operands.iter().all(is_nothing) {
            return Ok(f64::NAN);
        }
        self.evaluate(self.metric, (cnode, same), sum).map_err(|NotUnderstood| {
            let name = self.values.cube().metrics.get(self.metric.0);
            Error::obstacle(name.map_or("", |metric| &metric.unique_name), DERIVED)
        })
    }

    fn evaluate(
        &self,
        metric: MetricId,
        (cnode, same): (Option<CnodeId>, Flavour),
        sum: &dyn Fn(MetricId, Flavour) -> Option<f64>,
    ) -> std::result::Result<f64, NotUnderstood> {
        let mut operands = |needed: MetricId, flavour| {
            let flavour = if flavour == Flavour::Same { same } else { flavour };
            let number = match self.values.is_postderived(needed) {
                true => self.evaluate(needed, (cnode, flavour), sum)?,
                false => sum(needed, flavour).ok_or(NotUnderstood)?,
            };
            Ok(vec![number])
        };
        match self.values.programs.evaluate(self.values.cube(), metric, cnode, &mut operands)?[..] {
            [number] => Ok(number),
            _ => Err(NotUnderstood),
        }
    }
}
