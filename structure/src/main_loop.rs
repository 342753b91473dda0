//! The main loop: the one whose iterations are those of the program (structure 2.8).

use std::cmp::Reverse;

use model::Ticks;

use crate::forest::{Forest, LoopId};

/// Iterations of which a loop needs at least so many to be repeated at all.
const ITERATIONS: u64 = 3;

/// Time and iterations of a loop, over all locations of a group.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LoopTotals {
    /// Ticks in its iterations.
    pub ticks: Ticks,
    /// How many these are at a location.
    pub iterations: u64,
}

/// Returns the main loop, given the totals of each: the outermost one with most time; instead of it one inside that shares its
/// header and has nearly all of its time, since it is that loop with a rare extra; and instead of one that is hardly
/// repeated one inside with half of its time.
pub fn main_loop(forest: &Forest, totals: &[LoopTotals]) -> Option<LoopId> {
    let ticks = |id: LoopId| i128::from(totals[id.index()].ticks);
    let longest = |loops: &mut dyn Iterator<Item = LoopId>| loops.max_by_key(|&id| (ticks(id), Reverse(id)));
    let mut id = longest(&mut forest.children(None))?;
    loop {
        let all = ticks(id);
        let is_nearly_all = |&inner: &LoopId| forest.get(inner).shares_header && 10 * ticks(inner) >= 9 * all;
        let inside = longest(&mut forest.children(Some(id)).filter(is_nearly_all)).or_else(|| {
            let is_half = |&inner: &LoopId| 2 * ticks(inner) >= all;
            let is_hardly_repeated = totals[id.index()].iterations < ITERATIONS;
            is_hardly_repeated.then(|| longest(&mut forest.children(Some(id)).filter(is_half)))?
        });
        match inside {
            Some(inner) => id = inner,
            None => return Some(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::nodes;

    fn chosen(sequence: &[u32], totals: &[(Ticks, u64)]) -> Option<String> {
        let forest = Forest::new(&Graph::of(nodes(sequence)));
        let totals: Vec<LoopTotals> =
            totals.iter().map(|&(ticks, iterations)| LoopTotals { ticks, iterations }).collect();
        main_loop(&forest, &totals).map(|id| forest.name(id))
    }

    #[test]
    fn the_outermost_loop_with_most_time_is_chosen_and_the_first_of_equals() {
        let two = [1, 2, 1, 2, 3, 4, 3, 4];
        assert_eq!(chosen(&two, &[(10, 5), (11, 5)]).as_deref(), Some("2"));
        assert_eq!(chosen(&two, &[(10, 5), (10, 5)]).as_deref(), Some("1"));
        assert_eq!(chosen(&[1, 2, 3], &[]), None);
    }

    #[test]
    fn a_loop_with_a_rare_extra_is_the_one_inside_that_shares_the_header() {
        let extra = [[1, 2].repeat(10), vec![3]].concat().repeat(5);
        assert_eq!(chosen(&extra, &[(100, 5), (90, 50)]).as_deref(), Some("1.1"));
        assert_eq!(chosen(&extra, &[(100, 5), (89, 50)]).as_deref(), Some("1"));
    }

    #[test]
    fn a_loop_with_two_iterations_is_left_for_one_inside_with_half_of_its_time() {
        let twice = [1, 2, 3, 2, 3, 4, 1, 2, 3, 4, 5];
        assert_eq!(chosen(&twice, &[(100, 2), (50, 9)]).as_deref(), Some("1.1"));
        assert_eq!(chosen(&twice, &[(100, 2), (49, 9)]).as_deref(), Some("1"));
        assert_eq!(chosen(&twice, &[(100, 3), (50, 9)]).as_deref(), Some("1"));
    }
}
