//! Data for the summary that is collected from rows.

use super::culprits::Culprits;
use super::waiting::WaitingTime;
use crate::causes;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, reduce};
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::severity::MetricId;
use crate::tools::Tools;

/// The collectors of wait states and culprits.
#[derive(Debug)]
pub(super) struct Remarks<'r> {
    pub(super) waiting: WaitingTime,
    pub(super) culprits: Culprits<'r>,
}

impl<'r> Remarks<'r> {
    /// Starts without any data.
    pub(super) fn new(
        tools: &Tools<'r>,
        paths: &'r ReportPaths,
        culprits: &'r causes::Culprits,
    ) -> Remarks<'r> {
        Remarks {
            waiting: WaitingTime::new(tools.trace, tools.metrics),
            culprits: Culprits::new(tools.trace, tools.metrics, paths, culprits),
        }
    }

    /// Whether a metric is collected.
    pub(super) fn are_about(&self, metric: MetricId) -> bool {
        self.waiting.is_about(metric) || self.culprits.is_about(metric)
    }

    /// Adds severities of some neighbours, of which `first` is the first one, at a call path.
    pub(super) fn add(&mut self, metric: MetricId, path: ReportPath, first: usize, row: &[i128]) {
        self.waiting.add(metric, path, first, row);
        self.culprits.add(metric, path, first, row);
    }

    /// Returns the data of all workers, at worker 0.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(self, exchange: &mut dyn Exchange) -> Result<Remarks<'r>, Error> {
        let encode = |remarks: &Remarks<'_>| {
            let mut batch = Batch::new();
            remarks.waiting.encode(&mut batch);
            remarks.culprits.encode(&mut batch);
            batch
        };
        reduce(exchange, self, encode, |remarks, words| {
            let mut reader = BatchReader::new(words);
            remarks.waiting.merge(&mut reader);
            remarks.culprits.merge(&mut reader);
        })
    }
}
