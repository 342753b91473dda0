//! What patterns look at: operations with their partners, in ticks of one clock.
//!
//! `E` and `L` in the definitions are `enter` and `leave` of the call that contains an event.

use model::Ticks;

/// A call from enter to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// When the call was entered.
    pub enter: Ticks,
    /// When it was left; never before `enter`.
    pub leave: Ticks,
}

impl Interval {
    /// The interval from `enter` to `leave`.
    pub const fn new(enter: Ticks, leave: Ticks) -> Interval {
        Interval { enter, leave }
    }

    /// Its length.
    pub const fn length(&self) -> Ticks {
        self.leave - self.enter
    }
}

/// What an MPI call does to the messages that it completes, by its name (MPI 3.1, sections 3.2, 3.4 and 3.7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Completion {
    /// `MPI_Send`, `MPI_Ssend`: may block until the receive is there.
    BlockingSend,
    /// `MPI_Wait`, `MPI_Waitany`: one request.
    WaitOne,
    /// `MPI_Waitall`, `MPI_Waitsome`: several requests; only the longest wait among them counts.
    WaitMany,
    /// `MPI_Test`, `MPI_Testany`, `MPI_Testall`, `MPI_Testsome`: never waits.
    Test,
    /// Any other call, such as `MPI_Recv` or `MPI_Sendrecv`.
    #[default]
    Other,
}

/// A message as its receiver sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReceivedMessage {
    /// When the send was recorded.
    pub sent: Ticks,
    /// The call that sent the message.
    pub send: Interval,
    /// The call in which the receive completed.
    pub receive: Interval,
    /// What kind of call that is.
    pub completion: Completion,
    /// Source of the message: a rank in its communicator.
    pub source: u32,
    /// Bytes that were sent.
    pub bytes: u64,
}

/// A message as its sender sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SentMessage {
    /// The call in which the send completed: the sending call itself, or the one that completed the request.
    pub send: Interval,
    /// What kind of call that is.
    pub completion: Completion,
    /// The call that posted the receive.
    pub posting: Interval,
    /// Bytes that were sent.
    pub bytes: u64,
}

/// A message that was reported late, as long as it is remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LateMessage {
    /// When the send was recorded.
    pub sent: Ticks,
    /// Source of the message: a rank in its communicator.
    pub source: u32,
}

/// What a collective operation does with data, hence who can wait for whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CollectiveClass {
    /// `MPI_Init`, `MPI_Init_thread`.
    Init,
    /// `MPI_Finalize`.
    Finalize,
    /// `MPI_Barrier`.
    Barrier,
    /// Bcast, Scatter(v): receivers wait for the root.
    OneToAll,
    /// Reduce, Gather(v): the root waits for the last contribution.
    AllToOne,
    /// Allreduce, Allgather(v), Alltoall, Reduce_scatter(_block): everyone waits for the last contribution.
    AllToAll,
    /// Scan, Exscan: a rank waits for lower ranks.
    Scan,
}

/// One rank's part in a collective operation. Only ranks that synchronise with others have one: all others cannot
/// wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CollectiveMember {
    /// What the operation does.
    pub class: CollectiveClass,
    /// When this rank began the operation.
    pub begin: Ticks,
    /// When this rank ended the operation.
    pub end: Ticks,
    /// Begin of the rank that this one has to wait for.
    pub last_begin: Ticks,
    /// Earliest end among the ranks that synchronise.
    pub first_end: Ticks,
}

impl CollectiveMember {
    /// Time until the awaited rank began. Not longer than the operation itself, which wrong clocks could make it.
    pub fn waiting(&self) -> Ticks {
        (self.last_begin.min(self.end) - self.begin).max(0)
    }

    /// Time after the first rank was done; it does not overlap with [`waiting`](Self::waiting).
    pub fn completing(&self) -> Ticks {
        let last_begin = self.last_begin.min(self.end);
        (self.end - self.first_end.max(last_begin)).max(0)
    }
}

