//! Defects of events: contradictions to each other, to MPI or to the definitions.

use replay::findings::Finding::{
    BackwardTime, ClockCollective, ClockMessage, CollectiveAfterGap, CollectiveMismatch, ConcurrentChannel,
    ConcurrentCommunicator, ContradictingNeighborhood, CyclicWait, Deadlock, EventCount, FarTime,
    IncompleteBarrier, IncompleteCollective, LeaveWithoutEnter, LeftOut, LockOrder, MissingLeave,
    MissingRelease, OpenCall, OpenRequest, OpenTask, OutsideMpi, OutsideProcesses, RankOutsideCommunicator,
    RecordingOff, ReusedRequest, ShortSend, TaskOrder, UndefinedReference, UnknownOrder, UnknownRequest,
    UnmatchedReceive, UnmatchedSend, UnrecordedMember, UnrecordedPartner, UnverifiedOrder, WouldDeadlock,
};

use super::Make::{Bytes, Replayed, Script};
use super::Outcome::Findings;
use super::make::{patch, splice};
use super::{Row, Section};

pub(super) const SECTION: Section = Section {
    title: "Events",
    about: "Nothing in an event file ends the analysis. What an event says that cannot be is a finding, and\n\
            the rest counts.",
    rows: &[
        Row {
            defect: "the definition of a location counts another number of events",
            make: Bytes(|files| {
                let at = files.definition("Location");
                patch(&mut files.definitions, at + 7, &[99]);
            }),
            outcome: Findings(&[EventCount]),
        },
        Row {
            defect: "an event is earlier than the one before it",
            make: Bytes(|files| {
                let stamp = files.event("MpiRecv") - 9;
                patch(&mut files.events, stamp, &[5, 1, 0, 0, 0, 0, 0, 0, 0]);
            }),
            outcome: Findings(&[BackwardTime]),
        },
        Row {
            defect: "an event is at 5.8 · 10¹⁸ ticks",
            make: Bytes(|files| {
                let stamp = files.event("ProgramEnd") - 9;
                splice(&mut files.events, stamp + 9, 0, &[5, 0, 0, 0, 0, 0, 0, 0, 0x50]);
            }),
            outcome: Findings(&[FarTime]),
        },
        Row {
            defect: "a region is not defined",
            make: Bytes(|files| {
                let at = files.event("Leave");
                patch(&mut files.events, at, &[13, 1, 200]);
            }),
            outcome: Findings(&[UndefinedReference, MissingLeave]),
        },
        Row {
            defect: "a communicator is not defined",
            make: Bytes(|files| {
                let communicator = files.event("MpiRecv") + 3;
                patch(&mut files.events, communicator, &[1, 200]);
            }),
            outcome: Findings(&[UndefinedReference]),
        },
        Row {
            defect: "a calling context is not defined",
            make: Bytes(|files| {
                let at = files.event("MpiRecv");
                splice(&mut files.events, at, 0, &[68, 4, 1, 200, 0, 0]);
            }),
            outcome: Findings(&[UndefinedReference]),
        },
        Row {
            defect: "the name of the program is not defined",
            make: Bytes(|files| {
                let at = files.event("ProgramBegin");
                patch(&mut files.events, at + 2, &[1, 200]);
            }),
            outcome: Findings(&[UndefinedReference]),
        },
        Row {
            defect: "a region is left that was not entered",
            make: Script("program prog\nrank 0\n 0 > main ; 5 < other ; 9 <\nrank 1\n 0 > other ; 9 <"),
            outcome: Findings(&[LeaveWithoutEnter]),
        },
        Row {
            defect: "a region is left while another one is open in it",
            make: Script("program prog\nrank 0\n 0 > main ; 5 > work ; 9 < main"),
            outcome: Findings(&[MissingLeave]),
        },
        Row {
            defect: "a region is never left",
            make: Script("rank 0\n 0 > main ; 5 > work ; 9 <"),
            outcome: Findings(&[OpenCall]),
        },
        Row {
            defect: "the recorder was switched off for a while",
            make: Script("program prog\nrank 0\n 0 > main ; 2 off ; 7 on ; 9 <"),
            outcome: Findings(&[RecordingOff]),
        },
        Row {
            defect: "the archive is a short one (`--short`)",
            make: Script("program prog\nrank 0\n 0 > main ; 2 with whole : off ; 7 with whole : on ; 9 <"),
            outcome: Findings(&[LeftOut]),
        },
        Row {
            defect: "a message is sent outside of MPI",
            make: Script("program prog\nrank 0\n 0 > main ; 2 send 1 ; 9 <\nrank 1\n 0 > main ; 9 <"),
            outcome: Findings(&[OutsideMpi]),
        },
        Row {
            defect: "a collective operation is outside of MPI",
            make: Script("program prog\nrank 0\n 0 > main ; 2 end barrier ; 9 <"),
            outcome: Findings(&[OutsideMpi]),
        },
        Row {
            defect: "a message goes to a rank that the communicator does not have",
            make: Script("program prog\nrank 0\n 0 > MPI_Send ; 2 send 7 ; 9 <"),
            outcome: Findings(&[RankOutsideCommunicator]),
        },
        Row {
            defect: "a collective operation has a root that the communicator does not have",
            make: Script("program prog\nrank 0\n 0 > MPI_Bcast ; begin ; 2 end bcast root 7 sent 8 ; 9 <"),
            outcome: Findings(&[RankOutsideCommunicator]),
        },
        Row {
            defect: "a process that is no member of a communicator records a collective operation on it",
            make: Script(
                "program prog\ncomm pair 0 1\n\
                 rank 0\n 0 > MPI_Barrier ; begin ; 9 end barrier comm pair ; <\n\
                 rank 1\n 0 > work ; 9 <\n\
                 rank 2\n 2 > MPI_Barrier ; begin ; 9 end barrier comm pair ; <",
            ),
            outcome: Findings(&[RankOutsideCommunicator]),
        },
        Row {
            defect: "a request completes that was not started",
            make: Script("program prog\nrank 0\n 0 > MPI_Wait ; 2 sent 5 ; 9 <"),
            outcome: Findings(&[UnknownRequest]),
        },
        Row {
            defect: "a probed message is received that was not probed",
            make: Script("program prog\nrank 0\n 0 > MPI_Mrecv ; 2 mrecv 5 ; 9 <"),
            outcome: Findings(&[UnknownRequest]),
        },
        Row {
            defect: "a request completes as a send that was started as a receive",
            make: Script(
                "program prog\nrank 0\n 0 > MPI_Irecv ; post 5 ; 1 < ; 2 > MPI_Wait ; 3 sent 5 ; 9 <",
            ),
            outcome: Findings(&[UnknownRequest]),
        },
        Row {
            defect: "a request is started twice",
            make: Script(
                "program prog\nrank 0\n 0 > MPI_Irecv ; post 5 ; 1 < ; 2 > MPI_Irecv ; post 5 ; 3 <",
            ),
            outcome: Findings(&[ReusedRequest]),
        },
        Row {
            defect: "a request never completes",
            make: Script("program prog\nrank 0\n 0 > MPI_Irecv ; post 5 ; 1 <"),
            outcome: Findings(&[OpenRequest]),
        },
        Row {
            defect: "the recorder was switched off for a while, and both sides have equally many messages",
            make: Script(
                "program prog\nrank 0\n 0 > MPI_Init ; 1 < ; 2 off ; 3 on ; 4 > MPI_Send ; 5 send 1 ; 6 <\n\
                 rank 1\n 0 > MPI_Init ; 1 < ; 4 > MPI_Recv ; 7 recv 0 ; 8 <",
            ),
            outcome: Findings(&[RecordingOff, UnverifiedOrder]),
        },
        Row {
            defect: "the same, and a message would be received before it was sent",
            make: Script(
                "program prog\nrank 0\n 0 > MPI_Init ; 1 < ; 2 off ; 3 on ; 14 > MPI_Send ; 15 send 1 ; 16 <\n\
                 rank 1\n 0 > MPI_Init ; 1 < ; 4 > MPI_Recv ; 7 recv 0 ; 8 <",
            ),
            outcome: Findings(&[RecordingOff, UnknownOrder]),
        },
        Row {
            defect: "the recorder was switched off for a while and counted, and a receive is missing",
            make: Script(
                "program prog\nrank 0\n 0 > MPI_Init ; 1 < ; 4 > MPI_Send ; 5 send 1 ; 6 <\n\
                 rank 1\n 0 > MPI_Init ; 1 < ; 2 with counted : off ; 9 with counted : on",
            ),
            outcome: Findings(&[RecordingOff, UnrecordedPartner]),
        },
        Row {
            defect: "the same, and fewer messages are missing than before",
            make: Script(
                "program prog\nrank 0\n 0 > MPI_Init ; 1 < ; 4 > MPI_Send ; 5 send 1 ; 6 < ; 7 > MPI_Send ; 8 send 1 ; 9 <\n\
                 rank 1\n 0 > MPI_Init ; 1 < ; 2 with counted : off ; 3 with counted : on\n \
                 4 > MPI_Recv ; 6 with unrecorded 9 : recv 0 ; 7 < ; 8 > MPI_Recv ; 9 with unrecorded 1 : recv 0 ; 10 <",
            ),
            outcome: Findings(&[RecordingOff, UnknownOrder]),
        },
        Row {
            defect: "the recorder was switched off for a while and counted, and a rank lacks a barrier",
            make: Script(
                "program prog\nrank 0\n 0 > MPI_Init ; 1 < ; 4 > MPI_Barrier ; begin ; 6 end barrier ; 7 <\n\
                 rank 1\n 0 > MPI_Init ; 1 < ; 2 with counted : off ; 9 with counted : on",
            ),
            outcome: Findings(&[RecordingOff, UnrecordedMember]),
        },
        Row {
            defect: "a communicator has a rank that MPI does not have, and a message is sent and a barrier called on it",
            make: Script(
                "comm more 0 7\nprogram prog\nrank 0\n 0 > MPI_Send ; 2 send 0 comm more ; 3 < ; \
                 4 > MPI_Barrier ; begin ; 6 end barrier comm more ; 9 <",
            ),
            outcome: Findings(&[OutsideProcesses]),
        },
        Row {
            defect: "processes are started",
            make: Script(
                "program prog\nrank 0\n 0 > MPI_Comm_spawn ; begin ; 5 end create_handle comm self ; 9 <",
            ),
            outcome: Findings(&[OutsideProcesses]),
        },
        Row {
            defect: "two threads are in barriers on one communicator at once",
            make: Script(
                "program prog\nrank 0\n 0 > MPI_Barrier ; begin ; 6 end barrier comm self ; 9 <\n\
                 rank 0 thread 1\n 0 > MPI_Barrier ; 2 begin ; 8 end barrier comm self ; 9 <",
            ),
            outcome: Findings(&[ConcurrentCommunicator]),
        },
        Row {
            defect: "a message is sent that nobody receives",
            make: Script("program prog\nrank 0\n 0 > MPI_Send ; 2 send 1 ; 9 <\nrank 1\n 0 > main ; 9 <"),
            outcome: Findings(&[UnmatchedSend]),
        },
        Row {
            defect: "a message is received that nobody has sent",
            make: Script("program prog\nrank 0\n 0 > MPI_Recv ; 2 recv 1 ; 9 <\nrank 1\n 0 > main ; 9 <"),
            outcome: Findings(&[UnmatchedReceive]),
        },
        Row {
            defect: "more bytes are received than were sent",
            make: Script(
                "program prog\nrank 0\n 0 > MPI_Send ; 2 send 1 bytes 8 ; 9 <\n\
                 rank 1\n 0 > MPI_Recv ; 5 recv 0 bytes 16 ; 9 <",
            ),
            outcome: Findings(&[ShortSend]),
        },
        Row {
            defect: "a message arrives before it is sent",
            make: Script(
                "program prog\nrank 0\n 90 > MPI_Send ; 92 send 1 ; 95 <\nrank 1\n 4 > MPI_Recv ; 14 recv 0 ; 15 <",
            ),
            outcome: Findings(&[ClockMessage]),
        },
        Row {
            defect: "a rank leaves a barrier before another one enters it",
            make: Script(
                "program prog\nrank 0\n 10 > MPI_Barrier ; begin ; 20 end barrier ; 21 <\n\
                 rank 1\n 30 > MPI_Barrier ; begin ; 40 end barrier ; 41 <",
            ),
            outcome: Findings(&[ClockCollective]),
        },
        Row {
            defect: "clocks are wrong such that two wait states are each other's cause",
            make: Script(
                "program prog\nrank 0\n 0 > main ; 6 > MPI_Send ; 7 send 1 tag 1 ; 30 < ; 50 > MPI_Send ; 51 send 1 tag 2 ; 52 < ; \
                 80 > MPI_Send ; 81 send 3 ; 82 < ; 90 <\n\
                 rank 1\n 0 > main ; 4 > MPI_Recv ; 9 recv 0 tag 2 ; 10 < ; 22 > MPI_Recv ; 29 recv 0 tag 1 ; 30 < ; \
                 60 > MPI_Send ; 61 send 2 ; 62 < ; 90 <\n\
                 rank 2\n 0 > main ; 5 > MPI_Recv ; 63 recv 1 ; 64 < ; 90 <\n\
                 rank 3\n 0 > main ; 10 > MPI_Recv ; 83 recv 0 ; 84 < ; 90 <\n\
                 rank 4\n 0 > main ; 200 <",
            ),
            outcome: Findings(&[ClockMessage, CyclicWait]),
        },
        Row {
            defect: "processes send before they receive, and with `--what-if=rendezvous=0` sends wait for their receives",
            make: Replayed(
                "program prog\nrank 0\n 0 > main ; 5 > MPI_Send ; 6 send 1 ; 7 < ; 20 > MPI_Recv ; 29 recv 1 ; 30 < ; 40 <\n\
                 rank 1\n 0 > main ; 5 > MPI_Send ; 6 send 0 ; 7 < ; 20 > MPI_Recv ; 29 recv 0 ; 30 < ; 40 <",
                "rendezvous=0",
            ),
            outcome: Findings(&[WouldDeadlock]),
        },
        Row {
            defect: "a rank has not recorded a collective operation",
            make: Script(
                "program prog\nrank 0\n 0 > MPI_Init ; 1 < ; 10 > MPI_Barrier ; begin ; 20 end barrier ; 21 <\n\
                 rank 1\n 0 > MPI_Init ; 1 < ; 30 > main ; 31 <",
            ),
            outcome: Findings(&[IncompleteCollective]),
        },
        Row {
            defect: "a rank has not recorded a collective operation, and was not recorded all the time",
            make: Script(
                "program prog\nrank 0\n 10 > MPI_Barrier ; begin ; 20 end barrier ; 21 <\n  \
                 30 > MPI_Barrier ; begin ; 40 end barrier ; 41 <\n\
                 rank 1\n 10 > MPI_Barrier ; begin ; 20 end barrier ; 21 <",
            ),
            outcome: Findings(&[CollectiveAfterGap]),
        },
        Row {
            defect: "ranks disagree on which collective operation it is",
            make: Script(
                "program prog\nrank 0\n 10 > MPI_Barrier ; begin ; 20 end barrier ; 21 <\n\
                 rank 1\n 10 > MPI_Allreduce ; begin ; 20 end allreduce sent 8 received 8 ; 21 <",
            ),
            outcome: Findings(&[CollectiveMismatch]),
        },
        Row {
            defect: "ranks disagree on the root of a collective operation",
            make: Script(
                "program prog\nrank 0\n 10 > MPI_Bcast ; begin ; 20 end bcast root 0 sent 8 ; 21 <\n\
                 rank 1\n 10 > MPI_Bcast ; begin ; 20 end bcast root 1 sent 8 ; 21 <",
            ),
            outcome: Findings(&[CollectiveMismatch]),
        },
        Row {
            defect: "a non-blocking collective operation is never completed",
            make: Script(
                "program prog
                 rank 0
                   10 > MPI_Ibarrier ; istart 1 ; 11 < ; 20 > MPI_Wait ; 30 idone barrier req 1 ; 31 <
                 rank 1
                   10 > MPI_Ibarrier ; istart 1 ; 11 < ; 40 > MPI_Barrier ; 41 <",
            ),
            outcome: Findings(&[OpenRequest, IncompleteCollective]),
        },
        Row {
            defect: "a non-blocking collective operation is not started by all",
            make: Script(
                "program prog
                 rank 0
                   10 > MPI_Ibarrier ; istart 1 ; 11 < ; 20 > MPI_Wait ; 30 idone barrier req 1 ; 31 <
                 rank 1
                   10 > work ; 40 <",
            ),
            outcome: Findings(&[IncompleteCollective]),
        },
        Row {
            defect: "the first of two non-blocking collective operations is never completed",
            make: Script(
                "program prog
                 rank 0
                   10 > MPI_Ibarrier ; istart 1 ; 11 < ; 12 > MPI_Ibarrier ; istart 2 ; 13 <
                   20 > MPI_Wait ; 30 idone barrier req 1 ; 31 < ; 32 > MPI_Wait ; 33 idone barrier req 2 ; 34 <
                 rank 1
                   10 > MPI_Ibarrier ; istart 1 ; 11 < ; 12 > MPI_Ibarrier ; istart 2 ; 13 <
                   32 > MPI_Wait ; 33 idone barrier req 2 ; 34 <",
            ),
            outcome: Findings(&[OpenRequest, CollectiveAfterGap, IncompleteCollective]),
        },
        Row {
            defect: "ranks disagree on which non-blocking collective operation it is",
            make: Script(
                "program prog
                 rank 0
                   10 > MPI_Ibarrier ; istart 1 ; 11 < ; 20 > MPI_Wait ; 30 idone barrier req 1 ; 31 <
                 rank 1
                   10 > MPI_Ibcast ; istart 1 ; 11 < ; 20 > MPI_Wait ; 30 idone bcast req 1 root 0 received 8 ; 31 <",
            ),
            outcome: Findings(&[CollectiveMismatch]),
        },
        Row {
            defect: "a rank receives from a neighbour that does not send to it",
            make: Script(
                "program prog
                 comm only0 0
                 comm only1 1
                 comm nobody
                 rank 0
                   10 > MPI_Neighbor_alltoall ; begin
                   30 with in only1 out only1 : end alltoallv sent 8 received 8 ; 31 <
                 rank 1
                   20 > MPI_Neighbor_alltoall ; begin
                   30 with in only0 out nobody : end alltoallv sent 0 received 8 ; 31 <",
            ),
            outcome: Findings(&[ContradictingNeighborhood]),
        },
        Row {
            defect: "a neighbour has not recorded an operation among neighbours",
            make: Script(
                "program prog
                 comm only0 0
                 comm only1 1
                 rank 0
                   10 > MPI_Neighbor_alltoall ; begin
                   30 with in only1 out only1 : end alltoallv sent 8 received 8 ; 31 <
                 rank 1
                   20 > work ; 30 <",
            ),
            outcome: Findings(&[IncompleteCollective]),
        },
        Row {
            defect: "a neighbour has started a non-blocking operation among neighbours, and never completes it",
            make: Script(
                "program prog
                 comm only0 0
                 comm only1 1
                 rank 0
                   10 > MPI_Ineighbor_alltoall ; istart 1 ; 11 <
                   20 > MPI_Wait ; 30 with in only1 out only1 : idone alltoallv req 1 sent 8 received 8 ; 31 <
                 rank 1
                   10 > MPI_Ineighbor_alltoall ; istart 1 ; 11 < ; 20 > work ; 30 <",
            ),
            outcome: Findings(&[OpenRequest, IncompleteCollective]),
        },
        Row {
            defect: "two threads send to one rank at once, with one tag",
            make: Script(
                "program prog\nrank 0\n 10 > MPI_Send ; 12 send 1 ; 20 <\nrank 0 thread 1\n 11 > MPI_Send ; 13 send 1 ; 19 <\n\
                 rank 1\n 4 > MPI_Recv ; 21 recv 0 ; 22 < ; 23 > MPI_Recv ; 24 recv 0 ; 25 <",
            ),
            outcome: Findings(&[ConcurrentChannel]),
        },
        Row {
            defect: "a thread leaves out a barrier of its team",
            make: Script(
                "program prog\nrank 0\n 0 fork ; team ; > !$omp parallel ; 2 > !$omp barrier ; 9 < ; 10 < ; team-end ; join ; 12 > a ; <\n\
                 rank 0 thread 1\n 1 team ; > !$omp parallel ; 10 < ; team-end",
            ),
            outcome: Findings(&[IncompleteBarrier]),
        },
        Row {
            defect: "the release of a lock is missing",
            make: Script("program prog\nrank 0\n 10 > omp_set_lock ; 11 acquire 1 order 7 ; 12 <"),
            outcome: Findings(&[MissingRelease]),
        },
        Row {
            defect: "two threads claim the same place in the order of a lock",
            make: Script(
                "program prog\nrank 0\n 10 > omp_set_lock ; 11 acquire 1 order 1 ; 12 <\n\
                 rank 0 thread 1\n 10 > omp_set_lock ; 11 acquire 1 order 1 ; 12 <",
            ),
            outcome: Findings(&[LockOrder]),
        },
        Row {
            defect: "a thread runs a task that was never created",
            make: Script("program prog\nrank 0\n 0 > main ; 5 task-switch 1 ; 8 task-complete 1 ; 9 <"),
            outcome: Findings(&[TaskOrder]),
        },
        Row {
            defect: "a task is completed twice",
            make: Script(
                "program prog\nrank 0\n 0 > main ; 5 task-create 1 ; task-switch 1 ; 7 task-complete 1 ; \
                 8 task-complete 1 ; 9 <",
            ),
            outcome: Findings(&[TaskOrder]),
        },
        Row {
            defect: "a task is never completed",
            make: Script("program prog\nrank 0\n 0 > main ; 5 task-create 1 ; 9 <"),
            outcome: Findings(&[OpenTask]),
        },
        Row {
            defect: "two ranks send to each other and never return",
            make: Script(
                "rank 0\n 0 > MPI_Init ; 1 < ; 10 > MPI_Ssend ; 11 send 1\n\
                 rank 1\n 0 > MPI_Init ; 1 < ; 12 > MPI_Ssend ; 13 send 0",
            ),
            outcome: Findings(&[Deadlock]),
        },
    ],
};
