//! Copies of the recordings of running processes: the time at which the copy was made.
//!
//! A process that hangs has recorded nothing since it entered the call that it hangs in. The birth times of
//! the files in a copy say when it was made. Until that moment no open call has ended; behind it nothing is
//! recorded.

use super::events::EventFileSummary;
use super::journals::Process;
use super::run::{Run, TraceLocation};
use crate::host;
use recording::journal::ClockCalibration;
use recording::layout;
use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Returns the time at which the copy of each location was made, in ticks of its process, if that is behind
/// its last event.
pub(super) fn times(directory: &Path, run: &Run<'_>, events: &[EventFileSummary]) -> Vec<Option<u64>> {
    let now = host::clocks();
    let of_place = |(place, events): (&TraceLocation, &EventFileSummary)| {
        let process = place.process.and_then(|at| run.processes.get(at))?;
        let (_, last) = events.times?;
        // Files of a dead process may have been copied from anywhere later.
        let made = made(&layout::buffer(directory, place.reference)).filter(|_| lives(process, now))?;
        let begin = process.calibrations.first()?;
        let since = i128::from(made) - i128::from(begin.realtime);
        let ticks = i128::from(begin.ticks) + since * i128::from(run.clock.resolution) / 1_000_000_000;
        let ticks = u64::try_from(ticks).ok()?.min(now?.ticks);
        (ticks > last).then_some(ticks)
    };
    run.places.iter().zip(events).map(of_place).collect()
}

/// Returns the birth time of a file, in nanoseconds since 1970; `None` if the file system does not have it.
fn made(path: &Path) -> Option<u64> {
    let made = fs::metadata(path).and_then(|status| status.created()).ok()?;
    u64::try_from(made.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

/// Whether a process is on this host and has not ended.
fn lives(process: &Process, now: Option<ClockCalibration>) -> bool {
    let is_here = process.end.is_none() && process.host == host::name();
    // Another process may have its id since: that is younger than the first reading of this one's clocks.
    let read = process.calibrations.first().zip(now);
    let since_read = read.and_then(|(then, now)| now.nanoseconds.checked_sub(then.nanoseconds));
    let age = host::age_of(process.process).map(|age| age + Duration::from_secs(1));
    is_here && age.zip(since_read).is_some_and(|(age, since)| age >= Duration::from_nanos(since))
}
