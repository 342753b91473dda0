//! Calls of a thread that have not ended.

use crate::regions::{FUNCTION, MPI};

/// A call that has not ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    pub(crate) kind: u64,
    pub(crate) value: u64,
    /// Position of the first of the functions that are called by each other up to this one, without a call of MPI among them.
    first: usize,
}

/// Number of types of calls of MPI.
const KINDS: usize = 5;

/// What a thread does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stack {
    /// Calls, the innermost last.
    pub(crate) open: Vec<Open>,
    /// Numbers of open calls of MPI, by type.
    calls: [usize; KINDS],
    /// Time of the last step.
    pub(crate) time: u64,
    /// Whether the innermost call is an `MPI_Finalize` that goes on behind its end in the trace.
    pub(crate) finalizes: bool,
    /// Number of the stream in the spool.
    pub(crate) stream: usize,
}

impl Stack {
    /// That of a thread with this stream.
    pub(crate) fn new(stream: usize) -> Stack {
        Stack { stream, ..Stack::default() }
    }

    /// The number of open calls of MPI of a type; `None` for functions.
    fn calls(&mut self, kind: u64) -> Option<&mut usize> {
        self.calls.get_mut(usize::try_from(kind.checked_sub(*MPI.start())?).ok()?)
    }

    /// Begins a call.
    pub(crate) fn push(&mut self, kind: u64, value: u64) {
        let first = if kind == FUNCTION { self.first() } else { self.open.len() + 1 };
        self.open.push(Open { kind, value, first });
        if let Some(calls) = self.calls(kind) {
            *calls += 1;
        }
    }

    /// Ends the innermost call.
    pub(crate) fn pop(&mut self) {
        self.finalizes = false;
        if let Some(open) = self.open.pop()
            && let Some(calls) = self.calls(open.kind)
        {
            *calls = calls.saturating_sub(1);
        }
    }

    /// Position of the first function that was called since the innermost call of MPI began.
    pub(crate) fn first(&self) -> usize {
        self.open.last().map_or(0, |open| open.first)
    }

    /// Position of the innermost call of MPI of a type.
    pub(crate) fn innermost(&mut self, kind: u64) -> Option<usize> {
        // Without a count the search would take long in deep recursion.
        self.calls(kind).filter(|calls| **calls > 0)?;
        self.open.iter().rposition(|open| open.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn innermost_calls_and_functions_are_known_without_a_search() {
        let mut stack = Stack::default();
        let [message, collective] = [*MPI.start(), *MPI.start() + 1];
        assert_eq!((stack.first(), stack.innermost(message)), (0, None));
        for kind in [FUNCTION, FUNCTION, message, collective, FUNCTION] {
            stack.push(kind, 1);
        }
        assert_eq!(
            (stack.first(), stack.innermost(message), stack.innermost(collective)),
            (4, Some(2), Some(3))
        );
        stack.pop();
        stack.pop();
        assert_eq!(
            (stack.first(), stack.innermost(message), stack.innermost(collective)),
            (3, Some(2), None)
        );
        stack.pop();
        assert_eq!((stack.first(), stack.innermost(message)), (0, None));
    }
}
