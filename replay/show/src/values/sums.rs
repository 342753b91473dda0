//! Sums of values: over locations by call path, and over call paths by location.

use cubex::{CnodeId, MetricId, Step};
use rustc_hash::FxHashMap;

use super::{Combine, DERIVED, Quantity, Source, Values};
use crate::cubepl::{Flavour, NotUnderstood};
use crate::error::{Error, Result};

/// Values of call paths, combined over locations. Positions are those of call paths.
#[derive(Clone, PartialEq, Debug)]
pub struct Totals {
    /// Of the call path alone.
    pub exclusive: Vec<f64>,
    /// With those below.
    pub inclusive: Vec<f64>,
    /// Of all call paths.
    pub all: f64,
}

/// Combines values of all locations in groups; `None` for groups that have none.
pub type Grouped<'g> = dyn Fn(&[f64], Combine) -> Vec<Option<f64>> + 'g;

impl Values<'_> {
    /// Values of all call paths, combined over the locations for which `is_selected` holds; in the quantity's unit.
    ///
    /// # Errors
    /// If the quantity has no values, or they cannot be read.
    pub fn totals(&self, quantity: &Quantity, is_selected: &[bool]) -> Result<Totals> {
        if let Source::Postderived(metric) = quantity.source {
            return self.totals_of_postderived(metric, is_selected);
        }
        let combine = quantity.combine;
        let mut exclusive = vec![combine.neutral(); self.cube().cnodes.len()];
        let mut rows = self.exclusive(quantity)?;
        while let Some((cnode, row)) = rows.next()? {
            let selected = row.iter().zip(is_selected).filter(|(_, is_selected)| **is_selected);
            exclusive[cnode.0] = selected.fold(combine.neutral(), |sum, (&value, _)| combine.of(sum, value));
        }
        Ok(self.with_those_below(combine, exclusive))
    }

    /// Sums of exclusive values along the call tree.
    pub fn with_those_below(&self, combine: Combine, exclusive: Vec<f64>) -> Totals {
        let mut inclusive = exclusive.clone();
        for step in self.calls().walk() {
            let Step::Leave(cnode) = step else { continue };
            if let Some(parent) = self.cube().cnodes[cnode].parent {
                inclusive[parent.0] = combine.of(inclusive[parent.0], inclusive[cnode]);
            }
        }
        let all = self
            .calls()
            .roots()
            .iter()
            .fold(combine.neutral(), |sum, &root| combine.of(sum, inclusive[root]));
        Totals { exclusive, inclusive, all }
    }

    /// Values of all locations, combined over the call paths for which `is_selected` holds, each alone; in the
    /// quantity's unit.
    ///
    /// # Errors
    /// If the quantity has no values, or they cannot be read.
    pub fn by_location(
        &self,
        quantity: &Quantity,
        is_selected: &dyn Fn(CnodeId) -> bool,
    ) -> Result<Vec<f64>> {
        if let Source::Postderived(_) = quantity.source {
            let each = |row: &[f64], _| row.iter().copied().map(Some).collect();
            let row = self.by_group(quantity, is_selected, &each)?;
            return Ok(row.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect());
        }
        let combine = quantity.combine;
        let mut sums = vec![combine.neutral(); self.cube().locations.len()];
        let mut rows = self.exclusive_of(quantity, is_selected)?;
        while let Some((_, row)) = rows.next()? {
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum = combine.of(*sum, value);
            }
        }
        Ok(sums)
    }

    /// Values of groups of locations, combined as [`by_location`](Self::by_location): `grouped` returns those of all groups for values of
    /// all locations, `None` where it has none. Of expressions of sums, such as ratios, that is done with what they are made of.
    ///
    /// # Errors
    /// If the quantity has no values, or they cannot be read.
    pub fn by_group(
        &self,
        quantity: &Quantity,
        is_selected: &dyn Fn(CnodeId) -> bool,
        grouped: &Grouped<'_>,
    ) -> Result<Vec<Option<f64>>> {
        let Source::Postderived(metric) = quantity.source else {
            return Ok(grouped(&self.by_location(quantity, is_selected)?, quantity.combine));
        };
        let mut known: FxHashMap<MetricId, Vec<Option<f64>>> = FxHashMap::default();
        for needed in self.summed(metric) {
            let operand = self.of_metric(needed);
            known.insert(needed, grouped(&self.by_location(&operand, is_selected)?, operand.combine));
        }
        let groups = match known.values().next() {
            Some(groups) => groups.len(),
            // It is made of nothing.
            None => grouped(&vec![0.0; self.cube().locations.len()], Combine::Sum).len(),
        };
        let of_group = |at: usize| {
            if known.values().any(|groups| groups[at].is_none()) {
                return Ok(None);
            }
            let operand = |needed, _| *known.get(&needed)?.get(at)?;
            self.worked_out(metric, (None, Flavour::Exclusive), &operand).map(Some)
        };
        (0..groups).map(of_group).collect()
    }

    /// An expression of sums is evaluated for the sums of each call path, and for those of all.
    fn totals_of_postderived(&self, metric: MetricId, is_selected: &[bool]) -> Result<Totals> {
        let mut known = FxHashMap::default();
        for needed in self.summed(metric) {
            known.insert(needed, self.totals(&self.of_metric(needed), is_selected)?);
        }
        let evaluate = |cnode: Option<CnodeId>, same: Flavour| {
            self.worked_out(metric, (cnode, same), &|needed, flavour| {
                let totals = known.get(&needed)?;
                Some(match (cnode, flavour) {
                    (None, _) => totals.all,
                    (Some(cnode), Flavour::Exclusive) => totals.exclusive[cnode.0],
                    (Some(cnode), _) => totals.inclusive[cnode.0],
                })
            })
        };
        let of_all = |flavour| {
            let cnodes = (0..self.cube().cnodes.len()).map(|cnode| evaluate(Some(CnodeId(cnode)), flavour));
            cnodes.collect::<Result<Vec<f64>>>()
        };
        Ok(Totals {
            exclusive: of_all(Flavour::Exclusive)?,
            inclusive: of_all(Flavour::Inclusive)?,
            all: evaluate(None, Flavour::Inclusive)?,
        })
    }

    /// What an expression of sums, such as a ratio, is made of: quantities whose values can be combined; `None` of all other quantities.
    pub fn operands(&self, quantity: &Quantity) -> Option<Vec<Quantity>> {
        let Source::Postderived(metric) = quantity.source else { return None };
        Some(self.summed(metric).into_iter().map(|needed| self.of_metric(needed)).collect())
    }

    /// The value of an expression of sums, alone or with what is below, where `operand` returns that of each of its
    /// [`operands`](Self::operands).
    ///
    /// # Errors
    /// If it is no such expression, or cannot be evaluated.
    pub fn of_operands(
        &self,
        quantity: &Quantity,
        is_exclusive: bool,
        operand: impl Fn(MetricId, bool) -> Option<f64>,
    ) -> Result<f64> {
        let Source::Postderived(metric) = quantity.source else {
            return Err(Error::obstacle(&quantity.name, DERIVED));
        };
        let same = if is_exclusive { Flavour::Exclusive } else { Flavour::Inclusive };
        self.worked_out(metric, (None, same), &|needed, flavour| {
            operand(needed, flavour == Flavour::Exclusive)
        })
    }

    /// The metrics that an expression of sums is made of in the end; each once.
    pub(super) fn summed(&self, metric: MetricId) -> Vec<MetricId> {
        let mut summed = Vec::new();
        let mut pending = self.programs.needs(metric);
        while let Some(needed) = pending.pop() {
            match self.of_metric(needed).source {
                Source::Postderived(needed) => pending.extend(self.programs.needs(needed)),
                _ => summed.push(needed),
            }
        }
        summed.sort_unstable();
        summed.dedup();
        summed
    }

    /// The value of an expression of sums; no number (NaN) if it is a quotient of nothing.
    fn worked_out(
        &self,
        metric: MetricId,
        (cnode, same): (Option<CnodeId>, Flavour),
        sum: &dyn Fn(MetricId, Flavour) -> Option<f64>,
    ) -> Result<f64> {
        let is_nothing =
            |&needed: &MetricId| sum(needed, same) == Some(self.of_metric(needed).combine.neutral());
        match self.programs.is_quotient(metric) && self.summed(metric).iter().all(is_nothing) {
            true => Ok(f64::NAN),
            false => self.of_sums(metric, (cnode, same), sum),
        }
    }

    fn of_sums(
        &self,
        metric: MetricId,
        (cnode, same): (Option<CnodeId>, Flavour),
        sum: &dyn Fn(MetricId, Flavour) -> Option<f64>,
    ) -> Result<f64> {
        let mut operands = |needed: MetricId, flavour| {
            let flavour = if flavour == Flavour::Same { same } else { flavour };
            let number = match self.of_metric(needed).source {
                Source::Postderived(needed) => self.of_sums(needed, (cnode, flavour), sum).ok(),
                _ => sum(needed, flavour),
            };
            Ok(vec![number.ok_or(NotUnderstood)?])
        };
        match self.programs.evaluate(self.cube(), metric, cnode, &mut operands).as_deref() {
            Ok(&[number]) => Ok(number),
            _ => Err(self.obstacle(metric)),
        }
    }

    fn obstacle(&self, metric: MetricId) -> Error {
        let name = self.cube().metrics.get(metric.0).map_or("", |metric| &metric.unique_name);
        Error::obstacle(name, DERIVED)
    }
}
