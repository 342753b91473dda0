//! Time off the processor (site.md, 5.1): how often, and how long, a thread did not run since its previous event, as the kernel tells
//! it (`ring`). It is recorded by a `Metric` in front of the next event, at the time of that; nothing is recorded if it has run.

mod ring;
mod usage;

use std::sync::atomic::{AtomicU64, Ordering};

use model::off_cpu::MEMBERS;
use recording::off_cpu::CLASS;
use recording::settings::{OffCpu, ProfileMode};

use crate::clock;
use crate::events::Events;
use crate::process::Process;
use crate::record::{self, WriteMetric};

use ring::{Record, Ring};

pub(crate) use usage::append_usage;

/// Where threads look for switches that the kernel does not record.
static NOTHING: AtomicU64 = AtomicU64::new(0);

/// A time off the processor that has begun: when, on which processor, and whether the thread could have gone on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Out {
    time: u64,
    processor: u32,
    is_preempted: bool,
}

/// The values of a `Metric` record, in the order of [`MEMBERS`].
type Values = [u64; MEMBERS.len()];
const _: () = assert!(MEMBERS.len() <= record::MOST_VALUES);

/// Times off the processor of one thread.
pub(crate) struct Switches {
    ring: Option<Ring>,
    /// Where the kernel tells how much it has written.
    head: *const AtomicU64,
    /// How much of that is recorded; another number if something is left that has been read.
    seen: u64,
    /// How much has been read.
    position: u64,
    out: Option<Out>,
    /// What has been read, but not recorded.
    left: Values,
    /// What the last `Metric` record has.
    recorded: Values,
    /// Records that found no room in the kernel's buffer.
    lost: u64,
    /// The recorder's clock and that of the kernel's records, at one moment.
    begin: (u64, u64),
    /// The kernel's clock and that of the thread's processor time when records were read last.
    read: (u64, u64),
}

impl Switches {
    /// Those of a thread of which the kernel records none.
    pub(crate) fn none() -> Switches {
        Switches {
            ring: None,
            head: &raw const NOTHING,
            seen: 0,
            position: 0,
            out: None,
            left: Values::default(),
            recorded: Values::default(),
            lost: 0,
            begin: (0, 0),
            read: (0, 0),
        }
    }

    /// Those of the calling thread from now on, if the user wants them and the system permits it.
    pub(crate) fn begin(process: &Process) -> Switches {
        if process.settings.off_cpu == OffCpu::Off || process.settings.profile != ProfileMode::No {
            return Switches::none();
        }
        match Ring::open() {
            Ok(ring) => {
                let head = ring.head();
                Switches { ring: Some(ring), head, begin: both_clocks(), read: used(), ..Switches::none() }
            }
            Err(cause) => {
                if process.settings.off_cpu == OffCpu::On {
                    process.notice(&format!(
                        "time off the processor is not recorded of a thread: the system permits no records of its switches \
                         ({cause}); see kernel.perf_event_paranoid and the limit on locked memory"
                    ));
                }
                Switches::none()
            }
        }
    }

    /// Whether the kernel records them.
    pub(crate) fn are_recorded(&self) -> bool {
        self.ring.is_some()
    }

    /// Records what has happened until that time, which is that of the next event; returns whether there is a record now.
    #[inline(always)]
    pub(crate) fn settle(&mut self, events: &mut Events, time: u64, write: WriteMetric) -> bool {
        // SAFETY: the address is that of a static variable, or of the ring, which is mapped in the process that is recorded.
        // Children of it do not come here.
        let head = unsafe { (*self.head).load(Ordering::Relaxed) };
        head != self.seen && self.collect(events, time, write)
    }

    #[cold]
    fn collect(&mut self, events: &mut Events, time: u64, write: WriteMetric) -> bool {
        let Switches { ring: Some(ring), position, out, left, lost, begin, read, .. } = self else {
            return false;
        };
        let limit = nanoseconds_at(time, *begin);
        let (lost_before, before) = (*lost, std::mem::replace(read, used()));
        let is_full = ring.is_full(*position);
        *position = ring.read(*position, |record| {
            // What has ended behind this event is of the next one.
            let is_late = matches!(record, Record::In { time, .. } if time > limit);
            if !is_late {
                take(record, out, left, lost);
            }
            !is_late
        });
        self.seen = *position;
        if is_full || *lost > lost_before {
            let used = read.1.saturating_sub(before.1);
            add_missing(left, read.0.saturating_sub(before.0).saturating_sub(used));
        }
        let values = std::mem::take(left);
        if values != Values::default() && !events.is_muted() {
            self.recorded = values;
            write(events, time, CLASS, &values);
            return true;
        }
        false
    }

