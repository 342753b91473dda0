//! Forward amortisation: events of a location that were too early are moved to later times, and so are the
//! events after them (specification 15.2).
//!
//! A location whose clock was put forward runs slightly slower from then on, until it agrees with its own
//! clock again.

use std::ops::Range;

use model::Ticks;

use super::links::{Link, LinkKind, NOT_YET, Role};
use crate::ids::RecordNumber;
use crate::int::{nearest, truncated};
use crate::walk::{FARTHEST, RecordTimes};
use crate::wire::wire;

/// Bound of an event without a known one: before all times.
pub(super) const NOTHING: Ticks = NOT_YET + 1;

/// 1 / (1 − γ): a clock that was put forward loses one tick in so many. Shifts of records are counted in such
/// parts of a tick, as integers, so that sums do not depend on the order of addition.
const PARTS: i64 = 100_000;

/// A shift to a later time, in parts of a tick.
pub(super) type Parts = i128;

/// Converts ticks to parts.
pub(super) fn parts(ticks: Ticks) -> Parts {
    Parts::from(ticks) * Parts::from(PARTS)
}

/// Minimum durations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    /// From an event of a location to the next one, in parts of a tick.
    pub(super) step: i64,
    /// From a send to its receive, between processes, in ticks.
    pub(super) message: f64,
    /// From a send to its receive, between threads, in ticks.
    pub(super) of_threads: f64,
}

impl Least {
    /// Minimum durations for a clock of this resolution. Where ticks are coarse, a step is less than one: a
    /// whole tick for each event would stretch time, and events stay in order without it.
    pub(super) fn new(resolution: u64) -> Least {
        let resolution = resolution as f64;
        Least {
            step: truncated((1e-9 * resolution * PARTS as f64).round()),
            message: 1e-6 * resolution,
            of_threads: 1e-8 * resolution,
        }
    }

    /// From the event at one side of a link to the one at the other side, in ticks.
    pub(super) fn of(self, link: &Link) -> f64 {
        match link.kind {
            LinkKind::Message => self.message,
            LinkKind::Threads => self.of_threads,
            // Of simultaneous events, that of the first location comes first.
            LinkKind::Order => f64::from(link.first() > link.second()),
        }
    }
}

/// Decay of a shift between two records, the shift of the later one being that of the earlier one less a
/// loss, but not less than a minimum.
///
/// Each record loses the time since the one before less a step, but no more than the slower clock does; so
/// the change from one record to any later one has this form, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Drift {
    pub(super) loss: i64,
    pub(super) least: i64,
}

wire!(Drift { loss, least });

impl Drift {
    /// The identity: no change.
    pub(super) const NONE: Drift = Drift { loss: 0, least: 0 };

    /// From a record to one `elapsed` ticks later.
    fn over(elapsed: Ticks, step: i64) -> Drift {
        Drift { loss: elapsed.saturating_mul(PARTS).saturating_sub(step).min(elapsed), least: 0 }
    }

    /// Composition: this one, then another one.
    pub(super) fn then(self, next: Drift) -> Drift {
        Drift {
            loss: self.loss.saturating_add(next.loss),
            least: self.least.saturating_sub(next.loss).max(next.least),
        }
    }

    pub(super) fn of(self, ahead: Parts) -> Parts {
        (ahead - Parts::from(self.loss)).max(self.least.into())
    }
}

/// An event that was too early.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Jump {
    /// The number of its record.
    pub(super) record: RecordNumber,
    /// Time without the correction.
    pub(super) from: Ticks,
    /// Corrected time.
    pub(super) to: Ticks,
}

/// State of a location in the forward pass.
#[derive(Debug, Default)]
pub(super) struct LocationShift {
    /// The times of its records: corrected up to `record`, original from there on.
    pub(super) times: Vec<Ticks>,
    pub(super) links: Vec<Link>,
    /// Bound of each link: of a receive the earliest time, later of a send the latest.
    pub(super) told: Vec<Ticks>,
    pub(super) jumps: Vec<Jump>,
    /// The remaining records without a time of their own, in reverse order.
    ignored: Vec<RecordNumber>,
    /// The next record, and the original time of the last record before it that matters.
    record: usize,
    before: Option<Ticks>,
}