/// Why there is a barrier of OpenMP (OpenMP 5.0, section 2.17.2 and 2.17.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierClass {
    /// The program asks for it.
    Explicit,
    /// A parallel region or worksharing construct ends with it.
    Implicit,
}

/// A thread in a barrier of its team.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BarrierVisit {
    /// What kind of barrier it is.
    pub class: BarrierClass,
    /// The thread's time in it.
    pub visit: Interval,
    /// When the last thread of the team entered it.
    pub last_enter: Ticks,
    /// Time in which the thread ran tasks while it was in there.
    pub tasks: Ticks,
}

impl BarrierVisit {
    /// Time until the last thread came, without the tasks that were run meanwhile. Unlike waiting in MPI it is not cut to
    /// the time in there: threads of a process have one clock.
    pub fn waiting(&self) -> Ticks {
        (self.last_enter - self.visit.enter).saturating_sub(self.tasks)
    }
}

/// What is locked, by the call that does it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockClass {
    /// A critical section of OpenMP.
    Critical,
    /// A lock of OpenMP, or another construct with one.
    OpenMp,
    /// A mutex of POSIX threads.
    Mutex,
    /// The mutex that a call on a condition variable takes again.
    Condition,
}

/// A lock that a thread got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Acquisition {
    /// What kind of lock it is.
    pub class: LockClass,
    /// From entering the call that asks for the lock until the thread has it.
    pub call: Interval,
    /// When the thread that had it before released it; `None` if nobody had it before.
    pub released: Option<Ticks>,
}

impl Acquisition {
    /// Time until the lock was released, not cut either.
    pub fn waiting(&self) -> Ticks {
        self.released.map_or(0, |released| released - self.call.enter)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A member that is in the operation from `begin` to `end`.
    pub(crate) fn member(class: CollectiveClass, begin: Ticks, end: Ticks) -> CollectiveMember {
        CollectiveMember { class, begin, end, last_begin: 30, first_end: 40 }
    }

    #[test]
    fn member_waits_until_the_last_began_and_completes_after_the_first_ended() {
        let early = member(CollectiveClass::Barrier, 10, 50);
        assert_eq!((early.waiting(), early.completing()), (20, 10));
        let last = member(CollectiveClass::Barrier, 30, 40);
        assert_eq!((last.waiting(), last.completing()), (0, 0));
    }

    /// A thread that is in a barrier from 10 to 50; the last one enters at 30.
    pub(crate) fn visit(class: BarrierClass) -> BarrierVisit {
        BarrierVisit { class, visit: Interval::new(10, 50), last_enter: 30, tasks: 0 }
    }

    /// A call that gets a lock from 10 to 50; it was released at 30.
    pub(crate) fn acquisition(class: LockClass) -> Acquisition {
        Acquisition { class, call: Interval::new(10, 50), released: Some(30) }
    }

    #[test]
    fn thread_waits_in_a_barrier_for_the_last_one_unless_it_has_tasks() {
        let early = visit(BarrierClass::Implicit);
        assert_eq!(early.waiting(), 20);
        assert_eq!(BarrierVisit { tasks: 15, ..early }.waiting(), 5);
        assert_eq!(BarrierVisit { last_enter: 70, ..early }.waiting(), 60);
    }

    #[test]
    fn thread_waits_for_a_lock_until_its_release_and_not_for_a_free_one() {
        let blocked = acquisition(LockClass::Mutex);
        assert_eq!(blocked.waiting(), 20);
        assert_eq!(Acquisition { released: None, ..blocked }.waiting(), 0);
        assert_eq!(Acquisition { released: Some(60), ..blocked }.waiting(), 50);
    }

    #[test]
    fn wrong_clock_never_makes_waiting_and_completing_exceed_the_operation() {
        let gone = member(CollectiveClass::Barrier, 10, 25);
        assert_eq!((gone.waiting(), gone.completing()), (15, 0));
    }
}
