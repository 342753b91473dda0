//! A report from the counts of a program that was profiled, and an estimate of the size of its trace.
//!
//! | step | module |
//! |---|---|
//! | read the counts of threads | `counts` |
//! | compute exclusive values of call paths | `values` |
//! | write a report like those of the analyzer, as far as it goes | `report` |
//! | estimate the size of the trace, by function | `estimate` |

mod counts;
mod estimate;
mod report;
mod values;

use super::Summary;
use super::journals::Process;
use super::notices::Notices;
use super::run::{gather, places};
use crate::Error;
use counts::Counts;
pub use estimate::{Estimate, Omission, Share};
use recording::journal::ProfileRequest;
use recording::layout;
use std::fs;
use std::path::Path;
use tracing::debug;

/// Makes the report or the estimate that was requested from the counts in an experiment directory.
///
/// # Errors
/// If the disk refuses.
pub(super) fn complete(
    directory: &Path,
    processes: &[Process],
    wanted: ProfileRequest,
    mut notices: Notices,
) -> Result<Summary, Error> {
    let places = places(directory, processes)?;
    let mut counts: Vec<Counts> = Vec::new();
    for place in &places {
        let (own, problem) = counts::read(directory, place.reference)?;
        if let Some(problem) = problem {
            notices.loss(layout::rank_and_thread(place.reference).0, problem);
        }
        counts.push(own);
    }
    let times: Vec<_> = counts.iter().map(Counts::times).collect();
    let run = gather(directory, processes, places, &times, &mut notices)?;
    let mut summary = run.summary(directory, &notices);
    // A recorder that counts leaves it empty.
    let _ = fs::remove_dir(directory.join(layout::TRACES));
    if wanted.estimate {
        summary.estimate = Some(Box::new(estimate::estimate(directory, &run, &counts)?));
    }
    if wanted.keep {
        let path = directory.join(layout::PROFILE);
        summary.call_paths = Some(report::write(&path, &run, &values::by_context(&run, &counts))?);
        summary.bytes = fs::metadata(&path).map_or(0, |status| status.len());
        debug!(?path, bytes = summary.bytes, "profile written");
    }
    Ok(summary)
}
