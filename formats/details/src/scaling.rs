//! Runs of several sizes beside each other: the member `scaling.json`, in a report for which others were named.
//!
//! New keys may come; none changes its meaning within a schema.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::member;

/// The name of the member.
pub const SCALING: &str = "scaling.json";

/// The schema that this version writes.
pub const SCHEMA: &str = "replay-scaling/1";

/// Runs of several sizes, and how they grow.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ScalingFile {
    /// What has decided between strong and weak: `user`, `instructions` or `work`.
    pub decided_by: String,
    /// `strong`: the problem stays the same; `weak`: that of each rank does.
    pub kind: String,
    /// Models; none of fewer than five sizes.
    pub models: Vec<GrowthModel>,
    /// Rows of the table; those that are known of at least one run.
    pub rows: Vec<Row>,
    /// The runs, the smallest first.
    pub runs: Vec<Run>,
    /// `replay-scaling/1`.
    pub schema: String,
}

/// Facts of a run; absent where they are not known.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// Cycles of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// The run time on an ideal network, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ideal_run_time: Option<f64>,
    /// Instructions of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// The most work of one rank, in seconds.
    pub most_work: f64,
    /// The number of ranks.
    pub ranks: u64,
    /// The run time, in seconds.
    pub run_time: f64,
    /// The work of all ranks, in seconds.
    pub work: f64,
}

/// A row of the table.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// Such as `speed_up`.
    pub name: String,
    /// By run; null where it is not known.
    pub values: Vec<Option<f64>>,
}

/// A model: `constant + factor · P^(numerator / denominator) · log₂(P)^logarithm`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GrowthModel {
    /// The adjusted coefficient of determination.
    pub adjusted_r2: f64,
    /// Of a part of the parallel efficiency: Amdahl's curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amdahl: Option<AmdahlCurve>,
    /// In seconds of a rank, or a share.
    pub constant: f64,
    /// What the exponent of P is a fraction of.
    pub denominator: u8,
    /// Symmetric mean absolute percentage error of values that are left out.
    pub error: f64,
    /// Likewise the factor of the term.
    pub factor: f64,
    /// For twice and four times the largest number of ranks.
    pub forecasts: Vec<Forecast>,
    /// The exponent of the logarithm.
    pub logarithm: u8,
    /// The name of a row, or `time` of a call path.
    pub name: String,
    /// The exponent of P, as a fraction.
    pub numerator: i8,
    /// The call path, with slashes between its names; empty for rows.
    pub path: String,
}

/// Amdahl's curve: `first / (parallel + (1 - parallel) · P)`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AmdahlCurve {
    /// With one rank.
    pub first: f64,
    /// From 0 to 1.
    pub parallel: f64,
}

/// A value of a model, with the ends of its 95 % interval.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Forecast {
    /// The upper end.
    pub high: f64,
    /// The lower end.
    pub low: f64,
    /// The number of ranks.
    pub ranks: u64,
    /// The value.
    pub value: f64,
}

impl ScalingFile {
    /// Reads the member.
    ///
    /// # Errors
    /// If it is no JSON of this form, or of another schema.
    pub fn parse(bytes: &[u8]) -> Result<ScalingFile> {
        member::parse(SCALING, bytes, SCHEMA, |read: &ScalingFile| &read.schema)
    }

    /// The bytes of the member.
    pub fn to_bytes(&self) -> Vec<u8> {
        member::to_bytes(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_comes_back_as_it_was_and_another_schema_is_refused() {
        let row = Row { name: "transfer".into(), values: vec![Some(0.5), None] };
        let run = Run { ranks: 4, instructions: Some(7), ..Run::default() };
        let file =
            ScalingFile { schema: SCHEMA.into(), rows: vec![row], runs: vec![run], ..ScalingFile::default() };
        assert_eq!(ScalingFile::parse(&file.to_bytes()), Ok(file.clone()));
        // What is not known is not there.
        assert!(!String::from_utf8(file.to_bytes()).unwrap().contains("cycles"));
        let other = ScalingFile { schema: "replay-scaling/9".into(), ..file };
        assert!(ScalingFile::parse(&other.to_bytes()).unwrap_err().to_string().contains("scaling/9"));
    }
}
