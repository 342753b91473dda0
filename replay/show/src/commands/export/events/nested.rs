//! Calls of a location as enters and leaves that are nested, whatever the rows say.
//!
//! Windows may overlap, and each has its own piece of a call that reaches over its borders: pieces are joined. A call that
//! ends after the one around it is cut.

use super::{Event, What};

/// A call, or a piece of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Call {
    pub(super) enter: i64,
    pub(super) leave: i64,
    /// Its call path or function: pieces of one call have the same.
    pub(super) key: usize,
    /// Number of calls around it.
    pub(super) depth: i64,
}

/// Appends the enters and leaves of a location, in order of time; `function` is that of a key.
pub(super) fn append(
    mut calls: Vec<Call>,
    location: usize,
    function: impl Fn(usize) -> usize,
    events: &mut Vec<Event>,
) {
    calls.sort_by_key(|call| (call.enter, std::cmp::Reverse(call.leave), call.depth));
    let mut open: Vec<Call> = Vec::new();
    let leave = |call: Call| Event { time: call.leave, location, what: What::Leave };
    for mut call in calls {
        let is_over = |before: &Call| {
            before.leave < call.enter || before.leave == call.enter && before.depth >= call.depth
        };
        while open.last().is_some_and(is_over) {
            events.extend(open.pop().map(leave));
        }
        let same = open.iter().position(|it| it.depth == call.depth && it.key == call.key);
        let above = match same {
            Some(at) => at.checked_sub(1),
            None => open.len().checked_sub(1),
        };
        if let Some(above) = above {
            call.leave = call.leave.min(open[above].leave);
        }
        match same {
            Some(at) => open[at].leave = open[at].leave.max(call.leave),
            None => {
                let what = What::Enter { function: function(call.key) };
                events.push(Event { time: call.enter, location, what });
                open.push(call);
            }
        }
    }
    events.extend(open.into_iter().rev().map(leave));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enters as call paths and leaves as `-`, with their times.
    fn shown(calls: &[(i64, i64, usize, i64)]) -> String {
        let calls = calls.iter().map(|&(enter, leave, key, depth)| Call { enter, leave, key, depth });
        let mut events = Vec::new();
        append(calls.collect(), 0, |key| key, &mut events);
        let shown = events.iter().map(|event| match event.what {
            What::Enter { function } => format!("{}@{}", function, event.time),
            _ => format!("-@{}", event.time),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn calls_are_nested() {
        assert_eq!(shown(&[(0, 10, 0, 0), (2, 4, 1, 1), (4, 8, 2, 1)]), "0@0 1@2 -@4 2@4 -@8 -@10");
        assert_eq!(shown(&[(0, 10, 0, 0), (2, 14, 1, 1)]), "0@0 1@2 -@10 -@10", "cut");
        assert_eq!(shown(&[(3, 3, 1, 1), (0, 3, 0, 0)]), "0@0 1@3 -@3 -@3", "without length");
    }

    #[test]
    fn pieces_of_overlapping_windows_are_joined() {
        let pieces = [(0, 10, 0, 0), (2, 10, 1, 1), (5, 15, 0, 0), (5, 12, 1, 1), (12, 13, 2, 1)];
        assert_eq!(shown(&pieces), "0@0 1@2 -@12 2@12 -@13 -@15");
    }
}
