//! Delay costs of the whole report: what the costs of a place are a share of.

use cubex::CnodeId;

use super::Run;
use crate::error::{Result, or_obstacle};
use crate::opened::Opened;
use crate::unrecorded;
use crate::values::{DELAY, Values};

/// Metrics of delay costs of idle threads, which do not wait in the sense of the wait states.
const OF_IDLE_THREADS: [&str; 2] = ["delay_ompidle", "delay_ompidle_longterm"];

/// What rounding adds to sums.
const ROUNDING: f64 = 1e-6;

/// Delay costs of all places of a report.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Costs {
    /// Their sum, in seconds.
    pub all: f64,
    /// Whether some of it is time of idle threads.
    pub has_idle: bool,
    /// Whether there are further costs of start-up and shutdown, which are not in the sum.
    pub is_without_start_up: bool,
    /// The waiting of the run in seconds, if all costs are a part of it; `None` if some are not: of idle threads, or of
    /// start-up and shutdown.
    pub waiting: Option<f64>,
    /// The part of the costs whose place is time that was not recorded: what was done is not known.
    pub unrecorded: f64,
}

impl Costs {
    /// The costs of a report; `None` if it has no root causes.
    ///
    /// # Errors
    /// If values cannot be read.
    pub fn new(opened: &Opened, values: &Values<'_>, run: &Run) -> Result<Option<Costs>> {
        let mut is_without_start_up = false;
        let off = |cnode: CnodeId| unrecorded::is_off(values.cube(), cnode);
        let unrecorded = sum_at(values, DELAY, &off)?.unwrap_or(0.0);
        let all = match &opened.manifest {
            Some(manifest) => manifest.summary.costs,
            None => {
                let between = match values.find(DELAY) {
                    Some(quantity) => run.sum(values, &quantity)?,
                    None => None,
                };
                let between = between.map(|seconds| seconds + unrecorded);
                let with_start_up = sum(values, DELAY)?;
                is_without_start_up =
                    between.zip(with_start_up).is_some_and(|(part, all)| part < all * (1.0 - ROUNDING));
                between
            }
        };
        let Some(all) = all else { return Ok(None) };
        let mut has_idle = false;
        for name in OF_IDLE_THREADS {
            has_idle |= sum(values, name)?.is_some_and(|seconds| seconds > 0.0);
        }
        let costs = Costs::of(all, has_idle, run.waiting);
        Ok(Some(Costs { is_without_start_up, unrecorded: unrecorded.min(all), ..costs }))
    }

    fn of(all: f64, has_idle: bool, waiting: Option<f64>) -> Costs {
        let contains = |waiting: &f64| !has_idle && *waiting > 0.0 && all <= waiting * (1.0 + ROUNDING);
        Costs {
            all,
            has_idle,
            is_without_start_up: false,
            waiting: waiting.filter(contains),
            unrecorded: 0.0,
        }
    }

    /// A part of the costs as a share, from 0 to 1: of the waiting if all costs are waiting, else of all costs.
    pub fn share(&self, seconds: f64) -> f64 {
        let whole = self.waiting.unwrap_or(self.all);
        if whole > 0.0 { seconds / whole } else { 0.0 }
    }

    /// What shares are of, in words.
    pub fn whole(&self) -> &'static str {
        if self.waiting.is_some() { "waiting" } else { "delay costs" }
    }

    /// What these leave out, in words behind them.
    pub fn limits(&self) -> &'static str {
        if self.waiting.is_none() && self.is_without_start_up { " apart from start-up" } else { "" }
    }

    /// The share of the waiting that no place has caused, as far as the analysis knows; `None` if costs do not say.
    pub fn without_cause(&self) -> Option<f64> {
        self.waiting.map(|waiting| (1.0 - (self.all - self.unrecorded) / waiting).max(0.0))
    }
}

/// The sum of a metric over all call paths and locations; `None` if the report does not have it.
fn sum(values: &Values<'_>, name: &str) -> Result<Option<f64>> {
    sum_at(values, name, &|_| true)
}

/// The same over some call paths.
fn sum_at(values: &Values<'_>, name: &str, is_counted: &dyn Fn(CnodeId) -> bool) -> Result<Option<f64>> {
    let Some(quantity) = values.find(name) else { return Ok(None) };
    Ok(or_obstacle(values.by_location(&quantity, is_counted))?.ok().map(|row| row.iter().sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_waiting_if_all_costs_are_waiting() {
        let costs = Costs::of(6.0, false, Some(10.0));
        assert_eq!((costs.share(4.0), costs.whole()), (0.4, "waiting"));
        assert_eq!(costs.without_cause(), Some(0.4));
        assert_eq!(Costs::of(10.000_001, false, Some(10.0)).without_cause(), Some(0.0));
        let unrecorded = Costs { unrecorded: 1.0, ..costs };
        assert_eq!((unrecorded.share(4.0), unrecorded.without_cause()), (0.4, Some(0.5)));
    }

    #[test]
    fn costs_of_start_up_are_said_to_be_left_out() {
        let costs = |waiting| Costs { is_without_start_up: true, ..Costs::of(6.0, false, waiting) };
        assert_eq!(costs(None).limits(), " apart from start-up");
        assert_eq!(costs(Some(10.0)).limits(), "", "a share of the waiting, in which start-up is not");
        assert_eq!(Costs::of(6.0, true, None).limits(), "");
    }

    #[test]
    fn shares_are_of_the_costs_if_some_are_no_waiting() {
        for costs in [
            Costs::of(16.0, false, Some(10.0)),
            Costs::of(16.0, true, Some(20.0)),
            Costs::of(16.0, false, None),
        ] {
            assert_eq!((costs.share(4.0), costs.whole()), (0.25, "delay costs"), "{costs:?}");
            assert_eq!(costs.without_cause(), None, "{costs:?}");
        }
    }
}
