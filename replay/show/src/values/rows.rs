//! Rows of a quantity, one call path after the other.

use cubex::{CnodeId, Step};

use super::derived::DerivedRows;
use super::stored::StoredRows;
use super::{Combine, Quantity, Source, Values};
use crate::cubepl::Flavour;
use crate::error::{Error, Result};

/// Rows of a metric at any call path.
#[derive(Debug)]
enum Reader<'v> {
    Stored(StoredRows<'v>),
    Derived(DerivedRows<'v>),
}

impl<'v> Reader<'v> {
    /// Combines a row with the exclusive values of a call path; returns whether it has any.
    fn add_exclusive(&self, values: &Values<'v>, cnode: CnodeId, sum: &mut [f64]) -> Result<bool> {
        match self {
            Reader::Stored(rows) => rows.add_exclusive(values, cnode, sum),
            Reader::Derived(rows) => Ok(add(sum, &rows.row(cnode, Flavour::Exclusive)?)),
        }
    }
}

/// Adds a row, or one number for all locations; returns whether it is not zero.
fn add(sum: &mut [f64], row: &[f64]) -> bool {
    match row {
        [number] => sum.iter_mut().for_each(|sum| *sum += number),
        row => sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value),
    }
    row.iter().any(|&value| value != 0.0)
}

/// Exclusive rows of a quantity, in the order of call paths. Call paths without a row have no values.
#[derive(Debug)]
pub struct ExclusiveRows<'v> {
    values: &'v Values<'v>,
    parts: Vec<Reader<'v>>,
    combine: Combine,
    /// Call paths that may have a row, ascending.
    cnodes: std::vec::IntoIter<usize>,
    row: Vec<f64>,
}

impl ExclusiveRows<'_> {
    /// Returns the next row: a value for each location. `None` after the last one.
    ///
    /// # Errors
    /// If it cannot be read.
    #[expect(clippy::should_implement_trait, reason = "a cursor that lends its row and can fail")]
    pub fn next(&mut self) -> Result<Option<(CnodeId, &[f64])>> {
        for cnode in self.cnodes.by_ref().map(CnodeId) {
            self.row.fill(self.combine.neutral());
            let mut has_row = false;
            for part in &self.parts {
                has_row |= part.add_exclusive(self.values, cnode, &mut self.row)?;
            }
            if has_row {
                return Ok(Some((cnode, &self.row)));
            }
        }
        Ok(None)
    }
}

/// Inclusive rows of a quantity; each call path comes after those below it.
#[derive(Debug)]
pub struct InclusiveRows<'v> {
    values: &'v Values<'v>,
    parts: Vec<Reader<'v>>,
    combine: Combine,
    /// Whether rows are no sums, so that each is evaluated.
    is_evaluated: bool,
    steps: Vec<Step>,
    /// Sums of the call paths that are entered and not left, the outermost first.
    open: Vec<Option<Vec<f64>>>,
    row: Vec<f64>,
    /// The exclusive values of the row.
    own: Vec<f64>,
}

impl InclusiveRows<'_> {
    /// Returns the next row: a value for each location. `None` after the last one.
    ///
    /// # Errors
    /// If it cannot be read.
    #[expect(clippy::should_implement_trait, reason = "a cursor that lends its row and can fail")]
    pub fn next(&mut self) -> Result<Option<(CnodeId, &[f64])>> {
        Ok(self.next_with_own()?.map(|(cnode, row, _)| (cnode, row)))
    }

    /// Returns the next row with the exclusive values of its call path, which are unknown if rows are no sums.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn next_with_own(&mut self) -> Result<Option<RowWithOwn<'_>>> {
        while let Some(step) = self.steps.pop() {
            let cnode = match step {
                Step::Enter(cnode) => {
                    self.open.push(None);
                    self.steps.push(Step::Leave(cnode));
                    let children = self.values.calls().children(cnode);
                    self.steps.extend(children.iter().rev().map(|&child| Step::Enter(child)));
                    continue;
                }
                Step::Leave(cnode) => CnodeId(cnode),
            };
            let below = self.open.pop().flatten();
            self.row.fill(self.combine.neutral());
            let mut has_row = false;
            for part in &self.parts {
                has_row |= match part {
                    Reader::Derived(rows) if self.is_evaluated => {
                        add(&mut self.row, &rows.row(cnode, Flavour::Inclusive)?)
                    }
                    part => part.add_exclusive(self.values, cnode, &mut self.row)?,
                };
            }
            self.own.copy_from_slice(&self.row);
            if let Some(below) = below {
                has_row = true;
                combine_rows(self.combine, &mut self.row, &below);
            }
            if !has_row {
                continue;
            }
            if !self.is_evaluated {
                match self.open.last_mut() {
                    Some(Some(above)) => combine_rows(self.combine, above, &self.row),
                    Some(above) => *above = Some(self.row.clone()),
                    None => {}
                }
            }
            return Ok(Some((cnode, &self.row, (!self.is_evaluated).then_some(&self.own[..]))));
        }
        Ok(None)
    }
}

