//! Matched operations, the input of patterns: operations with their partners, in ticks of one clock.
//!
//! `E` and `L` in the definitions are `enter` and `leave` of the call that contains an event
//! (specification 1).

use model::Ticks;

/// Interval of a call, from enter to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// Time of the enter event.
    pub enter: Ticks,
    /// Time of the leave event; never before `enter`.
    pub leave: Ticks,
}

impl Interval {
    /// The interval from `enter` to `leave`.
    pub const fn new(enter: Ticks, leave: Ticks) -> Interval {
        Interval { enter, leave }
    }

    /// Duration of the call.
    pub const fn length(&self) -> Ticks {
        self.leave - self.enter
    }
}

/// How an MPI call completes messages, by its name (MPI 3.1, sections 3.2, 3.4 and 3.7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Completion {
    /// `MPI_Send`, `MPI_Ssend`: may block until the receive is posted.
    BlockingSend,
    /// `MPI_Wait`, `MPI_Waitany`: one request.
    WaitOne,
    /// `MPI_Waitall`, `MPI_Waitsome`: several requests; only the longest wait among them counts.
    WaitMany,
    /// `MPI_Test`, `MPI_Testany`, `MPI_Testall`, `MPI_Testsome`: never waits.
    Test,
    /// `MPI_Sendrecv`, `MPI_Sendrecv_replace`: one message in each direction; only the longer wait counts.
    SendReceive,
    /// `MPI_File_write_all_end` and its relatives: the second half of a collective transfer of a file.
    SplitTransfer,
    /// Any other call, such as `MPI_Recv`.
    #[default]
    Other,
}

impl Completion {
    /// Whether a call blocks until requests are complete.
    pub fn blocks(self) -> bool {
        matches!(self, Completion::WaitOne | Completion::WaitMany)
    }

    /// Whether a call waits for members of a non-blocking collective operation.
    pub fn waits_for_members(self) -> bool {
        self.blocks() || self == Completion::SplitTransfer
    }
}

/// A matched message at its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReceivedMessage {
    /// Time of the send record.
    pub sent: Ticks,
    /// The call that sent the message.
    pub send: Interval,
    /// The call in which the receive completed.
    pub receive: Interval,
    /// Completion class of that call.
    pub completion: Completion,
    /// Source of the message: a rank in its communicator.
    pub source: u32,
    /// Bytes that were sent.
    pub bytes: u64,
}

/// A matched message at its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SentMessage {
    /// The call in which the send completed: the sending call itself, or the one that completed the request.
    pub send: Interval,
    /// Completion class of that call.
    pub completion: Completion,
    /// The call that posted the receive.
    pub posting: Interval,
    /// Bytes that were sent.
    pub bytes: u64,
}

/// A message that has been sent, in a call that completes it, while the other process is outside of MPI (rest of MPI
/// 6.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StalledMessage {
    /// Time from which on it has been sent, and the call waits for nothing else.
    pub since: Ticks,
    /// Time at which the other process is in MPI again.
    pub returned: Ticks,
    /// End of the call.
    pub leave: Ticks,
}

impl StalledMessage {
    /// Time until the other process is in MPI again, if that is at least half of the rest of the call: a message that was on its
    /// way all the time, and arrives when that process happens to be in MPI, is not meant.
    pub fn stall(&self) -> Ticks {
        let (stall, rest) = (self.returned - self.since, self.leave - self.since);
        if stall <= rest && stall >= rest - stall { stall } else { 0 }
    }
}

/// A message that was reported as late, kept for the detection of wrong order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LateMessage {
    /// Time of the send record.
    pub sent: Ticks,
    /// Source of the message: a rank in its communicator.
    pub source: u32,
}

/// Class of a collective operation by its data movement, which determines the members that wait.
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
    /// Allreduce, Allgather(v), Alltoall(v, w), Reduce_scatter(_block): all members wait for the last contribution.
    AllToAll,
    /// Scan, Exscan: a rank waits for lower ranks.
    Scan,
    /// Creation of a communicator: all members wait for the last one that is evidently awaited.
    Handle,
    /// Comm_disconnect: the same.
    Disconnect,
    /// Neighbor_allgather(v), Neighbor_alltoall(v, w): a rank waits for its neighbours.
    Neighborhood,
    /// Creation of a window: as of a communicator.
    WindowCreation,
    /// Release of a window: the same.
    WindowRelease,
    /// Win_fence: the same.
    Fence,
    /// File_open, File_close, File_set_view and other collective handling of a file: members wait for the last one, unless they
    /// left before it came.
    FileHandling,
    /// Collective reads and writes of a file: the same.
    FileTransfer,
}

impl CollectiveClass {
    /// The number of classes.
    pub const COUNT: usize = CollectiveClass::FileTransfer as usize + 1;
}

