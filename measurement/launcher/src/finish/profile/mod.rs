//! From the counts of a program that was profiled to a report, and to what its trace would have been.
//!
//! | step | module |
//! |---|---|
//! | what threads have counted | `counts` |
//! | which call path has how much of it for itself | `values` |
//! | a report like those of the analyzer, as far as it goes | `report` |
//! | how large the trace would be, and what makes it large | `estimate` |

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
pub use estimate::{Estimate, Price, Share};
use recording::journal::ProfileRequest;
use recording::layout;
use std::fs;
use std::path::Path;
use tracing::debug;

/// Makes of the counts in an experiment directory what was wanted.
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
    // A recorder that is asked for counts leaves it empty.
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
