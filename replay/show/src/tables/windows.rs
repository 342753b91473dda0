//! The tables `windows` and `window_calls`: what locations did around a wait.

use std::collections::BTreeMap;

use cubex::Cube;
use details::Table;

use super::Columns;
use crate::error::Result;

/// A call in a window. Times are ticks since the begin of the trace, not cut to the window.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Call {
    location: usize,
    cnode: usize,
    enter: i64,
    leave: i64,
}

/// The calls of some locations in a time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Window {
    begin: i64,
    end: i64,
    /// By location, enter and depth.
    calls: Vec<Call>,
}

impl Window {
    /// Reads a window by its number; one without calls if there is none of this number.
    ///
    /// # Errors
    /// If a table refers to what the report does not have.
    pub fn read(cube: &Cube, number: usize, windows: &Table, calls: &Table) -> Result<Window> {
        let columns = Columns::of("windows", windows);
        let (begins, ends) = (columns.integers("begin")?, columns.integers("end")?);
        let (Some(&begin), Some(&end)) = (begins.get(number), ends.get(number)) else {
            return Ok(Window::default());
        };
        let columns = Columns::of("window_calls", calls);
        let of = columns.positions("window", windows.rows())?;
        let locations = columns.positions("location", cube.locations.len())?;
        let cnodes = columns.positions("cnode", cube.cnodes.len())?;
        let (enters, leaves) = (columns.integers("enter")?, columns.integers("leave")?);
        let calls = (0..calls.rows()).filter(|&row| of[row] == Some(number)).filter_map(|row| {
            Some(Call {
                location: locations[row]?,
                cnode: cnodes[row]?,
                enter: enters[row],
                leave: leaves[row],
            })
        });
        Ok(Window { begin, end, calls: calls.collect() })
    }

    /// The call path in which a location was longest between two times, without the calls that it made. `None` unless it
    /// is certain: what lies outside of the window may have been anything. Calls that the window leaves out count for
    /// their caller.
    pub fn longest(&self, location: usize, from: i64, to: i64) -> Option<usize> {
        let (begin, end) = (from.max(self.begin), to.min(self.end));
        let mut own: BTreeMap<usize, i64> = BTreeMap::new();
        let mut around: Vec<&Call> = Vec::new();
        let mut known = 0;
        for call in self.calls.iter().filter(|call| call.location == location) {
            while around.last().is_some_and(|caller| caller.leave <= call.enter) {
                around.pop();
            }
            let time = call.leave.min(end).saturating_sub(call.enter.max(begin)).max(0);
            *own.entry(call.cnode).or_default() += time;
            match around.last() {
                Some(caller) => *own.entry(caller.cnode).or_default() -= time,
                None => known += time,
            }
            around.push(call);
        }
        let unknown = to.saturating_sub(from).saturating_sub(known);
        let (&longest, &time) = own.iter().max_by_key(|(_, time)| **time)?;
        let others = own.iter().filter(|(cnode, _)| **cnode != longest).map(|(_, time)| *time);
        (time > others.max().unwrap_or(0).saturating_add(unknown)).then_some(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window() -> Window {
        let call = |location, cnode, enter, leave| Call { location, cnode, enter, leave };
        // Path 0 calls 1 and then 2.
        Window {
            begin: 100,
            end: 200,
            calls: vec![call(3, 0, 0, 500), call(3, 1, 50, 140), call(3, 2, 150, 300), call(4, 9, 0, 500)],
        }
    }

    #[test]
    fn longest_call_is_that_with_most_time_of_its_own() {
        assert_eq!(window().longest(3, 100, 150), Some(1));
        assert_eq!(window().longest(3, 120, 200), Some(2));
        assert_eq!(window().longest(3, 138, 150), Some(0));
        assert_eq!(window().longest(4, 100, 200), Some(9));
    }

    #[test]
    fn longest_call_is_unknown_if_time_outside_of_the_window_could_change_it() {
        // 50 of path 2, 10 of path 0, 40 of path 1: 9 more do not matter, 10 do.
        assert_eq!(window().longest(3, 100, 209), Some(2));
        assert_eq!(window().longest(3, 100, 210), None);
        assert_eq!(window().longest(7, 100, 200), None, "a location that is not in the window");
        assert_eq!(Window::default().longest(3, 100, 200), None);
    }
}
