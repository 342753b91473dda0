//! Which stretches of its locations the critical path has come to (specification 8.1).

use model::Ticks;

use super::lines::Lines;
use super::points::SyncPoint;
use super::previous::Past;
use crate::journal::{NO_POSITION, Position, Spot};

/// The critical path at all locations of a worker. At each, it stops at some points: a stretch lies behind each of them,
/// and one before the first.
#[derive(Clone, Debug)]
pub(super) struct CriticalPath {
    /// The points at which it leaves, or begins, with their positions: those of one location after the other.
    stops: Vec<(Position, u32)>,
    /// Where the stops of each location begin, and the end of all.
    firsts: Vec<usize>,
    /// The last event that the path came from, by stretch.
    ends: Vec<Position>,
}

/// What the path comes to at a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit<'a> {
    /// The point where it leaves; none at the begin of everything.
    pub(super) stop: Option<&'a SyncPoint>,
    /// Whether it has been there before.
    pub(super) is_again: bool,
}

impl CriticalPath {
    /// It has not been anywhere.
    pub(super) fn new(lines: &Lines) -> CriticalPath {
        let (mut stops, mut firsts) = (Vec::new(), vec![0]);
        for at in 0..lines.len() {
            let points = (0..).zip(lines.line(at).points());
            let of_line = points.filter(|(_, point)| point.is_stop());
            stops.extend(of_line.map(|(number, point)| (point.position, number)));
            firsts.push(stops.len());
        }
        let ends = vec![NO_POSITION; stops.len() + lines.len()];
        CriticalPath { stops, firsts, ends }
    }

    fn stops(&self, at: usize) -> &[(Position, u32)] {
        &self.stops[self.firsts[at]..self.firsts[at + 1]]
    }

    /// It comes to an event of one of the locations, and goes backwards.
    pub(super) fn visit<'a>(&mut self, lines: &'a Lines, spot: Spot) -> Visit<'a> {
        let at = lines.at(spot.location);
        let before = self.stops(at).partition_point(|&(position, _)| position < spot.position);
        let stop = before.checked_sub(1).map(|before| self.stops(at)[before].1);
        let stop = stop.map(|stop| &lines.line(at).points()[stop as usize]);
        let end = &mut self.ends[self.firsts[at] + at + before];
        let is_again = *end != NO_POSITION;
        *end = if is_again { spot.position.max(*end) } else { spot.position };
        Visit { stop, is_again }
    }

    /// The exclusive ticks on it, by row of a location. What lies between two events is on it once, whatever ways led there,
    /// and in whatever order.
    pub(super) fn ticks(&self, lines: &mut Lines, at: usize) -> Vec<Ticks> {
        let mut path = Vec::new();
        let mut work = Vec::new();
        let location = lines.location(at);
        let stops = self.stops(at);
        let ends = &self.ends[self.firsts[at] + at..][..=stops.len()];
        for (number, &position) in ends.iter().enumerate().filter(|(_, end)| **end != NO_POSITION) {
            let points = lines.line(at).points();
            let stop = number.checked_sub(1).map(|before| stops[before].1 as usize);
            let first = stop.map_or(0, |stop| stop + 1);
            // The event is not behind the next stop.
            let next = stops.get(number).map_or(points.len(), |next| next.1 as usize);
            let end = first + points[first..next].partition_point(|point| point.position < position);
            lines.work(Spot { location, position }, Past::new(stop, end), &mut work);
            let line = lines.line(at);
            let waited = stop.map(|stop| (line.point_piece(stop).0, line.points()[stop].wait));
            for &(row, ticks) in &work {
                let waited = waited.filter(|waited| waited.0 == row).map_or(0, |it| it.1.clamp(0, ticks));
                if row as usize >= path.len() {
                    path.resize(row as usize + 1, 0);
                }
                let sum: &mut Ticks = &mut path[row as usize];
                *sum = (ticks - waited).saturating_add(*sum);
            }
        }
        path
    }
}
