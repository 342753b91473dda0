//! Gates: conditions under which a job fails, such as `mpi_latesender@main/** > +10%`.
//!
//! Read by [`parse`], evaluated over one or two sides by [`evaluate`], and told to CI systems by [`reports`].

pub mod evaluate;
mod numbers;
pub mod parse;
pub mod reports;

use std::path::Path;

use crate::error::{Error, Result};
use crate::paths::Glob;
use crate::values::Unit;

/// The largest file of gates, in bytes.
const LARGEST_FILE: u64 = 1 << 20;

/// A gate. It fails if its condition holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Gate {
    /// As the user has written it.
    pub text: String,
    /// How values of locations become one.
    pub stat: Stat,
    /// What is looked at.
    pub name: Name,
    /// At which call paths, with those below.
    pub path: Option<Glob>,
    /// How it is compared.
    pub operator: Operator,
    /// With what.
    pub limit: Limit,
}

/// How values of locations become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stat {
    /// The mean over CPU locations.
    #[default]
    Mean,
    /// The sum over CPU locations.
    Total,
    /// The value of the worst CPU location.
    Max,
    /// The value that 95 % of the CPU locations do not exceed.
    P95,
    /// The largest value divided by the mean.
    Imbalance,
    /// The mean over CPU locations, at call paths that only B has.
    New,
}

/// What is looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Name {
    /// A metric by its unique name, or the pseudo-metric `waiting`.
    Metric(String),
    /// The run's time.
    Run,
    /// The share of the MPI time that was analysed.
    Coverage,
    /// Findings of a class.
    Findings(String),
    /// A factor of efficiency.
    Efficiency(String),
    /// Advice of B that A does not have, or culprits, if advice was not looked for on both sides.
    NewActions,
    /// A number of the advice.
    Advice(AdviceNumber),
}

/// A number of the advice of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdviceNumber {
    /// How much there is.
    Count,
    /// The largest bound of a gain.
    Most,
    /// The largest gain, as replayed.
    Expected,
}

/// How a value is compared with the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Operator {
    /// Whether it holds between two numbers.
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Operator::Above => value > limit,
            Operator::AtLeast => value >= limit,
            Operator::Below => value < limit,
            Operator::AtMost => value <= limit,
        }
    }

    /// Whether it asks for large values.
    pub fn is_above(self) -> bool {
        matches!(self, Operator::Above | Operator::AtLeast)
    }
}

/// With what a value is compared. The first three, and amounts that are changes, need two sides.
#[derive(Clone, PartialEq, Debug)]
pub enum Limit {
    /// `1.1x`: a ratio to A.
    Ratio(f64),
    /// `+5%`: a change relative to A, as a fraction.
    Relative(f64),
    /// `+2pp`: a change of the share of the run's time, as a fraction.
    Points(f64),
    /// `20%`: a share of the run's time in B, as a fraction.
    Share(f64),
    /// `0.5s`, `+0.5s`, `3`, `+3`: an amount, or a change of it.
    Amount {
        /// In seconds, bytes, or as it is.
        value: f64,
        /// Its unit; [`Unit::Count`] without one.
        unit: Unit,
        /// Whether it has a sign, and so is a change.
        is_change: bool,
    },
}

impl Gate {
    /// Whether the gate compares two sides, and so fails on certain changes only.
    pub fn is_of_change(&self) -> bool {
        match self.limit {
            Limit::Ratio(_) | Limit::Relative(_) | Limit::Points(_) => true,
            Limit::Amount { is_change, .. } => is_change,
            Limit::Share(_) => false,
        }
    }

    /// Whether the gate cannot be evaluated for one report.
    pub fn needs_two_sides(&self) -> bool {
        self.is_of_change() || self.stat == Stat::New || self.name == Name::NewActions
    }
}

/// Reads a file of gates: one in each line; empty lines and those that begin with `#` are left out.
///
/// # Errors
/// If it cannot be read, or a gate is wrong.
pub fn read(path: &Path) -> Result<Vec<Gate>> {
    let cannot = |error: std::io::Error| {
        Error::new(format!("cannot read the gates: {error}; expected a file with a gate in each line"))
            .in_file(path)
    };
    let size = std::fs::metadata(path).map_err(cannot)?.len();
    if size > LARGEST_FILE {
        return Err(
            Error::new(format!("{size} bytes, expected at most {LARGEST_FILE} of gates")).in_file(path)
        );
    }
    let text = std::fs::read_to_string(path).map_err(cannot)?;
    let mut gates = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let gate = parse::gate(line).map_err(|wrong| Error::from(wrong).in_line(number + 1).in_file(path))?;
        gates.push(gate);
    }
    Ok(gates)
}
