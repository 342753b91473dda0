//! The clock of the trace: that of rank 0, and the offsets of the others.

use super::journals::Process;
use super::notices::Notices;
use otf2::ClockCorrection;
use recording::journal::ClockCalibration;

/// The resolution of the clock, the span of the trace on it, and the offsets of the processes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TraceClock {
    /// Ticks per second.
    pub(crate) resolution: u64,
    /// Time of the first event.
    pub(crate) begin: u64,
    /// Ticks from the first event to the last.
    pub(crate) length: u64,
    /// Nanoseconds since 1970 at the first event; all ones if unknown.
    pub(crate) realtime: u64,
    /// For each process its offsets at several moments.
    pub(crate) offsets: Vec<Vec<OffsetPoint>>,
}

/// The offset of a clock from that of rank 0 at a moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct OffsetPoint {
    /// Ticks of the process.
    pub(crate) time: u64,
    /// Ticks to add.
    pub(crate) offset: i64,
    /// Standard deviation of the offset, in ticks.
    pub(crate) deviation: f64,
}

/// Returns the clock of a run; `times` are the first and last time of the events of each process, in its own
/// ticks.
pub(crate) fn clock(
    processes: &[Process],
    times: &[Option<(u64, u64)>],
    now: Option<ClockCalibration>,
    notices: &mut Notices,
) -> TraceClock {
    let resolution = resolution(processes, now, notices);
    let mut offsets = Vec::new();
    let mut span: Option<(u64, u64)> = None;
    for (process, &times) in processes.iter().zip(times) {
        let own = of_process(process, times, processes, resolution, notices);
        let mut correction = correction(&own);
        if let Some((first, last)) = times {
            let (first, last) = (correction.correct(first), correction.correct(last));
            let (begin, end) = span.unwrap_or((first, last));
            span = Some((begin.min(first), end.max(last)));
        }
        offsets.push(own);
    }
    let (begin, end) = span.unwrap_or_default();
    let realtime = realtime(processes, begin, resolution).unwrap_or(u64::MAX);
    TraceClock { resolution, begin, length: end.saturating_sub(begin), realtime, offsets }
}

impl TraceClock {
    /// Returns the correction of the clock of a process, by its position.
    pub(super) fn correction(&self, process: usize) -> ClockCorrection {
        correction(self.offsets.get(process).map_or(&[][..], Vec::as_slice))
    }

    /// Extends the trace until these times of processes, each by position and in ticks of the process.
    pub(super) fn extend(&mut self, times: impl Iterator<Item = (usize, u64)>) {
        for (process, time) in times {
            let time = self.correction(process).correct(time);
            self.length = self.length.max(time.saturating_sub(self.begin));
        }
    }
}

/// Returns the correction from the clock of a process to that of rank 0.
fn correction(offsets: &[OffsetPoint]) -> ClockCorrection {
    let pairs: Vec<otf2::ClockOffset> =
        offsets.iter().map(|at| otf2::ClockOffset { time: at.time, offset: at.offset }).collect();
    ClockCorrection::new(&pairs).unwrap_or_default()
}

/// Returns the ticks per second of rank 0, or of the first process with two calibrations.
fn resolution(processes: &[Process], now: Option<ClockCalibration>, notices: &mut Notices) -> u64 {
    const NANOSECONDS: u64 = 1_000_000_000;
    let Some(first) = processes.first() else { return NANOSECONDS };
    if first.clock == "monotonic" {
        return NANOSECONDS;
    }
    let measured = |process: &Process| rate(*process.calibrations.first()?, *process.calibrations.last()?);
    let of_rank_0 = measured(first);
    // A process that died early has one reading; a second one can be taken as long as the machine runs.
    let since = || rate(*first.calibrations.first()?, now?);
    let of_others = || processes.iter().find_map(measured);
    of_rank_0.or_else(since).or_else(of_others).unwrap_or_else(|| {
        notices.note(first.rank, "its clock was not calibrated: times are in ticks of unknown length");
        NANOSECONDS
    })
}

/// Returns the ticks per second between two readings, if they are far enough apart for an accuracy of a
/// ten-thousandth.
fn rate(first: ClockCalibration, last: ClockCalibration) -> Option<u64> {
    let ticks = last.ticks.checked_sub(first.ticks)?;
    let nanoseconds = last.nanoseconds.checked_sub(first.nanoseconds).filter(|&span| span > 1_000_000)?;
    let rate = u128::from(ticks) * 1_000_000_000 / u128::from(nanoseconds);
    // No processor's clock is slower or faster: such a rate is another machine's, or damage.
    u64::try_from(rate).ok().filter(|rate| (1_000_000..=100_000_000_000).contains(rate))
}

/// Returns the time of the trace's start, in nanoseconds since 1970.
fn realtime(processes: &[Process], begin: u64, resolution: u64) -> Option<u64> {
    let first = processes.first()?;
    let at = first.calibrations.first()?;
    let ticks = i128::from(begin) - i128::from(at.ticks);
    let nanoseconds = ticks * 1_000_000_000 / i128::from(resolution.max(1));
    u64::try_from(i128::from(at.realtime) + nanoseconds).ok()
}

/// Returns the offsets of a process at increasing times: at least two, as a single one is ignored by the
/// rules of the format.
fn of_process(
    process: &Process,
    times: Option<(u64, u64)>,
    processes: &[Process],
    resolution: u64,
    notices: &mut Notices,
) -> Vec<OffsetPoint> {
    let mut offsets: Vec<OffsetPoint> = Vec::new();
    for measured in &process.offsets {
        let offset = measured.reference.wrapping_sub(measured.ticks) as i64;
        // Half of the round trip is the largest error of Cristian's algorithm.
        let new = OffsetPoint { time: measured.ticks, offset, deviation: measured.round_trip as f64 / 2.0 };
        if offsets.last().is_none_or(|last| last.time < new.time) {
            offsets.push(new);
        }
    }
    let (first, last) = times.unwrap_or((0, 1));
    match offsets[..] {
        [] => {
            let offset = guess(process, processes, resolution, notices);
            twice(OffsetPoint { time: first, offset, deviation: 0.0 }, last)
        }
        [only] => twice(only, last),
        _ => offsets,
    }
}

