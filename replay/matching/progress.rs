//! When a process was in MPI: common libraries move an operation only in calls of both sides (rest of MPI 2.5).

use model::Ticks;

use crate::ids::CallId;
use crate::operations::Operations;

/// The calls of a process in which MPI makes progress, in the order of time; with stretches in which recording was off, as nobody
/// knows whether it was in MPI then.
#[derive(Clone, Debug)]
pub(super) struct ProgressCalls {
    list: Vec<ProgressCall>,
}

/// A call in which MPI makes progress, or a stretch, which has no number.
#[derive(Clone, Copy, Debug)]
struct ProgressCall {
    enter: Ticks,
    id: CallId,
    /// The latest time at which this call or one before it was left: threads may be in several at once.
    left: Ticks,
}

impl ProgressCalls {
    /// Those of a process.
    pub(super) fn new(operations: &Operations) -> ProgressCalls {
        let calls = &operations.calls;
        let mut list = Vec::with_capacity(calls.len());
        for id in CallId::default().until(CallId::new(calls.len())) {
            let call = calls.get(id);
            if call.site.makes_progress {
                list.push(ProgressCall { enter: call.interval.enter, id, left: call.interval.leave });
            }
        }
        for off in &operations.off {
            list.push(ProgressCall { enter: off.enter, id: CallId::NONE, left: off.leave });
        }
        // Clocks of threads may differ.
        list.sort_by_key(|call| call.enter);
        let mut latest = Ticks::MIN;
        for call in &mut list {
            latest = latest.max(call.left);
            call.left = latest;
        }
        ProgressCalls { list }
    }

    /// The first call that is entered after another one was left, if that is known; of calls in one tick the order of events
    /// decides.
    pub(super) fn next(&self, id: CallId, left: Ticks) -> Option<CallId> {
        let at = self.list.partition_point(|call| call.enter < left);
        self.list[at..].iter().map(|call| call.id).find(|&next| next > id).filter(|next| !next.is_none())
    }

    /// The first call that is entered after a time, if no thread is in one at that time, as far as that is known.
    pub(super) fn return_after(&self, time: Ticks) -> Option<CallId> {
        let at = self.list.partition_point(|call| call.enter <= time);
        let is_inside = at.checked_sub(1).is_some_and(|before| self.list[before].left > time);
        self.list.get(at).filter(|call| !is_inside && !call.id.is_none()).map(|call| call.id)
    }
}

#[cfg(test)]
mod tests {
    use patterns::matched::Completion;

    use super::*;
    use crate::ids::{EventNumber, PathId, Row};
    use crate::operations::CallSite;

    /// A process with calls of two threads: the thread, enter, and leave.
    fn process(calls: &[(usize, Ticks, Ticks)]) -> Operations {
        let mut operations = Operations::default();
        for &(thread, enter, leave) in calls {
            let (path, row) = (PathId::default(), Row::default());
            let (completion, location) = (Completion::Other, u32::from(thread > 0));
            let site = CallSite {
                location,
                path,
                row,
                completion,
                is_mpi: true,
                makes_progress: true,
                has_own_work: false,
            };
            let id = operations.calls.enter(thread, (path, row), (enter, EventNumber::NONE), || site);
            operations.calls.leave(id, leave, true);
        }
        operations
    }

    #[test]
    fn process_returns_with_its_next_call_unless_a_thread_is_in_one() {
        let calls = ProgressCalls::new(&process(&[(0, 10, 20), (1, 12, 40), (0, 22, 25), (0, 50, 60)]));
        let back = |time| calls.return_after(time).map(CallId::index);
        assert_eq!([9, 10, 21, 30, 40, 50, 60].map(back), [Some(0), None, None, None, Some(3), None, None]);
    }

    #[test]
    fn nobody_knows_when_a_process_returns_while_recording_is_off() {
        let mut operations = process(&[(0, 10, 20), (0, 40, 50), (0, 60, 70)]);
        operations.off = vec![patterns::matched::Interval::new(25, 35)];
        let calls = ProgressCalls::new(&operations);
        let back = |time| calls.return_after(time).map(CallId::index);
        assert_eq!([5, 22, 30, 36, 55].map(back), [Some(0), None, None, Some(1), Some(2)]);
        let next = |id, left| calls.next(CallId::new(id), left).map(CallId::index);
        assert_eq!([next(0, 20), next(1, 50)], [None, Some(2)]);
    }

    #[test]
    fn next_call_is_another_one_even_in_the_same_tick() {
        let calls = ProgressCalls::new(&process(&[(0, 10, 10), (0, 10, 15), (0, 15, 20)]));
        let next = |id, left| calls.next(CallId::new(id), left).map(CallId::index);
        assert_eq!([next(0, 10), next(1, 15), next(2, 20)], [Some(1), Some(2), None]);
    }
}
