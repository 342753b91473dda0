//! The calls of a process in which MPI makes progress, or that contain communication, 20 bytes each.

use model::Ticks;
use patterns::matched::{Completion, Interval};

use super::Place;
use super::flagged::Flagged;
use crate::ids::{CallId, EventNumber, PathId, Row};
use crate::int::to_u32;

/// A call in which MPI makes progress, or that contains communication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// Its call site.
    pub site: CallSite,
    /// From enter to leave.
    pub interval: Interval,
    /// The event of entering it, if MPI makes progress in it.
    pub entered: EventNumber,
    /// Whether its time counts as analyzed MPI time (see [`Coverage`](crate::coverage::Coverage)).
    pub is_analysed: bool,
    /// Whether the trace ends within it.
    pub never_returned: bool,
}

/// A call site: location, call path, and properties of the called function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallSite {
    /// Position of the location in the report.
    pub location: u32,
    /// The call path in the process's tree.
    pub path: PathId,
    /// The row of that path in the severities of the location.
    pub row: Row,
    /// Class of completion of such calls.
    pub completion: Completion,
    /// Whether they are calls of MPI: severities of MPI's metrics are attributed to these only.
    pub is_mpi: bool,
    /// Whether MPI moves on in them what other processes wait for (rest of MPI 2.5).
    pub makes_progress: bool,
    /// Whether they take time for more than communication: they make or free something, or access a file.
    pub has_own_work: bool,
}

impl CallSite {
    /// Location and call path.
    pub fn place(&self) -> Place {
        Place { location: self.location, path: self.path }
    }
}

/// Compact form of a call: its site with the flags [`ANALYSED`], [`OPEN`] and [`LONG`].
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
struct PackedCall {
    enter: Ticks,
    /// Ticks from enter to leave, or the index of these among the long ones.
    length: u32,
    entered: EventNumber,
    what: Flagged,
}

const ANALYSED: u32 = 1;
const OPEN: u32 = 2;
/// Flag: the length does not fit into 32 bits.
const LONG: u32 = 4;

/// Code for a site that is not known yet.
const NO_SITE: u32 = u32::MAX;

/// The calls of a process: those in which MPI makes progress in the order in which they were entered, others in that of their
/// first operation.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    kept: Vec<PackedCall>,
    /// Lengths that do not fit into 32 bits.
    long: Vec<Ticks>,
    sites: Vec<CallSite>,
    /// The last call within which the trace ends.
    open: Option<CallId>,
    /// Position of the site, by thread and row, or [`NO_SITE`].
    known: Vec<Vec<u32>>,
}

impl Calls {
    /// Adds a call entered by a thread with this path, which is that of one of its rows, by this event. `describe` is called
    /// once per site.
    #[inline(always)]
    pub fn enter(
        &mut self,
        thread: usize,
        (path, row): (PathId, Row),
        (time, entered): (Ticks, EventNumber),
        describe: impl FnOnce() -> CallSite,
    ) -> CallId {
        let known = self.known.get(thread).and_then(|rows| rows.get(row.index())).copied();
        // A row of a task that another thread has started may have another path.
        let is_right = |&number: &u32| self.sites.get(number as usize).is_some_and(|site| site.path == path);
        let number = known.filter(is_right).unwrap_or_else(|| self.add_site(thread, describe()));
        self.kept.push(PackedCall { enter: time, length: 0, entered, what: Flagged::new(number) });
        CallId::new(self.kept.len() - 1)
    }

    #[cold]
    fn add_site(&mut self, thread: usize, site: CallSite) -> u32 {
        if thread >= self.known.len() {
            self.known.resize(thread + 1, Vec::new());
        }
        let (known, row) = (&mut self.known[thread], site.row.index());
        if row >= known.len() {
            known.resize(row + 1, NO_SITE);
        }
        known[row] = to_u32(self.sites.len());
        self.sites.push(site);
        known[row]
    }

