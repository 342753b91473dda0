//! Iterations of loops in a sequence (structure 2.7).
//!
//! An *instance* of a loop begins where the loop is entered from outside, or where a loop around it with the same header begins
//! an iteration. An *iteration* begins with each instance, and at a visit of the header from a latch of the loop. It ends where the
//! next one begins, or where the loop is left.

use crate::forest::{Forest, LoopId};
use crate::node::Node;

/// An iteration of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Iteration {
    /// Its first step.
    pub first: u32,
    /// The step behind its last one.
    pub end: u32,
    /// Whether an instance of the loop begins with it.
    pub begins_instance: bool,
}

/// Iterations of each loop, by loop, in their order.
pub type Iterations = Vec<Vec<Iteration>>;

/// A loop that a sequence is in.
struct Open {
    id: LoopId,
    first: u32,
    begins_instance: bool,
}

/// Goes through a sequence, and calls `with` for each iteration of each loop when it ends: those of inner loops first.
///
/// # Panics
/// If there are 2^32 steps.
pub fn iterations(
    forest: &Forest,
    sequence: impl IntoIterator<Item = Node>,
    mut with: impl FnMut(LoopId, Iteration),
) {
    // The loops around the node before, the innermost last.
    let mut open: Vec<Open> = Vec::new();
    let mut before = Node::BEGIN;
    let mut close = |Open { id, first, begins_instance }: &Open, end| {
        with(*id, Iteration { first: *first, end, begins_instance: *begins_instance });
    };
    let mut count = 0_u32;
    for node in sequence {
        let step = count;
        count = count.checked_add(1).expect("less than 2^32 steps");
        let around = forest.around(node);
        let innermost = open.last().map(|open| open.id);
        // Nothing begins or ends.
        if around == innermost && !forest.is_header(node) {
            before = node;
            continue;
        }
        // Loops that are left.
        while let Some(last) = open.last()
            && around.is_none_or(|around| !forest.is_within(around, last.id))
        {
            close(last, step);
            open.pop();
        }
        if let Some(repeated) = forest.repeated_by(before, node)
            && let Some(outermost) = open.iter().rposition(|open| open.id == repeated)
        {
            open[outermost..].iter().rev().for_each(|open| close(open, step));
            for (place, open) in open[outermost..].iter_mut().enumerate() {
                (open.first, open.begins_instance) = (step, place > 0);
            }
        }
        let innermost = open.last().map(|open| open.id);
        let (mut entered, known) = (around, open.len());
        while let Some(id) = entered
            && entered != innermost
        {
            open.push(Open { id, first: step, begins_instance: true });
            entered = forest.get(id).parent;
        }
        open[known..].reverse();
        before = node;
    }
    open.iter().rev().for_each(|open| close(open, count));
}

#[cfg(test)]
pub(crate) fn all(forest: &Forest, sequence: &[Node]) -> Iterations {
    let mut all = vec![Vec::new(); forest.loops().len()];
    iterations(forest, sequence.iter().copied(), |id, iteration| all[id.index()].push(iteration));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::{nodes, numbered, random};

    fn counts(sequence: &[Node]) -> Vec<(String, usize, usize)> {
        let forest = Forest::new(&Graph::of(sequence.iter().copied()));
        let all = all(&forest, sequence);
        let count = |id: LoopId| {
            let all = &all[id.index()];
            (forest.name(id), all.iter().filter(|iteration| iteration.begins_instance).count(), all.len())
        };
        forest.ids().map(count).collect()
    }

    #[test]
    fn iterations_of_nested_loops_are_counted_through_all_instances() {
        let nested = nodes(&[1, 2, 3, 2, 3, 4, 1, 2, 3, 4, 5]);
        assert_eq!(counts(&nested), [("1".into(), 1, 2), ("1.1".into(), 2, 3)]);
        let often: Vec<Node> =
            (0..50).flat_map(|_| [nodes(&[1, 2]).repeat(10), nodes(&[3])].concat()).collect();
        assert_eq!(counts(&often), [("1".into(), 1, 50), ("1.1".into(), 50, 500)]);
        let now_and_then: Vec<Node> = (0..50).flat_map(|_| nodes(&[1, 2, 1, 2, 3])).collect();
        assert_eq!(counts(&now_and_then), [("1".into(), 1, 100)]);
        // A loop with two entries.
        assert_eq!(counts(&nodes(&[1, 2, 3, 4, 3, 2, 3, 4, 3, 2, 5]))[0].2, 3);
    }

    #[test]
    fn borders_are_where_headers_are_visited_and_loops_left() {
        let sequence = nodes(&[1, 2, 3, 2, 3, 4, 2, 5]);
        let forest = Forest::new(&Graph::of(sequence.iter().copied()));
        let borders: Vec<_> = all(&forest, &sequence)[0].iter().map(|it| (it.first, it.end)).collect();
        assert_eq!(borders, [(1, 3), (3, 6), (6, 7)]);
    }

    #[test]
    fn iterations_of_a_loop_cover_exactly_the_visits_of_its_nodes() {
        let mut draw = random(23);
        for _ in 0..1000 {
            let (alphabet, length) = (draw(9) + 1, draw(80));
            let sequence = numbered((0..length).map(|_| draw(alphabet)));
            let forest = Forest::new(&Graph::of(sequence.iter().copied()));
            for (id, all) in forest.ids().zip(all(&forest, &sequence)) {
                let covered: Vec<u32> = all.iter().flat_map(|it| it.first..it.end).collect();
                let inside = (0..length).filter(|&step| forest.has(id, sequence[step as usize]));
                assert_eq!(covered, inside.collect::<Vec<_>>());
                for (one, next) in all.iter().zip(&all[1..]) {
                    assert!(one.end == next.first || next.begins_instance);
                    assert!(next.begins_instance || sequence[next.first as usize] == forest.get(id).header);
                }
            }
        }
    }
}
