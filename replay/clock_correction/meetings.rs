//! Meetings: operations of several members that no member leaves before others have entered.

use std::ops::Range;

use model::Ticks;

use super::links::{NOT_YET, Side};
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::int::to_u32;
use crate::journal::RecordSpot;
use crate::wire::{Halves, Wire, wire};

/// Number of words of a seat in a batch.
const SEAT: usize = 3;

/// A member of a meeting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Member {
    pub(super) begin: RecordSpot,
    pub(super) end: RecordSpot,
    /// Whether others end after its start.
    pub(super) sends: bool,
    /// Whether it ends after others' starts.
    pub(super) receives: bool,
}

wire!(Member { begin, end, [sends, receives] });

/// A member's place in a meeting.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Seat {
    meeting: u32,
    member: Member,
    /// Time received from the member: first of its start, later of its end.
    told: Ticks,
}

#[derive(Clone, PartialEq, Debug)]
struct Meeting {
    seats: Range<u32>,
    /// Whether each member is after those before it only, as in a scan.
    in_turn: bool,
    /// Number of senders that have not started yet.
    missing: u32,
    /// In turn, number of members that have their bound.
    settled: u32,
    /// The latest start so far.
    latest: Ticks,
}

/// All meetings that a worker holds.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Meetings {
    worker: u32,
    meetings: Vec<Meeting>,
    seats: Vec<Seat>,
}

/// Encoding of the initial state, in which no member has started.
impl Wire for Meetings {
    fn put(&self, batch: &mut Batch) {
        (self.worker, self.meetings.len()).put(batch);
        for meeting in &self.meetings {
            let seats = &self.seats[meeting.seats.start as usize..meeting.seats.end as usize];
            Halves(to_u32(seats.len()), meeting.in_turn).put(batch);
            seats.iter().for_each(|seat| seat.member.put(batch));
        }
    }

    fn get(reader: &mut BatchReader<'_>) -> Meetings {
        let (worker, count): (usize, usize) = Wire::get(reader);
        let mut meetings = Meetings::new(worker);
        for _ in 0..count {
            let Halves(seats, in_turn) = Wire::get(reader);
            let members: Vec<Member> = (0..seats).map(|_: u32| Member::get(reader)).collect();
            drop(meetings.add(&members, in_turn));
        }
        meetings
    }
}

impl Meetings {
    pub(super) fn new(worker: usize) -> Meetings {
        Meetings { worker: to_u32(worker), meetings: Vec::new(), seats: Vec::new() }
    }

    /// Adds a meeting; returns the members' seats.
    pub(super) fn add(&mut self, members: &[Member], in_turn: bool) -> impl Iterator<Item = Side> + use<> {
        let (first, meeting) = (to_u32(self.seats.len()), to_u32(self.meetings.len()));
        let seats = first..first + to_u32(members.len());
        self.seats.extend(members.iter().map(|&member| Seat { meeting, member, told: NOT_YET }));
        let missing = to_u32(members.iter().filter(|member| member.sends).count());
        self.meetings.push(Meeting { seats: seats.clone(), in_turn, missing, settled: 0, latest: NOT_YET });
        let worker = self.worker;
        seats.map(move |number| Side::Seat { worker, number })
    }

    /// Number of words in a batch.
    pub(super) fn words(&self) -> usize {
        2 + self.meetings.len() + SEAT * self.seats.len()
    }

    /// Handles the start of a member. Sends their lower bounds to the members that waited for it last.
    pub(super) fn begin(&mut self, seat: u32, time: Ticks, mut tell: impl FnMut(RecordSpot, Ticks)) {
        let Seat { meeting, .. } = self.seats[seat as usize];
        self.seats[seat as usize].told = time;
        let meeting = &mut self.meetings[meeting as usize];
        let seats = &self.seats[meeting.seats.start as usize..meeting.seats.end as usize];
        meeting.missing = meeting.missing.saturating_sub(1);
        if meeting.in_turn {
            let rest = &seats[meeting.settled as usize..];
            for seat in rest.iter().take_while(|seat| !seat.member.sends || seat.told != NOT_YET) {
                meeting.latest = meeting.latest.max(seat.told);
                meeting.settled += 1;
                if seat.member.receives {
                    tell(seat.member.end, meeting.latest);
                }
            }
            return;
        }
        meeting.latest = meeting.latest.max(time);
        if meeting.missing == 0 {
            for seat in seats.iter().filter(|seat| seat.member.receives) {
                tell(seat.member.end, meeting.latest);
            }
        }
    }

