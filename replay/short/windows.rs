//! Windows of each location: the intervals of time that are kept.

use model::Ticks;
use patterns::matched::Interval;

use crate::focus::{Window, Windows};
use crate::operations::{WORLD_AT_FINALIZE, WORLD_AT_INIT};
use crate::structure::{Agreed, LocationIterations};
use crate::walk::Walked;

/// Times before and behind those of all events.
const ALL: Window = Window { begin: Ticks::MIN / 2, end: Ticks::MAX / 2 };

/// Whether a call lies in one of these windows: it is entered inside, and left at the end at the latest.
pub(super) fn has(windows: &Windows, call: Interval) -> bool {
    begun(windows, call.enter).is_some_and(|window| call.enter < window.end && call.leave <= window.end)
}

/// Whether a call lies at least in part in one of them.
pub(super) fn touch(windows: &Windows, call: Interval) -> bool {
    let next = windows.list().partition_point(|window| window.begin <= call.enter);
    begun(windows, call.enter).is_some_and(|window| call.enter < window.end)
        || windows.list().get(next).is_some_and(|window| window.begin < call.leave)
}

/// The last one that begins at a time or before.
fn begun(windows: &Windows, time: Ticks) -> Option<Window> {
    let list = windows.list();
    list.partition_point(|window| window.begin <= time).checked_sub(1).map(|at| list[at])
}

/// All time that is in none of them.
fn complement(windows: &Windows) -> Windows {
    let mut since = ALL.begin;
    let mut list = Vec::with_capacity(windows.list().len() + 1);
    for &Window { begin, end } in windows.list() {
        list.push(Window { begin: since, end: begin });
        since = end;
    }
    list.push(Window { begin: since, ..ALL });
    Windows::new(list)
}

/// The windows of each location of these processes in which only some iterations of the main loop are kept: these iterations, and
/// starting and ending MPI; with `keep_outside` also all that is in no iteration.
pub(super) fn of_iterations(
    processes: &[Walked],
    agreed: &Agreed,
    numbers: &[u64],
    keep_outside: bool,
) -> Vec<Vec<Windows>> {
    let is_kept = |number: u64| numbers.binary_search(&number).is_ok();
    let of_line = |line: &LocationIterations| -> [Vec<Window>; 2] {
        let mut intervals = [Vec::new(), Vec::new()];
        for (place, own) in line.own.iter().enumerate() {
            let number = line.number_of_all(Some(place), agreed.iterations);
            intervals[usize::from(is_kept(number))].push(Window { begin: own.begin, end: own.end });
        }
        intervals
    };
    let of_process = |walked: &Walked| -> Vec<Windows> {
        let process = walked.process.range();
        let of_location = |location: usize| {
            let line = agreed.place_of(location, &process).map(|at| &agreed.locations[at]);
            let [left_out, mut kept] = line.map(of_line).unwrap_or_default();
            kept.extend(of_mpi_itself(walked));
            if keep_outside {
                kept.extend_from_slice(complement(&Windows::new(left_out)).list());
            }
            Windows::new(kept)
        };
        process.clone().map(of_location).collect()
    };
    processes.iter().map(of_process).collect()
}

/// The calls that start and end MPI.
fn of_mpi_itself(walked: &Walked) -> impl Iterator<Item = Window> {
    let operations = &walked.operations;
    let calls = operations
        .collectives
        .iter()
        .filter(|collective| [WORLD_AT_INIT, WORLD_AT_FINALIZE].contains(&collective.communicator));
    calls.map(|collective| {
        let Interval { enter, leave } = operations.call(collective.call).interval;
        Window { begin: enter, end: leave }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(intervals: &[[Ticks; 2]]) -> Windows {
        Windows::new(intervals.iter().map(|&[begin, end]| Window { begin, end }))
    }

    fn windows() -> Windows {
        of(&[[50, 60], [10, 20], [20, 30], [40, 40]])
    }

    #[test]
    fn complement_is_all_that_is_in_no_window() {
        let Window { begin, end } = ALL;
        assert_eq!(complement(&windows()), of(&[[begin, 10], [30, 50], [60, end]]));
        assert_eq!(complement(&complement(&windows())), windows());
        assert_eq!(complement(&Windows::default()).list(), [ALL]);
    }

    #[test]
    fn calls_lie_in_a_window_up_to_its_end() {
        let has = |enter, leave| has(&windows(), Interval::new(enter, leave));
        assert_eq!([has(10, 30), has(10, 10), has(29, 30), has(55, 58)], [true; 4]);
        assert_eq!([has(9, 12), has(29, 31), has(30, 30), has(25, 55), has(60, 60)], [false; 5]);
    }

    #[test]
    fn calls_that_reach_into_a_window_touch_it() {
        let touch = |enter, leave| touch(&windows(), Interval::new(enter, leave));
        assert_eq!([touch(5, 11), touch(29, 35), touch(35, 55), touch(5, 90), touch(12, 13)], [true; 5]);
        assert_eq!([touch(5, 10), touch(30, 50), touch(60, 70)], [false; 3]);
    }
}
