//! How far a trace can be trusted: what lowers the confidence in all advice (advice 3.2, `data` and `clock`), over the whole run.

use super::Known;
use super::bounds::{waited, waiting_metrics};
use crate::coverage::{Coverage, Fate};
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::findings::{Finding, FindingClass, Findings};
use crate::tools::Tools;
use crate::wire::{self, Wire, wire};

/// What a trace that lacks data, or contradicts itself, leaves of the confidence.
const WITH_FINDINGS: f64 = 0.5;

/// What is known of the data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trust {
    /// The share of the time in MPI that was analysed, but of start-up and of the end; `None` if there is no such time.
    pub analysed: Option<f64>,
    /// The part of all waiting that is longer than the error of the clocks; `None` if nobody waits.
    pub certain: Option<f64>,
    /// Whether data are missing or contradict each other otherwise than by clocks.
    pub has_findings: bool,
}

/// What a worker tells the others.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    analysed: i64,
    in_mpi: i64,
    doubtful: i64,
    waiting: i64,
    has_findings: bool,
}

wire!(Told { analysed, in_mpi, doubtful, waiting, has_findings });

impl Trust {
    /// Of all ranks.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn find(
        tools: &Tools<'_>,
        known: Known<'_>,
        exchange: &mut dyn Exchange,
    ) -> Result<Trust, Error> {
        let mut coverage = Coverage::default();
        known.results.iter().for_each(|results| coverage.merge(results.coverage));
        let threads = known.results.iter().flat_map(|results| &results.severities);
        let doubtful = waiting_metrics(tools).filter_map(|metric| known.doubtful.waiting.get(&metric));
        let own = Told {
            analysed: coverage.ticks(Fate::Analysed),
            in_mpi: coverage.total(),
            doubtful: doubtful.copied().fold(0, i64::saturating_add),
            waiting: threads.map(|severities| waited(tools, severities)).fold(0, i64::saturating_add),
            has_findings: is_in_doubt(known.findings)
                || known.results.iter().any(|results| is_in_doubt(&results.findings)),
        };
        let mut words = Batch::new();
        own.put(&mut words);
        let mut all = Told::default();
        for batch in share(exchange, words)? {
            wire::all::<Told>(&batch).for_each(|told| all.add(&told));
        }
        Ok(all.trust())
    }

    /// What it leaves of the confidence in an advice about waiting, or about the time of calls, which needs no analysis.
    pub(super) fn of(&self, is_of_calls: bool) -> f64 {
        let with_findings = if self.has_findings { WITH_FINDINGS } else { 1.0 };
        let of_waiting = self.analysed.unwrap_or(1.0) * self.certain.unwrap_or(1.0);
        if is_of_calls { with_findings } else { with_findings * of_waiting }
    }
}

/// Whether what was found is more than worth knowing. How wrong clocks are is part of their error.
fn is_in_doubt(findings: &Findings) -> bool {
    let is_of_clocks = |it: &Finding| matches!(it, Finding::ClockMessage | Finding::ClockCollective);
    findings.occurred().any(|it| it.class() != FindingClass::Note && !is_of_clocks(&it))
}

impl Told {
    fn add(&mut self, other: &Told) {
        self.analysed = self.analysed.saturating_add(other.analysed);
        self.in_mpi = self.in_mpi.saturating_add(other.in_mpi);
        self.doubtful = self.doubtful.saturating_add(other.doubtful);
        self.waiting = self.waiting.saturating_add(other.waiting);
        self.has_findings |= other.has_findings;
    }

    #[expect(clippy::cast_precision_loss)]
    fn trust(&self) -> Trust {
        let part = |part: i64, all: i64| (all > 0).then(|| (part as f64 / all as f64).clamp(0.0, 1.0));
        Trust {
            analysed: part(self.analysed, self.in_mpi),
            certain: part(self.waiting - self.doubtful, self.waiting),
            has_findings: self.has_findings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_analysed_or_within_the_clock_error_lowers_confidence_in_what_waiting_says() {
        let mut all = Told { analysed: 60, in_mpi: 80, ..Told::default() };
        all.add(&Told { analysed: 20, in_mpi: 20, doubtful: 10, waiting: 40, has_findings: false });
        let trust = all.trust();
        assert_eq!(trust, Trust { analysed: Some(0.8), certain: Some(0.75), has_findings: false });
        assert_eq!([trust.of(false), trust.of(true)], [0.8 * 0.75, 1.0]);
        all.add(&Told { has_findings: true, ..Told::default() });
        assert_eq!([all.trust().of(false), all.trust().of(true)], [0.5 * 0.8 * 0.75, 0.5]);
    }

    #[test]
    fn run_without_mpi_and_waiting_is_trusted() {
        assert_eq!(Told::default().trust().of(false), 1.0);
    }
}