/// A member of a collective operation. Only members that synchronise have one: the others cannot wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CollectiveMember {
    /// Class of the operation.
    pub class: CollectiveClass,
    /// Start of the operation on this rank.
    pub begin: Ticks,
    /// End of the operation on this rank.
    pub end: Ticks,
    /// Start on the rank that this one has to wait for.
    pub last_begin: Ticks,
    /// Earliest end among the ranks that synchronise.
    pub first_end: Ticks,
    /// Latest end of a call in which another rank accesses the memory of this one, in the interval that a fence ends;
    /// [`Ticks::MIN`] without one.
    pub accessed: Ticks,
}

impl CollectiveMember {
    /// Time until the awaited rank started, cut to the duration of the operation, which wrong clocks could
    /// exceed.
    pub fn waiting(&self) -> Ticks {
        (self.last_begin.min(self.end) - self.begin).max(0)
    }

    /// Time after the first rank had finished; it does not overlap with [`waiting`](Self::waiting).
    pub fn completing(&self) -> Ticks {
        let last_begin = self.last_begin.min(self.end);
        (self.end - self.first_end.max(last_begin)).max(0)
    }
}

/// A non-blocking collective operation at a member that completes it (rest of MPI 4.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NonBlockingMember {
    /// Class of the operation.
    pub class: CollectiveClass,
    /// The call that completed it.
    pub call: Interval,
    /// Completion class of that call.
    pub completion: Completion,
    /// Time of the last request of the members that this one needs; `None` if it needs nobody.
    pub last_request: Option<Ticks>,
    /// Time at which the last of these came back to MPI, of those that did before the call was left; `None` if none did.
    pub last_return: Option<Ticks>,
}

impl NonBlockingMember {
    /// Time in the call until the last request, cut to the call, which wrong clocks could exceed. Only calls that block until
    /// the operation is complete wait.
    pub fn arrival(&self) -> Ticks {
        let Interval { enter, leave } = self.call;
        let last = self.last_request.filter(|_| self.completion.waits_for_members());
        last.map_or(0, |last| (last.min(leave) - enter).max(0))
    }

    /// Time from then on until a member that had gone on with other work was in MPI again: common libraries move an operation
    /// inside MPI calls only.
    pub fn progress(&self) -> Ticks {
        let since = self.call.enter + self.arrival();
        let last = self.last_return.filter(|_| self.completion.waits_for_members());
        last.map_or(0, |last| (last - since).max(0))
    }

    /// Both.
    pub fn waiting(&self) -> Ticks {
        self.arrival() + self.progress()
    }
}

/// Reason for which a call of one-sided communication waits (rest of MPI 8.3 to 8.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OneSidedWait {
    /// For targets to post their windows.
    Post,
    /// For origins to complete their accesses.
    Complete,
    /// For another rank to release its lock.
    Release,
    /// For a target to be in MPI again.
    Progress,
}

/// A call of one-sided communication that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OneSidedCall {
    /// The reason.
    pub wait: OneSidedWait,
    /// Whether it is an access; otherwise it begins or ends an epoch, or completes accesses.
    pub is_access: bool,
    /// Time since which it waits.
    pub begin: Ticks,
    /// Time until which there is a reason.
    pub until: Ticks,
    /// End of the call.
    pub leave: Ticks,
    /// Latest end of an access to this rank's memory in the epoch that it waits for to end; [`Ticks::MIN`] without one.
    pub accessed: Ticks,
}

impl OneSidedCall {
    /// Time until there is no reason any more, cut to the call.
    pub fn waiting(&self) -> Ticks {
        (self.until.min(self.leave) - self.begin).max(0)
    }
}

/// Origin of an OpenMP barrier (OpenMP 5.0, section 2.17.2 and 2.17.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierClass {
    /// A `barrier` construct.
    Explicit,
    /// The end of a parallel region or worksharing construct.
    Implicit,
}

/// A thread's visit to a barrier of its team.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BarrierVisit {
    /// Origin of the barrier.
    pub class: BarrierClass,
    /// The thread's time in the barrier.
    pub visit: Interval,
    /// Time at which the last thread of the team entered.
    pub last_enter: Ticks,
    /// Time in which the thread ran tasks inside the barrier.
    pub tasks: Ticks,
}

impl BarrierVisit {
    /// Time until the last thread entered, without the tasks that were run meanwhile. Unlike waiting in MPI
    /// it is not cut to the duration of the visit: threads of a process have one clock.
    pub fn waiting(&self) -> Ticks {
        (self.last_enter - self.visit.enter).saturating_sub(self.tasks)
    }
}

/// Kind of lock, by the call that acquires it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockClass {
    /// An OpenMP critical section.
    Critical,
    /// An OpenMP lock, or another construct with one.
    OpenMp,
    /// A POSIX mutex.
    Mutex,
    /// The mutex that a call on a condition variable acquires again.
    Condition,
}

