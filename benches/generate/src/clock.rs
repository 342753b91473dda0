//! Clocks with offset and drift, different on each rank, and the clock offset records that correct them.

use otf2::{ArchiveWriter, Definition, Timestamp};

use crate::draw::{below, draw};
use crate::job::Job;
use crate::location::{self, EPOCH, START};
use crate::patterns::Plan;

/// Largest initial offset of a clock in nanoseconds.
const MOST_OFFSET: u64 = 1_000_000_000;

/// Streams of random numbers of a rank, besides the one for its work.
const OFFSET: u64 = u64::MAX - 1;
const SPEED: u64 = u64::MAX - 2;
const ERROR: u64 = u64::MAX - 3;

/// The clock of a rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Reading of the clock at the start of the program, in ticks of a nanosecond.
    begin: u64,
    /// Drift: nanoseconds gained per nanosecond.
    gain: f64,
}

impl Clock {
    pub(crate) fn new(job: &Job, rank: u32) -> Clock {
        if job.drift == 0.0 {
            return Clock { begin: EPOCH, gain: 0.0 };
        }
        let drawn = |what| draw(job.seed, rank.into(), what);
        let begin = EPOCH - MOST_OFFSET + below(drawn(OFFSET), 2 * MOST_OFFSET + 1);
        // From -1 to 1.
        let part = below(drawn(SPEED), 1 << 32) as f64 / f64::from(1 << 31) - 1.0;
        Clock { begin, gain: part * job.drift * 1e-6 }
    }

    /// Reading of the clock at a time since the start of the program.
    #[inline]
    pub(crate) fn show(&self, time: u64) -> u64 {
        let shown = self.begin + time;
        if self.gain == 0.0 {
            return shown;
        }
        shown.wrapping_add_signed((self.gain * time as f64).round() as i64)
    }
}

/// Writes the clock offsets of a location at the start and at the end. Recorders always write them, and
/// readers complain about locations without local definitions.
pub(crate) fn write_offsets(
    job: &Job,
    plan: Plan,
    archive: &ArchiveWriter,
    rank: u32,
    thread: u32,
) -> Result<(), otf2::Error> {
    let clock = Clock::new(job, rank);
    let error = |salt| {
        let drawn = draw(job.seed ^ salt, rank.into(), ERROR);
        below(drawn, 2 * job.clock_error + 1).cast_signed() - job.clock_error.cast_signed()
    };
    let mut local = archive.local_definitions(location::reference(rank, thread))?;
    for (salt, time) in [(1, START), (2, START + plan.ticks)] {
        let shown = clock.show(time);
        let offset = (EPOCH + time).cast_signed() - shown.cast_signed() + error(salt);
        local.write(Definition::ClockOffset { time: Timestamp(shown), offset, standard_deviation: 0.0 })?;
    }
    local.finish()
}
