//! Merges native and Python functions into one path, in the order of the stack.
//!
//! Several Python functions are evaluated by one C function of the interpreter, which stands for none of them
//! by itself. An address in its frame is known: what is on the stack below it was called by those functions,
//! and what is above has called them. The interpreter's functions are left out; those of extension modules
//! stay.

use crate::unwind::NativeFrame;
use recording::paths::{FRAME, PYTHON};

/// An active Python function.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub(crate) struct PythonFunction {
    /// The target of its node: [`recording::python::target`].
    pub(crate) target: u64,
    /// An address in the frame of the C function that evaluates it; 0 if that is not known, nor for any
    /// further out.
    pub(crate) marker: u64,
}

/// The functions that have been called since a region was named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CalledSince {
    /// Number of Python functions, the innermost ones.
    pub(crate) functions: usize,
    /// Limit of native functions: their callers' stack pointers are not above this.
    pub(crate) stack: u64,
}

impl CalledSince {
    /// No region was named.
    pub(crate) const ALWAYS: Self = Self { functions: usize::MAX, stack: u64::MAX };
}

/// Calls `give` with kind and target of each node, from the innermost outwards, until it returns false. Both
/// lists have the innermost function first.
pub(crate) fn merge(
    natives: impl Iterator<Item = NativeFrame>,
    functions: &[PythonFunction],
    since: CalledSince,
    mut give: impl FnMut(u32, u64) -> bool,
) {
    let mut natives = natives.peekable();
    for (i, function) in functions.iter().enumerate() {
        let counts = i < since.functions;
        while let Some(native) = natives.next_if(|native| native.caller_stack <= function.marker) {
            // What a function has called since the region was named counts as well.
            if (counts || native.caller_stack <= since.stack) && !give(FRAME, native.address) {
                return;
            }
        }
        if counts && !give(PYTHON, function.target) {
            return;
        }
    }
    if functions.last().is_some_and(|function| function.marker == 0) {
        return;
    }
    for native in natives.filter(|native| native.caller_stack <= since.stack) {
        if !give(FRAME, native.address) {
            return;
        }
    }
}

/// Returns the stack pointer of the innermost function at the call that leads to the recorder: that of the
/// native function, if Python functions have not called the recorder themselves.
pub(crate) fn innermost(
    mut natives: impl Iterator<Item = NativeFrame>,
    functions: &[PythonFunction],
    caller_stack: u64,
) -> u64 {
    match functions.first() {
        Some(first)
            if first.marker != 0
                && natives.next().is_none_or(|native| native.caller_stack > first.marker) =>
        {
            first.marker
        }
        _ => caller_stack,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Native functions by their addresses and their callers' stack pointers.
    fn natives(natives: &[(u64, u64)]) -> impl Iterator<Item = NativeFrame> {
        natives.iter().map(|&(address, caller_stack)| NativeFrame { address, caller_stack })
    }

    fn functions(functions: &[(u64, u64)]) -> Vec<PythonFunction> {
        functions.iter().map(|&(target, marker)| PythonFunction { target, marker }).collect()
    }

    fn merged(
        machine: &[(u64, u64)],
        python: &[(u64, u64)],
        since: CalledSince,
        limit: usize,
    ) -> Vec<(u32, u64)> {
        let mut nodes = Vec::new();
        merge(natives(machine), &functions(python), since, |kind, target| {
            nodes.push((kind, target));
            nodes.len() < limit
        });
        nodes
    }

    /// Two functions of an extension are inside of Python, one between two Python functions, two outside of
    /// all.
    const MACHINE: [(u64, u64); 5] = [(1, 0x10), (2, 0x20), (3, 0x50), (4, 0x80), (5, 0x90)];
    const PYTHON_ONES: [(u64, u64); 4] = [(11, 0x30), (12, 0x30), (13, 0x60), (14, 0x60)];

    #[test]
    fn functions_are_in_the_order_of_the_stack() {
        let all = merged(&MACHINE, &PYTHON_ONES, CalledSince::ALWAYS, 100);
        let expected = [
            (FRAME, 1),
            (FRAME, 2),
            (PYTHON, 11),
            (PYTHON, 12),
            (FRAME, 3),
            (PYTHON, 13),
            (PYTHON, 14),
            (FRAME, 4),
            (FRAME, 5),
        ];
        assert_eq!(all, expected);
        assert_eq!(merged(&MACHINE, &PYTHON_ONES, CalledSince::ALWAYS, 4), expected[..4]);
        assert_eq!(merged(&[], &PYTHON_ONES[..1], CalledSince::ALWAYS, 9), [(PYTHON, 11)]);
        assert_eq!(merged(&MACHINE[..1], &[], CalledSince::ALWAYS, 9), [(FRAME, 1)]);
    }

    #[test]
    fn what_was_active_before_a_region_is_left_out() {
        // Named by the function 13, which has called the extension since.
        let named = |stack| merged(&MACHINE, &PYTHON_ONES, CalledSince { functions: 2, stack }, 100);
        let inner = [(FRAME, 1), (FRAME, 2), (PYTHON, 11), (PYTHON, 12)];
        assert_eq!(named(0x60), [&inner[..], &[(FRAME, 3)]].concat());
        // Named by the extension.
        assert_eq!(named(0x48), inner);
        // Named by the innermost Python function.
        let since = CalledSince { functions: 0, stack: 0x30 };
        assert_eq!(merged(&MACHINE, &PYTHON_ONES, since, 100), inner[..2]);
    }

    #[test]
    fn what_cannot_be_placed_is_left_out() {
        // The C function that evaluates the last two is not known.
        let python = [(11, 0x30), (12, 0), (13, 0)];
        let expected = [(FRAME, 1), (FRAME, 2), (PYTHON, 11), (PYTHON, 12), (PYTHON, 13)];
        assert_eq!(merged(&MACHINE, &python, CalledSince::ALWAYS, 100), expected);
    }

    #[test]
    fn innermost_function_is_pythons_if_nothing_is_below() {
        let python = functions(&PYTHON_ONES);
        assert_eq!(innermost(natives(&MACHINE), &python, 0x8), 0x8);
        assert_eq!(innermost(natives(&MACHINE[2..]), &python, 0x8), 0x30);
        assert_eq!(innermost(natives(&[]), &python, 0x8), 0x30);
        assert_eq!(innermost(natives(&MACHINE), &[], 0x8), 0x8);
    }
}
