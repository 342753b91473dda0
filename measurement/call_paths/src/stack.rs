//! The bounds of the thread's stack, and reads from it.

use crate::registers::Registers;
use std::mem::MaybeUninit;
use std::ops::Range;

/// The bounds of a thread's stack; empty for a stack that is not known.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Stack {
    low: u64,
    top: u64,
}

impl Stack {
    /// Returns the stack of the calling thread. May allocate and open files.
    pub(crate) fn of_this_thread() -> Self {
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        // SAFETY: the attributes are initialized if `pthread_getattr_np` returns 0, and read and destroyed
        // only then.
        unsafe {
            if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
                return Self::default();
            }
            let (mut low, mut size) = (std::ptr::null_mut(), 0);
            let answer = libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut size);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            if answer != 0 {
                return Self::default();
            }
            Self { low: low as u64, top: (low as u64).saturating_add(size as u64) & !7 }
        }
    }

    /// Returns the part of the stack that is in use when the stack pointer has the given value; `None` if it
    /// points elsewhere, as it does on alternate stacks of signal handlers and on those of coroutines.
    ///
    /// The main thread's stack grows as it is used, and what is below its stack pointer may not be mapped;
    /// what is above it always is. So a stack pointer below the one that this function has is refused too.
    pub(crate) fn in_use(&self, stack_pointer: u64) -> Option<StackInUse> {
        let stack = self.low..self.top;
        let here = Registers::here().stack;
        (stack.contains(&stack_pointer) && (stack_pointer >= here || !stack.contains(&here)))
            .then_some(StackInUse { from: stack_pointer, top: self.top })
    }
}

/// The part of a thread's stack that is in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackInUse {
    from: u64,
    top: u64,
}

impl StackInUse {
    /// Returns the word at an address; `None` if that is not on the stack.
    pub(crate) fn read(&self, address: u64) -> Option<u64> {
        if address < self.from || address > self.top - 8 || !address.is_multiple_of(8) {
            return None;
        }
        // SAFETY: the word is aligned and between the stack pointer and the top of the stack of the running
        // thread, all of which is mapped. Volatile, because the compiler knows nothing of other frames'
        // memory.
        Some(unsafe { std::ptr::read_volatile(address as *const u64) })
    }

    /// Returns its addresses.
    pub(crate) fn range(&self) -> Range<u64> {
        self.from..self.top
    }

    /// Whether a stack pointer can have that value.
    pub(crate) fn may_point(&self, stack_pointer: u64) -> bool {
        stack_pointer >= self.from && stack_pointer <= self.top && stack_pointer.is_multiple_of(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_stack_is_read() {
        let word = 42_u64;
        let at = &raw const word as u64;
        let stack = Stack::of_this_thread();
        let live = stack.in_use(at).expect("a local variable is on the stack");
        assert_eq!(live.read(at), Some(42));
        assert_eq!(live.read(at - 8), None);
        assert_eq!(live.read(at + 1), None);
        assert_eq!(live.read(live.top), None);
        assert!(live.read(live.top - 8).is_some());
        assert_eq!(live.read(u64::MAX - 7), None);
        assert!(live.may_point(live.top) && !live.may_point(live.top + 8));
    }

    #[test]
    fn other_memory_is_not_the_stack() {
        let heap = Box::new(1_u64);
        let stack = Stack::of_this_thread();
        assert!(stack.in_use(&raw const *heap as u64).is_none());
        assert!(stack.in_use(0).is_none());
        assert!(stack.in_use(Registers::here().stack - 4096).is_none(), "not in use");
        assert!(Stack::default().in_use(0).is_none());
    }
}
