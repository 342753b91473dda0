//! Sums of values: over locations by call path, and over call paths by location.

use cubex::{CnodeId, MetricId, Step};
use rustc_hash::FxHashMap;

use super::{Combine, Postderived, Quantity, Values};
use crate::cubepl::Flavour;
use crate::error::Result;

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
        if let Some(expression) = self.postderived(quantity) {
            return self.totals_of_postderived(&expression, is_selected);
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
        if self.postderived(quantity).is_some() {
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
        let Some(expression) = self.postderived(quantity) else {
            return Ok(grouped(&self.by_location(quantity, is_selected)?, quantity.combine));
        };
        let mut known: FxHashMap<MetricId, Vec<Option<f64>>> = FxHashMap::default();
        for &needed in expression.operands() {
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
            expression.value(true, operand).map(Some)
        };
        (0..groups).map(of_group).collect()
    }

    /// An expression of sums is evaluated for the sums of each call path, and for those of all.
    fn totals_of_postderived(&self, expression: &Postderived<'_>, is_selected: &[bool]) -> Result<Totals> {
        let mut known: FxHashMap<MetricId, Totals> = FxHashMap::default();
        for &needed in expression.operands() {
            known.insert(needed, self.totals(&self.of_metric(needed), is_selected)?);
        }
        let evaluate = |cnode: Option<CnodeId>, same: Flavour| {
            expression.at((cnode, same), &|needed, flavour| {
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
}