impl LocationShift {
    pub(super) fn new(records: RecordTimes, links: Vec<Link>) -> LocationShift {
        let RecordTimes { times, mut ignored } = records;
        ignored.reverse();
        LocationShift { times, links, ignored, ..LocationShift::default() }
    }

    /// The drift to the next record.
    fn drift(&self, step: i64) -> Drift {
        self.before
            .map_or(Drift::NONE, |before| Drift::over(self.times[self.record].saturating_sub(before), step))
    }

    /// Whether the next record does not matter: it needs no time of its own.
    fn is_ignored(&self) -> bool {
        self.ignored.last().is_some_and(|&ignored| ignored.index() == self.record)
    }

    /// For each event with links, these links, and the drift from the event before it, or from the start.
    pub(super) fn drifts(&self, least: Least) -> Vec<(Range<usize>, Drift)> {
        let (mut drifts, mut next, mut sum) = (Vec::new(), 0, Drift::NONE);
        let (mut ignored, mut before) = (self.ignored.iter().rev().peekable(), None);
        for (record, &time) in self.times.iter().enumerate() {
            let has_links = self.links.get(next).is_some_and(|link| link.spot.position.index() == record);
            if !has_links && ignored.next_if(|&&ignored| ignored.index() == record).is_some() {
                continue;
            }
            if let Some(before) = before.replace(time) {
                sum = sum.then(Drift::over(time.saturating_sub(before), least.step));
            }
            if has_links {
                let of_event = self.links_from(next, RecordNumber::new(record));
                next = of_event.end;
                drifts.push((of_event, std::mem::replace(&mut sum, Drift::NONE)));
            }
        }
        drifts
    }

    /// Shifts all records, once all links have their lower bounds.
    pub(super) fn go(&mut self, least: Least) {
        let (mut next, mut ahead) = (0, 0);
        while self.record < self.times.len() {
            let record = RecordNumber::new(self.record);
            let time = self.times[self.record];
            let has_links = self.links.get(next).is_some_and(|link| link.spot.position == record);
            if !has_links && self.is_ignored() {
                self.ignored.pop();
                self.times[self.record] = later(time, self.drift(0).of(ahead));
                self.record += 1;
                continue;
            }
            let drift = self.drift(least.step).of(ahead);
            ahead = drift;
            if has_links {
                let of_event = self.links_from(next, record);
                next = of_event.end;
                let told = self.links[of_event.clone()].iter().zip(&self.told[of_event]);
                ahead =
                    needed(drift, time, told.filter(|(link, _)| link.role == Role::Receive).map(|it| *it.1));
            }
            if ahead > drift {
                self.jumps.push(Jump { record, from: later(time, drift), to: later(time, ahead) });
            }
            self.before = Some(time);
            self.times[self.record] = later(time, ahead);
            self.record += 1;
        }
    }

    /// Range of the links of an event, given the first.
    fn links_from(&self, first: usize, position: RecordNumber) -> Range<usize> {
        let of_event = self.links[first..].iter().take_while(|link| link.spot.position == position);
        first..first + of_event.count()
    }

    /// Range of the links of an event.
    fn links_of(&self, position: RecordNumber) -> Range<usize> {
        self.links_from(self.links.partition_point(|link| link.spot.position < position), position)
    }

    /// Sets the upper bound of a send.
    pub(super) fn limit(&mut self, position: RecordNumber, latest: Ticks) {
        let of_event = self.links_of(position);
        self.told[of_event].iter_mut().for_each(|told| *told = latest.min(*told));
    }
}

/// Shift of an event: at least `drift`, and so much that it is not before the bounds of its receives.
pub(super) fn needed(drift: Parts, time: Ticks, told: impl Iterator<Item = Ticks>) -> Parts {
    let known = told.filter(|&told| told != NOTHING);
    known.map(|told| parts(told.saturating_sub(time))).fold(drift, Parts::max)
}

/// A shifted time, to the nearest tick.
pub(super) fn later(time: Ticks, ahead: Parts) -> Ticks {
    let ticks = (ahead + Parts::from(PARTS / 2)).div_euclid(PARTS.into());
    time.saturating_add(nearest(ticks)).clamp(-FARTHEST, FARTHEST)
}

