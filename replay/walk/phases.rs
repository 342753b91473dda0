//! Borders of phases: where the main thread enters and leaves the outermost visits of call paths that the user names (what-if 5.2).
//!
//! They are kept beside the notes, not among them: with them and without, the notes are the same, and so are all replayed times.

use model::Ticks;
use rustc_hash::FxHashMap;

use super::marks::NotedEvents;
use super::process::ProcessWalk;
use crate::ids::{JournalPosition, PathId};
use crate::int::to_u32;

/// An outermost visit of a phase begins or ends at the main thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Border {
    /// The phase, by its place among those that the user names.
    pub phase: u16,
    /// Whether the visit begins.
    pub begins: bool,
    /// Whether it is a visit of a parallel region.
    pub is_parallel: bool,
    /// Its time.
    pub time: Ticks,
    /// Time before it lies in front of this position among the pieces of time between notes.
    pub pieces: JournalPosition,
    /// How many notes of the location are before it.
    pub notes: u32,
}

/// The visits of phases by the main thread of a process.
#[derive(Debug, Default)]
pub(super) struct Borders {
    /// By call path of a region that may be that of a phase: the phases that it is.
    of_paths: FxHashMap<PathId, Box<[u16]>>,
    /// By phase: how many visits are open, one inside of the other.
    depths: FxHashMap<u16, u32>,
    pub(super) list: Vec<Border>,
}

impl ProcessWalk<'_> {
    /// Notes that the main thread has entered, or left, a call path that may be that of phases; all time until then was accounted for.
    #[cold]
    pub(super) fn note_border(&mut self, path: PathId, begins: bool, time: Ticks) {
        if self.threads[0].noted.is_none() {
            return;
        }
        let kind =
            self.tree.paths().get(path.index()).and_then(|it| self.trace.kinds.get(it.region as usize));
        let is_parallel = kind.is_some_and(|kind| kind.is_parallel);
        if !self.borders.of_paths.contains_key(&path) {
            let phases = self.trace.phase_paths.iter().enumerate();
            let own = phases.filter(|(_, phase)| self.is_path_of(path, phase));
            let own = own.filter_map(|(at, _)| u16::try_from(at).ok()).collect();
            self.borders.of_paths.insert(path, own);
        }
        let Some(phases) = self.borders.of_paths.get(&path) else { return };
        for &phase in phases {
            let depth = self.borders.depths.entry(phase).or_default();
            let is_outermost = match begins {
                true => *depth == 0,
                false => *depth == 1,
            };
            *depth = if begins { *depth + 1 } else { depth.saturating_sub(1) };
            if !is_outermost {
                continue;
            }
            self.threads[0].note_begin(time);
            let Some(NotedEvents { notes, pieces }) = self.threads[0].noted.as_deref_mut() else { return };
            // What is before and behind does not lie in one piece.
            pieces.close();
            let pieces = pieces.len();
            let time = notes.last().map_or(time, |last| time.max(last.time));
            let border = Border { phase, begins, is_parallel, time, pieces, notes: to_u32(notes.len()) };
            self.borders.list.push(border);
        }
    }

    /// Whether the last names of a call path are those of a phase.
    fn is_path_of(&self, path: PathId, phase: &str) -> bool {
        let mut names = Vec::new();
        let mut at = path;
        while let Some(it) = self.tree.paths().get(at.index()).filter(|_| at != PathId::NONE) {
            names.push(self.trace.region_name(it.region));
            at = it.parent;
        }
        names.reverse();
        format!("/{}/", names.join("/")).ends_with(&format!("/{phase}/"))
    }
}