    /// Sets the end of a call.
    ///
    /// # Panics
    /// If there is no such call.
    pub fn leave(&mut self, id: CallId, time: Ticks, is_analysed: bool) {
        let call = &mut self.kept[id.index()];
        let ticks = time - call.enter;
        call.what = call.what.with(ANALYSED, is_analysed);
        call.length = u32::try_from(ticks).unwrap_or_else(|_| {
            call.what = call.what.with(LONG, true);
            self.long.push(ticks);
            to_u32(self.long.len() - 1)
        });
    }

    /// Marks a call within which the trace ends.
    ///
    /// # Panics
    /// If there is no such call.
    pub fn never_return(&mut self, id: CallId) {
        let call = &mut self.kept[id.index()];
        call.what = call.what.with(OPEN, true);
        self.open = self.open.max(Some(id));
    }

    /// A call.
    ///
    /// # Panics
    /// If there is no such call.
    #[inline]
    pub fn get(&self, id: CallId) -> Call {
        self.read(&self.kept[id.index()])
    }

    /// A call, if there is one.
    #[inline]
    pub fn find(&self, id: CallId) -> Option<Call> {
        self.kept.get(id.index()).map(|kept| self.read(kept))
    }

    /// The call site of a call.
    ///
    /// # Panics
    /// If there is no such call.
    #[inline]
    pub fn site_of(&self, id: CallId) -> &CallSite {
        &self.sites[self.site_number(id)]
    }

    /// The position of the site of a call in [`sites`](Calls::sites).
    ///
    /// # Panics
    /// If there is no such call.
    #[inline]
    pub fn site_number(&self, id: CallId) -> usize {
        self.kept[id.index()].what.number()
    }

    /// All call sites.
    pub fn sites(&self) -> &[CallSite] {
        &self.sites
    }

    #[inline]
    fn read(&self, &PackedCall { enter, length, entered, what }: &PackedCall) -> Call {
        let length = if what.has(LONG) { self.long[length as usize] } else { length.into() };
        Call {
            site: self.sites[what.number()],
            interval: Interval::new(enter, enter + length),
            entered,
            is_analysed: what.has(ANALYSED),
            never_returned: what.has(OPEN),
        }
    }

    /// The last call within which the trace ends.
    pub fn last_open(&self) -> Option<Call> {
        self.open.map(|id| self.get(id))
    }

    /// The number of calls.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there are no calls.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Frees the memory that only growing needs: no call is entered from here on.
    pub(super) fn shrink(&mut self) {
        self.kept.shrink_to_fit();
        self.long.shrink_to_fit();
        self.sites.shrink_to_fit();
        self.known = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(row: Row, path: PathId) -> CallSite {
        let completion = Completion::Test;
        CallSite {
            location: 7,
            path,
            row,
            completion,
            is_mpi: true,
            makes_progress: true,
            has_own_work: false,
        }
    }

    #[test]
    fn calls_of_any_length_come_back_with_their_sites() {
        let mut calls = Calls::default();
        let ids = [(0, 3, 30), (1, 3, 31), (0, 3, 30), (0, 3, 99)]
            .map(|(thread, row, path)| (thread, Row::new(row), PathId::new(path)))
            .map(|(thread, row, path)| {
                calls.enter(thread, (path, row), (-8, EventNumber::NONE), || site(row, path))
            });
        assert_eq!(calls.sites.len(), 3);
        calls.leave(ids[0], 1 << 40, true);
        calls.leave(ids[1], -7, false);
        calls.leave(ids[2], i64::from(u32::MAX) - 8, false);
        calls.never_return(ids[3]);
        calls.shrink();
        let told = ids.map(|id| (calls.get(id).interval.leave, calls.get(id).is_analysed));
        assert_eq!(told, [(1 << 40, true), (-7, false), (i64::from(u32::MAX) - 8, false), (-8, false)]);
        assert_eq!(ids.map(|id| calls.get(id).site.path), [30, 31, 30, 99].map(PathId::new));
        assert_eq!(calls.last_open(), Some(calls.get(ids[3])));
        assert!(calls.get(ids[3]).never_returned && !calls.get(ids[0]).never_returned);
        assert_eq!((calls.find(CallId::new(4)), calls.find(CallId::NONE)), (None, None));
    }
}