/// The nearest number of ticks, not negative.
pub(super) fn rounded(ticks: f64) -> Ticks {
    truncated(ticks + 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock_correction::links::Side;
    use crate::journal::Spot;

    /// Minimum durations with steps of 2 ticks.
    const LEAST: Least = Least { step: 2 * PARTS, message: 100.0, of_threads: 10.0 };

    /// A location with records at these times, some of which do not matter, and links of some with their
    /// bounds.
    fn way(times: &[Ticks], ignored: &[usize], links: &[(usize, Role, Ticks)]) -> LocationShift {
        let at = |location, record| Spot { location, position: RecordNumber::new(record) };
        let link = |&(record, role, _): &(usize, Role, Ticks)| Link {
            spot: at(0, record),
            role,
            kind: LinkKind::Message,
            other: Side::Event(at(1, 7)),
        };
        let records = RecordTimes {
            times: times.to_vec(),
            ignored: ignored.iter().map(|&record| RecordNumber::new(record)).collect(),
        };
        let mut way = LocationShift::new(records, links.iter().map(link).collect());
        way.told = links.iter().map(|link| link.2).collect();
        way
    }

    /// Shifts of the events with links, from the drifts alone.
    fn by_drifts(way: &LocationShift) -> Vec<Ticks> {
        let mut ahead = 0;
        let of_event = |(links, drift): (Range<usize>, Drift)| {
            let time = way.times[way.links[links.start].spot.position.index()];
            let receives = links.filter(|&at| way.links[at].role == Role::Receive);
            ahead = needed(drift.of(ahead), time, receives.map(|at| way.told[at]));
            later(time, ahead)
        };
        way.drifts(LEAST).into_iter().map(of_event).collect()
    }

    #[test]
    fn receive_is_put_off_and_what_follows_catches_up_slowly() {
        let links = [(0, Role::Send, NOT_YET), (1, Role::Receive, 80), (3, Role::Send, NOT_YET)];
        let mut way = way(&[0, 50, 60, 100_060], &[], &links);
        assert_eq!(by_drifts(&way), [0, 80, 100_089]);
        way.go(LEAST);
        assert_eq!(way.times, [0, 80, 90, 100_089]);
        assert_eq!(way.jumps, [Jump { record: RecordNumber::new(1), from: 50, to: 80 }]);
    }

    #[test]
    fn receive_that_is_late_enough_stays_where_it_is() {
        for told in [50, NOTHING] {
            let mut way = way(&[0, 50], &[], &[(1, Role::Receive, told)]);
            way.go(LEAST);
            assert_eq!((&way.times[..], &way.jumps[..]), (&[0, 50][..], &[][..]));
        }
    }

    #[test]
    fn events_at_once_get_a_step_each_but_not_records_that_do_not_matter() {
        let mut way = way(&[5, 5, 5, 5, 100], &[1, 2], &[]);
        way.go(LEAST);
        assert_eq!(way.times, [5, 5, 5, 7, 102]);
    }

    #[test]
    fn drift_over_many_records_is_that_of_all_one_after_the_other() {
        let steps = [(7, 0), (0, 2 * PARTS), (300_000, 5), (1, 3 * PARTS), (0, 0), (99_999, 7 * PARTS)];
        let drifts = steps.map(|(elapsed, step)| Drift::over(elapsed, step));
        let all = drifts.into_iter().fold(Drift::NONE, Drift::then);
        for ahead in [0, 1, 350_000, 1 << 40, 1 << 70] {
            assert_eq!(all.of(ahead), drifts.into_iter().fold(ahead, |ahead, drift| drift.of(ahead)));
        }
    }

    #[test]
    fn random_ways_are_the_same_record_by_record_and_by_drifts() {
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..500 {
            let mut time = 0;
            let times: Vec<Ticks> = (0..30)
                .map(|_| {
                    time += [0, 1, 3, 70_000, 900_000][draw(5) as usize];
                    time
                })
                .collect();
            let (mut ignored, mut links) = (Vec::new(), Vec::new());
            for (record, &from) in times.iter().enumerate().take(30) {
                match draw(4) {
                    0 => ignored.push(record),
                    1 => links.push((record, Role::Receive, from - 50 + draw(150) as Ticks)),
                    2 => links.push((record, Role::Send, NOT_YET)),
                    _ => {}
                }
            }
            let mut way = way(&times, &ignored, &links);
            let expected = by_drifts(&way);
            way.go(LEAST);
            let at_links: Vec<Ticks> = links.iter().map(|link| way.times[link.0]).collect();
            assert_eq!(at_links, expected);
        }
    }
}
