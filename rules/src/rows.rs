//! Rows as callers give them, and facts of the run.

/// A whole number that is not there.
pub const ABSENT: i64 = i64::MIN;

/// A flag that is not there.
pub const ABSENT_FLAG: u8 = 2;

/// Rows of a block at most; callers may give more, which are taken in blocks of as many (advice 5.3).
pub(crate) const BLOCK: usize = 1024;

/// Values of a column, one for each row.
#[derive(Clone, Copy, Debug)]
pub enum Values<'v> {
    /// Of types count, time, instant, bytes, rank, path, operation and text; [`ABSENT`] if not there. Exact up to 2^53.
    Whole(&'v [i64]),
    /// Of types number and rate, which is bytes per tick; NaN if not there.
    Numbers(&'v [f64]),
    /// Of type bool: 0, 1, or [`ABSENT_FLAG`].
    Flags(&'v [u8]),
    /// None: this analysis has no such column.
    Missing,
}

/// Values of a column that were made for it.
#[derive(Clone, Debug)]
pub enum OwnedValues {
    /// As [`Values::Whole`].
    Whole(Vec<i64>),
    /// As [`Values::Numbers`].
    Numbers(Vec<f64>),
    /// As [`Values::Flags`].
    Flags(Vec<u8>),
    /// As [`Values::Missing`].
    Missing,
}

impl OwnedValues {
    /// The values.
    #[must_use]
    pub fn values(&self) -> Values<'_> {
        match self {
            OwnedValues::Whole(values) => Values::Whole(values),
            OwnedValues::Numbers(values) => Values::Numbers(values),
            OwnedValues::Flags(values) => Values::Flags(values),
            OwnedValues::Missing => Values::Missing,
        }
    }
}

/// Rows of a table by column.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'v> {
    /// How many.
    pub count: usize,
    /// For each column of the table its values. Those that no rule reads may be missing.
    pub columns: &'v [Values<'v>],
}

/// What is known of the run.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// How long a tick is.
    pub ticks_per_second: f64,
    /// Facts by their position in the schema; `None` if not there. Times are ticks, names are numbers, truth is 1.
    pub facts: Vec<Option<f64>>,
}

impl Run {
    /// A fact; NaN if it is not there.
    pub(crate) fn fact(&self, position: usize) -> f64 {
        self.facts.get(position).copied().flatten().unwrap_or(f64::NAN)
    }
}
