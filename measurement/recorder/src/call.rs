//! A call of an MPI function that is being recorded.

use call_paths::Registers;

use crate::clock::now;
use crate::inside::Inside;
use crate::iterations;
use crate::process;
use crate::rounds;
use crate::selection::Choice;
use crate::synchronize;
use crate::thread::{self, OpenCall};
use crate::wrappers::MPI_FINALIZE;

/// A call between its enter, which has been recorded, and its leave. Its data are in the thread, so that this
/// is a pointer, which wrappers pass in a register.
pub(crate) struct Call {
    pub(crate) thread: Inside,
}

impl Call {
    /// Records that a function is entered; `None` if this call is not to be recorded: there is no recording,
    /// the function is not chosen, or the call comes from inside of another.
    ///
    /// Not inlined, to keep a thousand wrappers small.
    #[inline(never)]
    pub(crate) fn enter(function: u32) -> Option<Call> {
        Call::enter_from(Registers::here(), function)
    }

    /// As [`Call::enter`], with the registers of the hook that the wrapper called: it is left out of the path.
    #[inline(always)]
    pub(crate) fn enter_from(registers: Registers, function: u32) -> Option<Call> {
        let thread = thread::here()?;
        let choice = thread.process.selection.of(function);
        if choice == Choice::Nothing {
            return None;
        }
        let locked = thread.lock();
        let mut thread = locked.or_else(|| thread.take_over(registers.stack, function == MPI_FINALIZE))?;
        let base = thread.path_of(registers, function);
        iterations::step(&mut thread, function, base.node, choice == Choice::All);
        rounds::follow(&mut thread);
        let begin = now();
        let mark = (choice == Choice::Effects).then(|| {
            // What has happened before the call stays, if the enter is taken back.
            thread.settle_switches(begin);
            thread.mark()
        });
        thread.enter_path(begin, base.node);
        thread.open_call(registers, base.stack_pointer);
        thread.call = OpenCall { path: base.node, ends_round: false, begin, end: 0, was_off: false, mark };
        Some(Call { thread })
    }

    /// Whether the call is recorded only if it has an effect.
    pub(crate) fn is_quiet(&self) -> bool {
        self.thread.call.mark.is_some()
    }

    /// Returns the time of the enter.
    #[inline]
    pub(crate) fn begin(&self) -> u64 {
        self.thread.call.begin
    }

    /// Returns when the MPI library returned: the time of everything that the call completes. To be called
    /// right behind the call.
    #[inline]
    pub(crate) fn end(&mut self) -> u64 {
        let call = &mut self.thread.call;
        if call.end != 0 {
            return call.end;
        }
        call.end = now().max(call.begin);
        let end = call.end;
        if process::is_forked() {
            // The program has forked inside of the call, in a function that MPI has called back.
            self.thread.events.abandon();
        } else {
            self.thread.call.was_off = self.thread.settle_end(end);
        }
        end
    }

    /// Marks the call as a collective operation of all processes, which ends a round.
    #[inline]
    pub(crate) fn end_round(&mut self) {
        self.thread.call.ends_round = true;
    }
}

impl Drop for Call {
    /// Records that the function is left: it returns, or an exception propagates.
    #[inline(never)]
    fn drop(&mut self) {
        let end = self.end();
        let OpenCall { path, mark, was_off, ends_round, .. } = self.thread.call;
        self.thread.close_call();
        if process::is_forked() {
            return;
        }
        if let Some(mark) = mark
            && self.thread.take_back(path, mark, was_off)
        {
            return;
        }
        self.thread.leave_settled_path(end, path);
        if ends_round {
            let process = self.thread.process;
            let number = process.rounds.next();
            if let Some((begin, end)) = synchronize::between(process, number) {
                self.thread.events.add_flush(begin, end);
            }
        }
        self.thread.events.flush_if_nearly_full();
    }
}