    /// Takes back the last `Metric` record: that has happened before the next event.
    pub(crate) fn take_back(&mut self) {
        for (left, recorded) in self.left.iter_mut().zip(std::mem::take(&mut self.recorded)) {
            *left += recorded;
        }
        self.seen = self.seen.wrapping_sub(1);
    }

    /// Says in the journal what is missing.
    pub(crate) fn remark(&self, process: &Process) {
        if self.lost > 0 {
            process.notice(&format!(
                "{} records of switches of a thread were lost, as there were too many between two events: how often it was off the \
                 processor is a lower bound there, and for how long is known from its processor time",
                self.lost
            ));
        }
    }
}

/// Adds a record to what has happened since the previous event.
fn take(record: Record, out: &mut Option<Out>, left: &mut Values, lost: &mut u64) {
    match record {
        Record::Out { time, processor, is_preempted } => *out = Some(Out { time, processor, is_preempted }),
        Record::In { time, processor } => {
            // Without an out, the thread was off when records began, or that record is lost.
            let Some(before) = out.take() else { return };
            let kind = if before.is_preempted { 0 } else { 1 };
            left[kind] += time.saturating_sub(before.time);
            left[2 + kind] += 1;
            left[4] += u64::from(processor != before.processor);
        }
        Record::Lost(records) => {
            *lost += records;
            *out = None;
        }
    }
}

/// Adds what is missing to a time off the processor, by the parts of those records that are known; without any, the thread was blocked.
fn add_missing(left: &mut Values, off: u64) {
    let (preempted, blocked) = (left[0], left[1]);
    let known = u128::from(preempted) + u128::from(blocked);
    let missing = u128::from(off).saturating_sub(known);
    let of_preempted = (missing * u128::from(preempted)).checked_div(known).unwrap_or(0);
    left[0] += of_preempted as u64;
    left[1] += (missing - of_preempted) as u64;
}

/// Reads the kernel's clock and that of the thread's processor time, in nanoseconds.
fn used() -> (u64, u64) {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    (clock::monotonic(), time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Reads the recorder's clock and that of the kernel's records at one moment.
fn both_clocks() -> (u64, u64) {
    let read = || {
        let (before, nanoseconds, after) = (clock::now(), clock::monotonic(), clock::now());
        (after - before, (before + (after - before) / 2, nanoseconds))
    };
    // The thread may be interrupted between the two.
    let readings = [read(), read()];
    let (_, best) = readings.into_iter().min_by_key(|(duration, _)| *duration).unwrap_or_else(read);
    best
}

/// Returns a time of the recorder's clock, which is not long ago, by that of the kernel's records. `begin` are both at a moment
/// before.
fn nanoseconds_at(time: u64, begin: (u64, u64)) -> u64 {
    let now = both_clocks();
    let (ticks, nanoseconds) = (now.0.saturating_sub(begin.0).max(1), now.1.saturating_sub(begin.1));
    let ago = u128::from(now.0.saturating_sub(time)) * u128::from(nanoseconds) / u128::from(ticks);
    now.1.saturating_sub(ago as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_between_out_and_in_are_added_up_by_their_kind() {
        let (mut out, mut left, mut lost) = (None, Values::default(), 0);
        let off = |time, processor, is_preempted| Record::Out { time, processor, is_preempted };
        let on = |time, processor| Record::In { time, processor };
        // The first one has no begin.
        let records = [
            on(5, 0),
            off(10, 0, true),
            on(17, 1),
            off(20, 1, false),
            on(50, 1),
            off(60, 1, true),
            Record::Lost(3),
            on(90, 0),
            off(100, 0, true),
            on(101, 0),
        ];
        records.into_iter().for_each(|record| take(record, &mut out, &mut left, &mut lost));
        assert_eq!((left, lost), ([8, 30, 2, 1, 1], 3));
        assert_eq!(out, None);
    }

    #[test]
    fn time_that_lost_records_leave_out_is_added_by_the_kind_of_the_others() {
        let mut left = [100, 300, 1, 3, 0];
        add_missing(&mut left, 1000);
        assert_eq!(left, [250, 750, 1, 3, 0]);
        add_missing(&mut left, 900);
        assert_eq!(left, [250, 750, 1, 3, 0]);
        let mut left = Values::default();
        add_missing(&mut left, 50);
        assert_eq!(left, [0, 50, 0, 0, 0]);
    }

    #[test]
    fn thread_that_sleeps_is_blocked_as_long_as_it_does() {
        // Where the system permits no records there is nothing to be tested.
        let Ok(ring) = Ring::open() else { return };
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (mut out, mut left, mut lost) = (None, Values::default(), 0);
        let position = ring.read(0, |record| {
            take(record, &mut out, &mut left, &mut lost);
            true
        });
        assert!(position > 0 && left[1] >= 19_000_000 && left[3] >= 1, "{left:?}");
        let again = ring.read(position, |_| false);
        assert!(again == position);
    }
}