/// Returns the same offset at two different times.
fn twice(offset: OffsetPoint, later: u64) -> Vec<OffsetPoint> {
    let time = offset.time.min(u64::MAX - 1);
    vec![OffsetPoint { time, ..offset }, OffsetPoint { time: later.max(time + 1), ..offset }]
}

/// Estimates the offset of a process without a measurement: it died before.
fn guess(process: &Process, processes: &[Process], resolution: u64, notices: &mut Notices) -> i64 {
    let Some(reference) = processes.first() else { return 0 };
    if (&process.host, &process.clock) == (&reference.host, &reference.clock) {
        return 0;
    }
    notices.note(process.rank, "its clock was never compared with that of rank 0: the time of day has to do");
    let (Some(own), Some(other)) = (process.calibrations.first(), reference.calibrations.first()) else {
        return 0;
    };
    let apart = i128::from(own.realtime) - i128::from(other.realtime);
    let reference = i128::from(other.ticks) + apart * i128::from(resolution) / 1_000_000_000;
    i64::try_from(reference - i128::from(own.ticks)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::journal::ClockOffset;

    fn process(rank: u32, calibrations: &[(u64, u64, u64)], offsets: &[(u64, u64)]) -> Process {
        let calibration =
            |&(ticks, nanoseconds, realtime): &_| ClockCalibration { ticks, nanoseconds, realtime };
        let offset = |&(ticks, reference): &_| ClockOffset { ticks, reference, round_trip: 10 };
        Process {
            rank,
            clock: "tsc".into(),
            calibrations: calibrations.iter().map(calibration).collect(),
            offsets: offsets.iter().map(offset).collect(),
            ..Process::default()
        }
    }

    fn run(
        processes: &[Process],
        times: &[Option<(u64, u64)>],
        now: Option<ClockCalibration>,
    ) -> (TraceClock, Vec<String>) {
        let mut notices = Notices::default();
        (clock(processes, times, now, &mut notices), notices.lines())
    }

    #[test]
    fn first_and_last_calibration_give_the_length_of_a_tick() {
        let first =
            process(0, &[(1000, 0, 5_000_000_000), (2_600_001_000, 1_000_000_000, 6_000_000_000)], &[]);
        let (clock, notices) = run(&[first], &[Some((2600 + 1000, 10_000))], None);
        assert_eq!((clock.resolution, clock.begin, clock.length), (2_600_000_000, 3600, 6400));
        assert_eq!(clock.realtime, 5_000_001_000);
        assert_eq!(notices, [""; 0]);
    }

    #[test]
    fn process_that_died_early_is_calibrated_afterwards() {
        let died = [process(0, &[(0, 0, 0)], &[])];
        let now = ClockCalibration { ticks: 3_000_000_000, nanoseconds: 1_000_000_000, realtime: 0 };
        assert_eq!(run(&died, &[None], Some(now)).0.resolution, 3_000_000_000);
        let (clock, notices) = run(&died, &[None], None);
        assert_eq!((clock.resolution, notices.len()), (1_000_000_000, 1));
        let rebooted = ClockCalibration { ticks: 3_000_000, nanoseconds: 1_000_000_000_000, realtime: 0 };
        assert_eq!(run(&died, &[None], Some(rebooted)).1.len(), 1);
    }

    #[test]
    fn there_are_always_two_offsets_at_increasing_times() {
        let processes = [
            process(0, &[], &[]),
            process(1, &[], &[(100, 1100)]),
            process(2, &[], &[(100, 1100), (90, 7), (100, 7), (200, 1201)]),
        ];
        let (clock, _) = run(&processes, &[Some((5, 5)), Some((50, 60)), Some((50, 300))], None);
        let pairs = |at: usize| clock.offsets[at].iter().map(|at| (at.time, at.offset)).collect::<Vec<_>>();
        assert_eq!(pairs(0), [(5, 0), (6, 0)]);
        assert_eq!(pairs(1), [(100, 1000), (101, 1000)]);
        assert_eq!(pairs(2), [(100, 1000), (200, 1001)]);
        assert_eq!(clock.offsets[2][0].deviation, 5.0);
        // Corrected times: 5, 1050 to 1060, 1050 (rounded) to 1302.
        assert_eq!((clock.begin, clock.length), (5, 1302 - 5));
    }

    #[test]
    fn clock_of_another_host_is_guessed_by_the_time_of_day() {
        let here =
            process(0, &[(1000, 0, 1_000_000_000), (2_000_001_000, 1_000_000_000, 2_000_000_000)], &[]);
        let there = Process { host: "b".into(), ..process(1, &[(50, 0, 1_500_000_000)], &[]) };
        let (clock, notices) = run(&[here, there], &[None, Some((50, 60))], None);
        assert_eq!(clock.offsets[1][0].offset, 1_000_001_000 - 50);
        assert_eq!(notices.len(), 1);
    }

    #[test]
    fn numbers_that_no_clock_shows_do_no_harm() {
        let end = u64::MAX;
        let process = process(0, &[(end, end, end), (0, 0, 0)], &[(end, 0), (0, end)]);
        let (clock, _) = run(&[process], &[Some((end, end))], None);
        assert_eq!(clock.offsets[0].len(), 2);
    }
}
