//! Comparing: runs are read to numbers ([`reading`]), those of a side joined ([`side`]), call paths of two sides matched
//! ([`matching`]), and differences judged by the noise of several runs ([`samples`]).
//!
//! Nothing that one side did not measure is taken as 0: such a value is `None`, and is named instead of compared.

pub mod advice;
mod alignment;
pub mod calls;
pub mod changes;
pub mod coverage;
pub mod mapping;
pub mod matching;
pub mod measure;
pub mod normalise;
pub mod quantities;
mod ranks;
pub mod reading;
pub mod samples;
pub mod side;
mod similarity;

#[cfg(test)]
mod matching_tests;