/// A call path, its inclusive values, and its exclusive ones.
pub type RowWithOwn<'r> = (CnodeId, &'r [f64], Option<&'r [f64]>);

fn combine_rows(combine: Combine, sum: &mut [f64], row: &[f64]) {
    for (sum, &value) in sum.iter_mut().zip(row) {
        *sum = combine.of(*sum, value);
    }
}

impl Values<'_> {
    /// Rows with exclusive values, of the call path alone.
    ///
    /// # Errors
    /// If the quantity has no values, or they cannot be read.
    pub fn exclusive<'v>(&'v self, quantity: &Quantity) -> Result<ExclusiveRows<'v>> {
        self.exclusive_of(quantity, &|_| true)
    }

    /// The same rows of the call paths for which `is_selected` holds: others are not read.
    ///
    /// # Errors
    /// If the quantity has no values, or they cannot be read.
    pub fn exclusive_of<'v>(
        &'v self,
        quantity: &Quantity,
        is_selected: &dyn Fn(CnodeId) -> bool,
    ) -> Result<ExclusiveRows<'v>> {
        let parts = self.open(quantity)?;
        let mut cnodes: Vec<usize> = Vec::new();
        for part in &parts {
            match part {
                Reader::Stored(rows) => cnodes.extend(rows.cnodes()),
                Reader::Derived(_) => cnodes.extend(0..self.cube().cnodes.len()),
            }
        }
        cnodes.retain(|&cnode| is_selected(CnodeId(cnode)));
        cnodes.sort_unstable();
        cnodes.dedup();
        let row = vec![0.0; self.cube().locations.len()];
        let cnodes = cnodes.into_iter();
        Ok(ExclusiveRows { values: self, parts, combine: quantity.combine, cnodes, row })
    }

    /// Rows with inclusive values: of the call path with those below. In memory there is a row for each call path
    /// between the current one and its root.
    ///
    /// # Errors
    /// If the quantity has no values, or they cannot be read.
    pub fn inclusive<'v>(&'v self, quantity: &Quantity) -> Result<InclusiveRows<'v>> {
        Ok(InclusiveRows {
            values: self,
            parts: self.open(quantity)?,
            combine: quantity.combine,
            is_evaluated: matches!(quantity.source, Source::Postderived(_)),
            steps: self.calls().roots().iter().rev().map(|&root| Step::Enter(root)).collect(),
            open: Vec::new(),
            row: vec![0.0; self.cube().locations.len()],
            own: vec![0.0; self.cube().locations.len()],
        })
    }

    fn open<'v>(&'v self, quantity: &Quantity) -> Result<Vec<Reader<'v>>> {
        let open = |&metric| Ok(Reader::Stored(StoredRows::open(self, metric)?));
        match &quantity.source {
            Source::Stored(metrics) => metrics.iter().map(open).collect(),
            Source::Derived(metric) | Source::Postderived(metric) => {
                Ok(vec![Reader::Derived(DerivedRows::new(self, *metric))])
            }
            Source::Nowhere(why) => Err(Error::obstacle(&quantity.name, why)),
        }
    }
}
