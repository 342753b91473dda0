//! Measures: in which form sums over locations are compared.

use clap::ValueEnum;

use super::reading::Reading;
use crate::values::Unit;

/// The form of values.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Measure {
    /// Per CPU location: what it contributes to the length of the run.
    #[default]
    Mean,
    /// Summed over CPU locations.
    Total,
    /// As a share of the run's time.
    Share,
    /// Per visit of the call path.
    Visit,
    /// Of the worst location.
    Max,
}

impl Measure {
    /// What values are, for titles.
    pub fn title(self) -> &'static str {
        match self {
            Measure::Mean => "mean per location",
            Measure::Total => "total",
            Measure::Share => "share of the run",
            Measure::Visit => "per visit",
            Measure::Max => "worst location",
        }
    }

    /// The unit of values whose sums have a unit.
    pub fn unit(self, unit: &Unit) -> Unit {
        if self == Measure::Share { Unit::Other("%".into()) } else { unit.clone() }
    }

    /// A sum over locations in this form; `most` is the value of the worst location, and `visits` the visits of its call
    /// paths. `None` if it does not exist. Shares are in percent.
    pub fn of(self, run: &Reading<'_>, sum: f64, most: Option<f64>, visits: Option<f64>) -> Option<f64> {
        match self {
            Measure::Mean => (run.locations > 0.0).then(|| sum / run.locations),
            Measure::Total => Some(sum),
            Measure::Share => (run.total > 0.0).then(|| 100.0 * sum / run.total),
            Measure::Visit if sum == 0.0 => Some(0.0),
            Measure::Visit => visits.filter(|&visits| visits > 0.0).map(|visits| sum / visits),
            Measure::Max => most.filter(|most| !most.is_nan()),
        }
    }
}
