//! Copies of recordings whose processes still run: until when they tell something.
//!
//! A process that hangs has recorded nothing since it entered the call that it hangs in. A copy of its recording says when
//! it was made: its files came to be then. Until that moment nothing has ended that was begun, and what is recorded ends.

use super::events::Events;
use super::journals::Process;
use super::run::{Place, Run};
use crate::host;
use recording::journal::ClockCalibration;
use recording::layout;
use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// When the copy of each location was made that tells more than its last event, in ticks of its process.
pub(super) fn times(directory: &Path, run: &Run<'_>, events: &[Events]) -> Vec<Option<u64>> {
    let now = host::clocks();
    let of_place = |(place, events): (&Place, &Events)| {
        let process = place.process.and_then(|at| run.processes.get(at))?;
        let (_, last) = events.times?;
        // Files of a process that is dead may have come from anywhere later.
        let made = made(&layout::buffer(directory, place.reference)).filter(|_| lives(process, now))?;
        let begin = process.calibrations.first()?;
        let since = i128::from(made) - i128::from(begin.realtime);
        let ticks = i128::from(begin.ticks) + since * i128::from(run.clock.resolution) / 1_000_000_000;
        let ticks = u64::try_from(ticks).ok()?.min(now?.ticks);
        (ticks > last).then_some(ticks)
    };
    run.places.iter().zip(events).map(of_place).collect()
}

/// When a file came to be, in nanoseconds since 1970; `None` if the file system does not know.
fn made(path: &Path) -> Option<u64> {
    let made = fs::metadata(path).and_then(|status| status.created()).ok()?;
    u64::try_from(made.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

/// Whether a process is on this host and has not come to its end.
fn lives(process: &Process, now: Option<ClockCalibration>) -> bool {
    let is_here = process.end.is_none() && process.host == host::name();
    // Another one may have its number since: that is younger than the first reading of this one's clocks.
    let read = process.calibrations.first().zip(now);
    let since_read = read.and_then(|(then, now)| now.nanoseconds.checked_sub(then.nanoseconds));
    let age = host::age_of(process.process).map(|age| age + Duration::from_secs(1));
    is_here && age.zip(since_read).is_some_and(|(age, since)| age >= Duration::from_nanos(since))
}