    /// Prepares for the ends: all members have started, and their times are dropped.
    pub(super) fn turn_back(&mut self) {
        self.seats.iter_mut().for_each(|seat| seat.told = Ticks::MAX);
    }

    /// Handles the end of a member: its time if it had started just before.
    pub(super) fn end(&mut self, seat: u32, time: Ticks) {
        self.seats[seat as usize].told = time;
    }

    /// Sends the earliest of the ends after it to each start.
    pub(super) fn limits(&self, mut tell: impl FnMut(RecordSpot, Ticks)) {
        for meeting in &self.meetings {
            let seats = &self.seats[meeting.seats.start as usize..meeting.seats.end as usize];
            let all = seats.iter().map(|seat| seat.told).min().unwrap_or(Ticks::MAX);
            let mut earliest = Ticks::MAX;
            for seat in seats.iter().rev() {
                earliest = earliest.min(seat.told);
                if seat.member.sends {
                    tell(seat.member.begin, if meeting.in_turn { earliest } else { all });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A meeting of members that `s`end or `r`eceive; member n starts with record 2n of location 0, and ends
    /// with the next.
    fn meeting(members: &[&str], in_turn: bool) -> Meetings {
        let spot =
            |record| crate::journal::Spot { location: 0, position: crate::ids::RecordNumber::new(record) };
        let member = |(at, does): (usize, &&str)| Member {
            begin: spot(2 * at),
            end: spot(2 * at + 1),
            sends: does.contains('s'),
            receives: does.contains('r'),
        };
        let members: Vec<Member> = members.iter().enumerate().map(member).collect();
        let mut meetings = Meetings::new(3);
        let seats: Vec<Side> = meetings.add(&members, in_turn).collect();
        assert_eq!(seats[0], Side::Seat { worker: 3, number: 0 });
        meetings
    }

    /// Bounds of members when others start at these times, one after the other.
    fn told(mut meetings: Meetings, begins: &[(u32, Ticks)]) -> Vec<Vec<(usize, Ticks)>> {
        let begin = |&(seat, time): &(u32, Ticks)| {
            let mut told = Vec::new();
            meetings.begin(seat, time, |spot, time| told.push((spot.position.index(), time)));
            told
        };
        begins.iter().map(begin).collect()
    }

    #[test]
    fn receivers_learn_the_latest_begin_once_all_senders_have_begun() {
        let meetings = meeting(&["s", "r", "sr"], false);
        assert_eq!(told(meetings, &[(2, 70), (0, 50)]), [vec![], vec![(3, 70), (5, 70)]]);
    }

    #[test]
    fn in_turn_each_learns_the_latest_begin_up_to_its_own() {
        let meetings = meeting(&["s", "sr", "r", "sr"], true);
        let begins = [(1, 20), (0, 50), (3, 40)];
        assert_eq!(told(meetings, &begins), [vec![], vec![(3, 50), (5, 50)], vec![(7, 50)]]);
    }

    #[test]
    fn begins_are_limited_by_the_ends_after_them() {
        let limits = |in_turn| {
            let mut meetings = meeting(&["s", "sr", "sr"], in_turn);
            meetings.turn_back();
            [(1, 90), (2, 95)].into_iter().for_each(|(seat, time)| meetings.end(seat, time));
            let mut limits = Vec::new();
            meetings.limits(|spot, limit| limits.push((spot.position.index(), limit)));
            limits.sort_unstable();
            limits
        };
        assert_eq!(limits(false), [(0, 90), (2, 90), (4, 90)]);
        assert_eq!(limits(true), [(0, 90), (2, 90), (4, 95)]);
    }
}
