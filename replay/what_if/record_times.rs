//! Times of all records of a location in a replayed run, from those of its marks (what-if 3.3).

use model::Ticks;

use super::classes::RowClass;
use super::dependencies::DependencyKind;
use super::graph::LocationGraph;
use super::lanes::{Lane, RowChanges, whole};
use super::marks::{Kind, Marks, Piece};
use crate::ids::Row;
use crate::int::to_usize;
use crate::walk::{Note, Noted, Pieces};

/// The times of the records of a location, one after the other.
#[derive(Debug)]
pub struct RecordTimes<'r> {
    of: &'r LocationGraph,
    /// The replayed time of each mark.
    times: &'r [Ticks],
    /// The latest start that each mark has waited for; [`Ticks::MIN`] for none.
    starts: &'r [Ticks],
    lane: Lane,
    changes: &'r RowChanges,
    classes: &'r [RowClass],
    notes: &'r [Note],
    /// By note: its mark, if it is one.
    marked: Vec<Option<usize>>,
    pieces: &'r Pieces,
    /// The next record.
    record: usize,
    /// Notes that lie before it.
    passed: usize,
    /// The last mark, and its time since then.
    last: Option<(usize, Since)>,
    /// The latest time so far.
    now: Ticks,
}

/// Pieces of time since a mark.
#[derive(Clone, Copy, Debug)]
struct Since {
    /// The next piece, and its ticks that have passed.
    piece: usize,
    part: Ticks,
    /// Ticks that have passed in all, as measured, and scaled.
    elapsed: Ticks,
    scaled: i128,
}

impl<'r> RecordTimes<'r> {
    pub(super) fn new(
        (of, times, starts): (&'r LocationGraph, &'r [Ticks], &'r [Ticks]),
        (lane, changes, classes): (Lane, &'r RowChanges, &'r [RowClass]),
        notes: &'r [Note],
        pieces: &'r Pieces,
    ) -> RecordTimes<'r> {
        let marked = marked(&of.marks, notes);
        let (record, passed, last, now) = (0, 0, None, Ticks::MIN);
        RecordTimes {
            of,
            times,
            starts,
            lane,
            changes,
            classes,
            notes,
            marked,
            pieces,
            record,
            passed,
            last,
            now,
        }
    }

    /// How many records there are.
    pub fn count(&self) -> usize {
        self.pieces.records.len()
    }

    /// The measured and the replayed time of the next record; `begins` says that it begins something. `None` behind the last one.
    pub fn next(&mut self, begins: bool) -> Option<(Ticks, Ticks)> {
        let &(time, before) = self.pieces.records.get(self.record)?;
        self.record += 1;
        let behind = self.pieces.records.get(self.record).map(|&(_, noted)| to_usize(noted.into()));
        self.pass(to_usize(before.into()));
        let own = to_usize(before.into())..behind.unwrap_or(self.notes.len());
        let replayed = match self.mark_of(own) {
            Some(mark) => self.times[mark].saturating_add(time - self.of.marks.list[mark].time),
            None => self.between(time, begins),
        };
        self.now = self.now.max(replayed);
        Some((time, self.now))
    }

    /// Goes on to the last mark before a note.
    fn pass(&mut self, end: usize) {
        for note in self.passed..end {
            if let Some(mark) = self.marked[note] {
                let piece = self.notes[note].position.index();
                self.last = Some((mark, Since { piece, part: 0, elapsed: 0, scaled: 0 }));
            }
        }
        self.passed = self.passed.max(end);
    }

    /// The mark of a record with these notes. What was noted behind its own is the end of all that the trace does not end; and the first
    /// record of all may have another mark besides.
    fn mark_of(&self, own: std::ops::Range<usize>) -> Option<usize> {
        let marks = || own.clone().filter_map(|note| Some((self.notes[note].what, self.marked[note]?)));
        let first = marks().find(|(what, _)| *what != Noted::Begin).or_else(|| marks().next());
        first.map(|(_, mark)| mark)
    }

    /// The time of a record that is no mark.
    fn between(&mut self, time: Ticks, begins: bool) -> Ticks {
        let Some((mark, _)) = self.last else { return time };
        let (from, begin) = (self.of.marks.list[mark].time, self.times[mark]);
        let next = self.of.marks.list.get(mark + 1).map(|next| (next, self.times[mark + 1]));
        match next {
            Some((next, _)) if next.kind() == Kind::Fixed => time,
            Some((next, end)) if matches!(next.kind(), Kind::Completion(_)) => {
                let kept = match begins {
                    true if self.lane.keeps_calls() => begin.saturating_add(time - from),
                    // What takes less time may be there before the rest of the call that begins it.
                    true => begin,
                    false => end.saturating_sub(next.time - time).max(self.start_before(mark + 1, time)),
                };
                kept.min(end).max(begin)
            }
            next => {
                let replayed = begin.saturating_add(self.work_until(time - from));
                next.map_or(replayed, |(_, end)| replayed.min(end)).max(begin)
            }
        }
    }

    /// The latest start that a completion has waited for, if a record that it had at a time was behind that; where clocks are wrong
    /// it need not be.
    fn start_before(&self, mark: usize, time: Ticks) -> Ticks {
        let Kind::Completion(number) = self.of.marks.list[mark].kind() else { return Ticks::MIN };
        let dependencies = self.of.dependencies_of(number).iter().map(|&at| self.of.dependencies.get(at));
        let waited = dependencies.filter(|dependency| dependency.kind != DependencyKind::IfRendezvous);
        let is_behind = waited.map(|dependency| dependency.latest).max().is_some_and(|latest| latest <= time);
        if is_behind { self.starts[mark] } else { Ticks::MIN }
    }

    /// Replayed ticks from the last mark on, of so many measured ones.
    fn work_until(&mut self, ticks: Ticks) -> Ticks {
        let (lane, classes, changes) = (self.lane, self.classes, self.changes);
        let Some((mark, since)) = &mut self.last else { return ticks };
        let next = *mark + 1;
        let scaled = |row, ticks| lane.scaled(Piece { row, ticks }, next, classes, changes);
        while since.elapsed < ticks
            && let Some(&(row, all)) = self.pieces.list.get(since.piece)
        {
            // Less than nothing passes where more time was accounted for than there was.
            let left = all - since.part;
            let now = left.min(ticks - since.elapsed);
            since.elapsed += now;
            since.scaled += scaled(row, now);
            since.part += now;
            if now == left {
                (since.piece, since.part) = (since.piece + 1, 0);
            }
        }
        // Without more pieces it is time outside of any region.
        whole(since.scaled + scaled(Row::NONE, ticks - since.elapsed))
    }
}

/// By note: its mark, if it is one. A call of MPI that completes nothing has none where it is left, and of a poll loop only the first
/// enter and the last leave have one.
fn marked(marks: &Marks, notes: &[Note]) -> Vec<Option<usize>> {
    let mut next = 0;
    let of = |note: &Note| {
        let is_mark = marks.list.get(next).is_some_and(|mark| match (note.what, mark.kind()) {
            (Noted::Leave, Kind::Completion(at)) => {
                !marks.completions.get(at).is_of_threads && mark.time == note.time
            }
            (Noted::Leave, _) => marks.begin.is_some_and(|begin| begin as usize == next),
            (Noted::Enter(_), Kind::Completion(at)) => marks.completions.get(at).is_of_threads,
            _ => true,
        });
        let mark = is_mark.then_some(next);
        next += usize::from(is_mark);
        mark
    };
    notes.iter().map(of).collect()
}