/// Acquisition of a lock by a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Acquisition {
    /// Kind of lock.
    pub class: LockClass,
    /// From entering the acquiring call until the lock was acquired.
    pub call: Interval,
    /// Time at which the previous owner released the lock; `None` if there was none.
    pub released: Option<Ticks>,
}

impl Acquisition {
    /// Time until the lock was released; not cut either.
    pub fn waiting(&self) -> Ticks {
        self.released.map_or(0, |released| released - self.call.enter)
    }
}

/// A call that waits for kernels and copies on streams of accelerators (site.md, 6.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceWait {
    /// From enter to leave.
    pub call: Interval,
    /// The end of the last one that it waits for.
    pub end: Ticks,
    /// The part of the wait in which the chain that ended last ran a kernel, in ticks.
    pub kernels: Ticks,
    /// The part in which it was copying, in ticks.
    pub copies: Ticks,
}

impl DeviceWait {
    /// The time at which the waiting ends: that of the last end, but no later than the call.
    pub fn until(&self) -> Ticks {
        self.end.min(self.call.leave)
    }

    /// The waiting time, in ticks.
    pub fn waiting(&self) -> Ticks {
        (self.until() - self.call.enter).max(0)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A member that is in the operation from `begin` to `end`.
    pub(crate) fn member(class: CollectiveClass, begin: Ticks, end: Ticks) -> CollectiveMember {
        CollectiveMember { class, begin, end, last_begin: 30, first_end: 40, accessed: Ticks::MIN }
    }

    #[test]
    fn member_waits_until_the_last_began_and_completes_after_the_first_ended() {
        let early = member(CollectiveClass::Barrier, 10, 50);
        assert_eq!((early.waiting(), early.completing()), (20, 10));
        let last = member(CollectiveClass::Barrier, 30, 40);
        assert_eq!((last.waiting(), last.completing()), (0, 0));
    }

    /// An operation that a call completes from 10 to 50; the last request is at 30, and its process returns at 35.
    pub(crate) fn nonblocking(class: CollectiveClass) -> NonBlockingMember {
        NonBlockingMember {
            class,
            call: Interval::new(10, 50),
            completion: Completion::WaitOne,
            last_request: Some(30),
            last_return: Some(35),
        }
    }

    #[test]
    fn completing_call_waits_for_the_last_request_and_then_for_progress() {
        let one = nonblocking(CollectiveClass::Barrier);
        let waits = |one: NonBlockingMember| (one.arrival(), one.progress(), one.waiting());
        assert_eq!(waits(one), (20, 5, 25));
        assert_eq!(waits(NonBlockingMember { last_return: Some(20), ..one }), (20, 0, 20));
        assert_eq!(waits(NonBlockingMember { last_request: Some(5), ..one }), (0, 25, 25));
        assert_eq!(waits(NonBlockingMember { last_request: None, last_return: None, ..one }), (0, 0, 0));
        assert_eq!(
            waits(NonBlockingMember { last_request: Some(90), last_return: None, ..one }),
            (40, 0, 40)
        );
        assert_eq!(waits(NonBlockingMember { completion: Completion::Test, ..one }), (0, 0, 0));
    }

    #[test]
    fn message_stalls_until_the_other_process_returns_if_that_explains_half_of_the_rest() {
        let stall = |returned| StalledMessage { since: 10, returned, leave: 50 }.stall();
        assert_eq!([29, 30, 45, 50, 51].map(stall), [0, 20, 35, 40, 0]);
    }

    /// A call of one-sided communication from 10 to 50 that has a reason to wait until 30.
    pub(crate) fn one_sided(wait: OneSidedWait, is_access: bool) -> OneSidedCall {
        OneSidedCall { wait, is_access, begin: 10, until: 30, leave: 50, accessed: Ticks::MIN }
    }

    #[test]
    fn one_sided_call_waits_as_long_as_there_is_a_reason_but_no_longer_than_it_lasts() {
        let call = one_sided(OneSidedWait::Post, false);
        let until = |until| OneSidedCall { until, ..call }.waiting();
        assert_eq!([5, 30, 60].map(until), [0, 20, 40]);
    }

    /// A thread that is in a barrier from 10 to 50; the last one enters at 30.
    pub(crate) fn visit(class: BarrierClass) -> BarrierVisit {
        BarrierVisit { class, visit: Interval::new(10, 50), last_enter: 30, tasks: 0 }
    }

    /// A call that acquires a lock from 10 to 50; it was released at 30.
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

    #[test]
    fn call_waits_for_a_device_until_the_last_end_but_no_longer_than_it_lasts() {
        let wait = DeviceWait { call: Interval::new(20, 60), end: 58, kernels: 0, copies: 0 };
        let until = |end| DeviceWait { end, ..wait }.waiting();
        assert_eq!([58, 19, 90].map(until), [38, 0, 40]);
    }
}
