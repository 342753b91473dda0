//! Sums of values: over locations by call path, and over call paths by location.

use cubex::{CnodeId, Step};

use super::{Combine, Quantity, Values};
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

impl Values<'_> {
    /// Values of all call paths, combined over the locations for which `is_selected` holds; in the quantity's unit.
    ///
    /// # Errors
    /// If the quantity has no values, or they cannot be read.
    pub fn totals(&self, quantity: &Quantity, is_selected: &[bool]) -> Result<Totals> {
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
        is_selected: impl Fn(CnodeId) -> bool,
    ) -> Result<Vec<f64>> {
        let combine = quantity.combine;
        let mut sums = vec![combine.neutral(); self.cube().locations.len()];
        let mut rows = self.exclusive(quantity)?;
        while let Some((cnode, row)) = rows.next()? {
            if is_selected(cnode) {
                for (sum, &value) in sums.iter_mut().zip(row) {
                    *sum = combine.of(*sum, value);
                }
            }
        }
        Ok(sums)
    }
}
