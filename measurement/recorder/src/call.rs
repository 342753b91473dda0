//! A call of an MPI function that is being recorded.

use call_paths::Registers;

use crate::clock::now;
use crate::events::Mark;
use crate::process;
use crate::rounds;
use crate::selection::Choice;
use crate::synchronize;
use crate::thread::{self, Thread};
use crate::wrappers::MPI_FINALIZE;

/// A call between its enter, which has been recorded, and its leave.
pub(crate) struct Call {
    pub(crate) thread: &'static mut Thread,
    path: u32,
    /// When it was entered.
    pub(crate) begin: u64,
    /// When the MPI library returned, once it has.
    end: u64,
    /// Whether it is a collective operation of all processes, which ends a round.
    pub(crate) ends_round: bool,
    /// Where the call began, with the path before it, if it is to leave nothing unless it does something.
    mark: Option<(Mark, u32)>,
}

impl Call {
    /// Records that a function is entered; `None` if this call is not to be recorded: there is no recording, the function
    /// is not chosen, or the call comes from inside of another.
    ///
    /// Not inlined, so that a thousand wrappers stay small.
    #[inline(never)]
    pub(crate) fn enter(function: u32) -> Option<Call> {
        let mut thread = thread::current();
        if thread.is_null() {
            thread = thread::begin(process::current()?);
        }
        // SAFETY: only its own thread gets at it, and the mark below keeps out calls from within.
        let thread = unsafe { &mut *thread };
        let choice = thread.process.selection.of(function);
        if choice == Choice::Nothing {
            return None;
        }
        let registers = Registers::here();
        if !thread.enter_recorder() && !thread.abandon_call(registers.stack, function == MPI_FINALIZE) {
            return None;
        }
        rounds::follow(thread);
        let mark = (choice == Choice::Deeds).then(|| thread.mark());
        let base = thread.path_of(registers, function);
        let (path, begin) = (base.node, now());
        thread.enter_path(begin, path);
        thread.open_call(registers, base);
        Some(Call { thread, path, begin, end: 0, ends_round: false, mark })
    }

    /// Whether only what the call does is recorded, not that it did nothing.
    pub(crate) fn is_quiet(&self) -> bool {
        self.mark.is_some()
    }

    /// When the MPI library returned: the time of whatever the call completes. To be asked for right behind the call.
    #[inline]
    pub(crate) fn end(&mut self) -> u64 {
        if self.end == 0 {
            self.end = now().max(self.begin);
        }
        self.end
    }
}

impl Drop for Call {
    /// Records that the function is left: it returns, or an exception passes.
    #[inline(never)]
    fn drop(&mut self) {
        let end = self.end();
        self.thread.close_call();
        if let Some(mark) = self.mark
            && self.thread.take_back(self.path, mark)
        {
            self.thread.leave_recorder();
            return;
        }
        self.thread.leave_path(end, self.path);
        if self.ends_round {
            self.thread.process.rounds.next();
            synchronize::between(self.thread);
        }
        self.thread.events.relieve();
        self.thread.leave_recorder();
    }
}
