//! Which instances of wait states may be among the severest of the run, for whoever sees only some of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::Ticks;
use rustc_hash::FxHashMap;

use super::candidates::LONGEST;
use crate::ids::PathId;
use crate::statistics::{SUBJECTS, SubjectId};

/// What is known of the instances so far. Instances that it lets pass are all that [`SevereWaits`](super::SevereWaits) may
/// keep, and more: their longest durations, and the longest one of each call path of each process.
#[derive(Debug, Default)]
pub struct Threshold {
    /// By wait state: the longest durations, in ticks, the shortest of them on top.
    longest: Vec<BinaryHeap<Reverse<Ticks>>>,
    /// By wait state, process and its call path: the longest duration, in ticks.
    of_path: FxHashMap<(SubjectId, u32, PathId), Ticks>,
}

impl Threshold {
    /// Whether an instance of this duration, in ticks, at a call path of a process may be among the severest.
    pub fn passes(&mut self, subject: SubjectId, process: u32, path: PathId, duration: Ticks) -> bool {
        if self.longest.is_empty() {
            self.longest.resize_with(SUBJECTS.len(), BinaryHeap::new);
        }
        let of_path = self.of_path.entry((subject, process, path)).or_insert(Ticks::MIN);
        let is_listed = duration >= *of_path;
        *of_path = duration.max(*of_path);
        let longest = &mut self.longest[subject];
        if longest.len() < LONGEST {
            longest.push(Reverse(duration));
            return true;
        }
        match longest.peek_mut() {
            // Others of the same duration may come before it in the order of instances, or behind.
            Some(shortest) if duration < shortest.0 => is_listed,
            Some(mut shortest) => {
                shortest.0 = duration;
                true
            }
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_longest_pass_and_the_longest_of_each_path() {
        let mut threshold = Threshold::default();
        let paths = [PathId::new(0), PathId::new(1)];
        let mut pass = |at: usize, duration| threshold.passes(0, 7, paths[at], duration);
        assert!((0..LONGEST as Ticks).all(|duration| pass(0, 100 + duration)));
        assert_eq!(
            [99, 100, 102, 100, 101].map(|duration| pass(0, duration)),
            [false, true, true, false, true]
        );
        // The first of another path, and then only longer ones.
        assert_eq!([4, 3, 5].map(|duration| pass(1, duration)), [true, false, true]);
    }
}
