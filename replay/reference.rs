//! Decisions that differ between the reference's definitions and the corrected ones, one for each row of
//! `docs/differences.md`. No other file of the analysis asks which semantics it follows.

use model::Ticks;

use crate::options::Semantics;

/// The number of late messages that the reference remembers (Q6).
const REMEMBERED: usize = 100;

impl Semantics {
    fn is_reference(self) -> bool {
        self == Semantics::Reference
    }

    /// Whether leaving any region inside a call forgets the longest wait among the call's messages (Q5).
    pub fn forgets_at_inner_leave(self) -> bool {
        self.is_reference()
    }

    /// Returns how many late messages are remembered until they are overtaken; `None` for all of them (Q6).
    pub fn remembered(self) -> Option<usize> {
        self.is_reference().then_some(REMEMBERED)
    }

    /// Returns the part of a sending call that belongs to its completion, if it was left so many ticks
    /// `after` the receiving call (Q7: the reference has the sign the other way round).
    pub fn completion_of_send(self, after: Ticks) -> Ticks {
        if self.is_reference() { after.min(0) } else { after.max(0) }
    }

    /// Whether the impact of imbalance is zero on all locations where one of them has none of the excess
    /// (Q13: the reference divides by zero then).
    pub fn impact_needs_all(self) -> bool {
        self.is_reference()
    }

    /// Whether waiting propagates only as far as members have synchronised with each other (Q15, Q19).
    pub fn limits_propagation(self) -> bool {
        self.is_reference()
    }

    /// Whether locations without events take part in means and in comparisons with the critical path.
    pub fn counts_locations_without_events(self) -> bool {
        self.is_reference()
    }

    /// Whether receives match in the order in which they were posted; otherwise in that of their completion.
    pub fn matches_in_order_of_posting(self) -> bool {
        !self.is_reference()
    }

    /// Whether partners of messages and operations are doubted where recording was off, and rejected if their
    /// times contradict each other.
    pub fn doubts_partners(self) -> bool {
        !self.is_reference()
    }

    /// Whether the threads of a process are numbered as in their teams; otherwise in the order of their
    /// locations.
    pub fn numbers_threads_by_team(self) -> bool {
        !self.is_reference()
    }

    /// Whether calls of a function from several lines of another one are different call paths.
    pub fn tells_call_sites_apart(self) -> bool {
        !self.is_reference()
    }

    /// Whether a region belongs to MPI if its paradigm or its source file says so; otherwise the paradigm
    /// decides for classes of time, and the file for patterns.
    pub fn unifies_mpi(self) -> bool {
        !self.is_reference()
    }

    /// Whether the call paths of tasks have a root of their own, and the time of a task is also shown as a
    /// stub where it was executed; otherwise they are below the call path that created the task.
    pub fn has_stubs(self) -> bool {
        self.is_reference()
    }

    /// Whether time between samples is attributed to the functions that were found on the stack; otherwise to
    /// the instrumented regions around them.
    pub fn attributes_samples(self) -> bool {
        !self.is_reference()
    }

    /// Whether the quartiles of instances are estimated from a density (specification 13.4); otherwise they
    /// are exact.
    pub fn estimates_quartiles(self) -> bool {
        self.is_reference()
    }

    /// Whether locations are compared, and idle threads searched for, in programs with POSIX threads, too.
    pub fn compares_posix_threads(self) -> bool {
        !self.is_reference()
    }

    /// Whether waiting is computed for all of MPI; otherwise for what the reference replays.
    pub fn replays_all_of_mpi(self) -> bool {
        !self.is_reference()
    }

    /// Whether time in MPI beyond waiting and overhead is reported as unexplained.
    pub fn knows_unexplained_time(self) -> bool {
        !self.is_reference()
    }

    /// Whether kernels and copies on streams of accelerators are analysed.
    pub fn analyzes_accelerators(self) -> bool {
        !self.is_reference()
    }
}
