//! Defects of one-sided communication and of operations on files: epochs and operations that do not go together.

use replay::findings::Finding::{
    CollectiveMismatch, EpochNeverEnded, EpochWithoutBegin, EpochWithoutPartner, IncompleteCollective,
    IncompleteFileOperation, OpenRequest, OutsideMpi, RankOutsideCommunicator, UnknownRequest,
};

use super::Make::Script;
use super::Outcome::{Findings, Harmless};
use super::{Row, Section};

pub(super) const SECTION: Section = Section {
    title: "Windows and files",
    about: "An epoch that has no other end waits for nobody, and nobody waits for it.",
    rows: &[
        Row {
            defect: "an access epoch and its exposure epoch never end",
            make: Script(
                "program prog
                 window w world
                 comm origin 0
                 comm target 1
                 rank 0
                   0 > MPI_Win_start ; 20 group-sync target win w ; < ; > MPI_Put ; put 1 win w ; 25 <
                 rank 1
                   15 > MPI_Win_post ; group-sync origin win w ; 16 <",
            ),
            outcome: Findings(&[EpochNeverEnded]),
        },
        Row {
            defect: "a lock is never released",
            make: Script(
                "program prog
                 window w world
                 rank 0
                   0 > MPI_Win_lock ; lock 1 win w ; 1 < ; > MPI_Put ; put 1 win w ; 25 <
                 rank 1
                   0 > MPI_Win_lock ; lock 1 win w ; 30 < ; > MPI_Win_unlock ; unlock 1 win w ; 40 <",
            ),
            outcome: Findings(&[EpochNeverEnded]),
        },
        Row {
            defect: "a lock is requested again before it is released",
            make: Script(
                "program prog
                 window w world
                 rank 0
                   0 > MPI_Win_lock ; lock 1 win w ; 1 < ; > MPI_Win_lock ; lock 1 win w ; 10 <
                   > MPI_Win_unlock ; unlock 1 win w ; 12 <
                 rank 1
                   0 > work ; 12 <",
            ),
            outcome: Findings(&[EpochWithoutBegin]),
        },
        Row {
            defect: "a lock is released that was not requested, or that of another rank",
            make: Script(
                "program prog
                 window w world
                 rank 0
                   0 > MPI_Win_lock ; lock 1 win w ; 1 < ; > MPI_Win_unlock ; unlock 0 win w ; 10 <
                   > MPI_Win_unlock ; unlock 1 win w ; 12 <
                 rank 1
                   0 > MPI_Win_unlock_all ; unlock all win w ; 12 <",
            ),
            outcome: Findings(&[EpochWithoutBegin]),
        },
        Row {
            defect: "epochs end that did not begin",
            make: Script(
                "program prog
                 window w world
                 comm origin 0
                 comm target 1
                 rank 0
                   0 > MPI_Win_complete ; group-sync target win w ; 10 <
                 rank 1
                   0 > MPI_Win_wait ; 10 group-sync origin win w ; <",
            ),
            outcome: Findings(&[EpochWithoutBegin]),
        },
        Row {
            defect: "an exposure epoch begins again before it has ended",
            make: Script(
                "program prog
                 window w world
                 comm origin 0
                 comm target 1
                 rank 0
                   0 > MPI_Win_start ; 5 group-sync target win w ; < ; > MPI_Win_complete ; group-sync target win w ; 10 <
                 rank 1
                   0 > MPI_Win_post ; group-sync origin win w ; 2 < ; > MPI_Win_post ; group-sync origin win w ; 4 <
                   > MPI_Win_wait ; 10 group-sync origin win w ; <",
            ),
            outcome: Findings(&[EpochWithoutPartner, EpochWithoutBegin]),
        },
        Row {
            defect: "a target never posts its window, and an origin never starts",
            make: Script(
                "program prog
                 window w world
                 comm first 0
                 comm second 1
                 comm third 2
                 rank 0
                   0 > MPI_Win_start ; group-sync second win w ; < ; > MPI_Win_complete ; group-sync second win w ; 10 <
                 rank 1
                   0 > MPI_Win_post ; group-sync third win w ; < ; > MPI_Win_wait ; 10 group-sync third win w ; <
                 rank 2
                   0 > work ; 10 <",
            ),
            outcome: Findings(&[EpochWithoutPartner]),
        },
        Row {
            defect: "a member of a window is missing at a fence",
            make: Script(
                "program prog
                 window w world
                 rank 0
                   0 > MPI_Win_fence ; wbegin ; 10 wend barrier win w ; <
                 rank 1
                   0 > work ; 10 <",
            ),
            outcome: Findings(&[IncompleteCollective]),
        },
        Row {
            defect: "one rank frees a window, the other one passes a fence",
            make: Script(
                "program prog
                 window w world
                 rank 0
                   0 > MPI_Win_fence ; wbegin ; 10 wend barrier win w ; <
                 rank 1
                   0 > MPI_Win_free ; wbegin ; 10 wend destroy_handle win w ; <",
            ),
            outcome: Findings(&[IncompleteCollective]),
        },
        Row {
            defect: "a window is never freed",
            make: Script(
                "program prog
                 window w world
                 rank 0
                   0 > MPI_Win_create ; wbegin ; 10 wend create_handle win w ; <
                 rank 1
                   5 > MPI_Win_create ; wbegin ; 10 wend create_handle win w ; <",
            ),
            outcome: Harmless("nobody waits for what does not happen"),
        },
        Row {
            defect: "accesses and locks of ranks that are not in the window",
            make: Script(
                "program prog
                 window w world
                 rank 0
                   0 > MPI_Win_lock ; lock 7 win w ; < ; > MPI_Put ; put 7 win w ; 10 <
                 rank 1
                   0 > work ; 10 <",
            ),
            outcome: Findings(&[RankOutsideCommunicator]),
        },
        Row {
            defect: "a group of targets has a process that is not in the window",
            make: Script(
                "program prog
                 comm pair 0 1
                 comm targets 1 2
                 comm origin 0
                 window w pair
                 rank 0
                   0 > MPI_Win_start ; group-sync targets win w ; < ; > MPI_Win_complete ; group-sync targets win w ; 10 <
                 rank 1
                   0 > MPI_Win_post ; group-sync origin win w ; < ; > MPI_Win_wait ; 10 group-sync origin win w ; <
                 rank 2
                   0 > work ; 10 <",
            ),
            outcome: Findings(&[EpochWithoutPartner]),
        },
        Row {
            defect: "one-sided communication is recorded in a region that is not MPI's",
            make: Script(
                "program prog
                 window w world
                 rank 0
                   0 > work ; put 1 win w ; lock 1 win w ; unlock 1 win w ; wbegin ; wend barrier win w ; 10 <
                 rank 1
                   0 > work ; wbegin ; wend barrier win w ; 10 <",
            ),
            outcome: Findings(&[OutsideMpi]),
        },
        Row {
            defect: "a rank does not open a file that others open together",
            make: Script(
                "program prog
                 file f world
                 rank 0
                   0 > MPI_File_open ; 10 create f ; <
                 rank 1
                   0 > MPI_File_open ; 10 <",
            ),
            outcome: Findings(&[IncompleteFileOperation]),
        },
        Row {
            defect: "one rank writes together, the other one reads",
            make: Script(
                "program prog
                 file f world
                 rank 0
                   0 > MPI_File_write_all ; transfer f id 1 ; 10 transferred f id 1 ; <
                 rank 1
                   0 > MPI_File_read_all ; transfer f id 1 mode 0 ; 10 transferred f id 1 ; <",
            ),
            outcome: Findings(&[CollectiveMismatch]),
        },
        Row {
            defect: "an operation on a file is never complete",
            make: Script(
                "program prog
                 file f world
                 rank 0
                   0 > MPI_File_iwrite_all ; transfer f id 1 flags 3 ; 1 < ; 10 > MPI_Wait ; transferred f id 1 ; 20 <
                 rank 1
                   0 > MPI_File_iwrite_all ; transfer f id 1 flags 3 ; 20 <",
            ),
            outcome: Findings(&[OpenRequest, IncompleteFileOperation]),
        },
        Row {
            defect: "an operation on a file ends that did not begin",
            make: Script(
                "program prog
                 file f world
                 rank 0
                   0 > MPI_File_write_all ; 10 transferred f id 1 ; <
                 rank 1
                   0 > MPI_File_write_all ; 10 transferred f id 1 ; <",
            ),
            outcome: Findings(&[UnknownRequest]),
        },
        Row {
            defect: "two operations on a file have the same matching id at once",
            make: Script(
                "program prog
                 file f world
                 rank 0
                   0 > MPI_File_iwrite_all ; transfer f id 1 flags 3 ; 1 < ; > MPI_File_iwrite_all ; transfer f id 1 flags 3 ; 2 <
                   10 > MPI_Waitall ; transferred f id 1 ; transferred f id 1 ; 20 <
                 rank 1
                   0 > MPI_File_iwrite_all ; transfer f id 1 flags 3 ; 1 < ; > MPI_File_iwrite_all ; transfer f id 2 flags 3 ; 2 <
                   10 > MPI_Waitall ; transferred f id 1 ; transferred f id 2 ; 20 <",
            ),
            outcome: Harmless("the last one begun is the first one complete"),
        },
    ],
};
