//! Severest instances of a pattern: the five longest, of each call path only the longest (specification
//! 13.3).
//!
//! Instances have a total order, so that neither the order in which they come nor the grouping of ranks
//! matters.

use std::cmp::Reverse;

use model::Ticks;

use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::ids::{PathId, ReportPath};
use crate::operations::Place;
use crate::wire::{Wire, wire};

/// Number of instances that are kept.
const KEPT: usize = 5;

/// An instance of a pattern. The order is by descending severity, then by ranks and times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Instance<P = PathId> {
    /// Waiting time, in a collective operation the sum over all members.
    pub duration: Reverse<Ticks>,
    /// The process that waited, in a collective operation the longest.
    pub process: u32,
    /// Start of the operation.
    pub enter: Ticks,
    /// End of the operation.
    pub exit: Ticks,
    /// The call path that waited: of its process, or of the report.
    pub path: P,
    /// Location and call path of the cause.
    pub cause: Place,
}

impl Wire for Reverse<Ticks> {
    fn put(&self, batch: &mut Batch) {
        self.0.put(batch);
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        Reverse(Ticks::get(reader))
    }
}

wire!(Instance { duration, [process, path], enter, exit, cause });
wire!(Instance<ReportPath> { duration, [process, path], enter, exit, cause });

/// The severest instances so far, in descending order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Severest<P = PathId> {
    instances: Vec<Instance<P>>,
}

impl<P: Copy + Ord> Severest<P> {
    /// Adds an instance if it is severe enough.
    #[inline]
    pub fn offer(&mut self, instance: Instance<P>) {
        if self.instances.len() == KEPT && self.instances[KEPT - 1] <= instance {
            return;
        }
        match self.instances.iter_mut().find(|known| known.path == instance.path) {
            Some(known) if *known <= instance => return,
            Some(known) => *known = instance,
            None => self.instances.push(instance),
        }
        self.instances.sort_unstable();
        self.instances.truncate(KEPT);
    }

    /// The severest first.
    pub fn instances(&self) -> &[Instance<P>] {
        &self.instances
    }
}

wire!(Severest<ReportPath> { instances });

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(duration: Ticks, path: usize) -> Instance<ReportPath> {
        let path = ReportPath::new(path);
        let cause = Place { location: 1, path: PathId::new(2) };
        Instance { duration: Reverse(duration), process: 3, enter: -4, exit: 5, path, cause }
    }

    fn of(offered: &[(Ticks, usize)]) -> Severest<ReportPath> {
        let mut severest = Severest::default();
        offered.iter().for_each(|&(duration, path)| severest.offer(instance(duration, path)));
        severest
    }

    fn kept(severest: &Severest<ReportPath>) -> Vec<(Ticks, usize)> {
        severest.instances().iter().map(|kept| (kept.duration.0, kept.path.index())).collect()
    }

    #[test]
    fn of_each_call_path_the_longest_is_kept() {
        assert_eq!(kept(&of(&[(3, 1), (5, 2), (9, 1), (4, 1)])), [(9, 1), (5, 2)]);
    }

    #[test]
    fn five_are_kept_in_any_order_of_arrival() {
        let mut offered = [(1, 1), (7, 7), (3, 3), (6, 6), (2, 2), (5, 5), (4, 4)];
        for _ in 0..offered.len() {
            offered.rotate_left(1);
            assert_eq!(kept(&of(&offered)), [(7, 7), (6, 6), (5, 5), (4, 4), (3, 3)]);
        }
    }

    #[test]
    fn of_equals_the_lowest_rank_wins() {
        let [mut low, high] = [instance(5, 1), instance(5, 1)];
        low.process = 0;
        for both in [[low, high], [high, low]] {
            let mut severest = Severest::default();
            both.into_iter().for_each(|instance| severest.offer(instance));
            assert_eq!(severest.instances(), [low]);
        }
    }

    #[test]
    fn instances_survive_the_way_to_another_worker() {
        let severest = of(&[(3, 1), (5, 2)]);
        let mut batch = Batch::new();
        severest.put(&mut batch);
        assert_eq!(crate::wire::one::<Severest<ReportPath>>(&batch), severest);
    }
}
