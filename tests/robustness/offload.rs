//! Defects of accelerators: streams whose launches and waits are not known (site.md, 6.2).

use replay::findings::Finding::{
    DeviceClock, DeviceWaitUnknown, LaunchUnknown, NothingLaunched, OpenCall, RankOutsideCommunicator,
};

use super::Make::Script;
use super::Outcome::{Findings, Harmless};
use super::{Row, Section};

pub(super) const SECTION: Section = Section {
    title: "Accelerators",
    about: "Launches and waits whose other side is not known for sure have no times; what runs on a stream keeps its own.",
    rows: &[
        Row {
            defect: "launches do not say on which of two streams they are",
            make: Script(
                "program prog
                 region k paradigm cuda role kernel file CUDA_KERNEL
                 rank 0
                   0 > main ; 8 > cuLaunchKernel ; 9 < ; 10 > cuLaunchKernel ; 11 < ; 80 <
                 rank 0 gpu 1
                   12 > k ; 40 <
                 rank 0 gpu 2
                   13 > k ; 70 <",
            ),
            outcome: Findings(&[LaunchUnknown, NothingLaunched]),
        },
        Row {
            defect: "a call waits for a stream, and does not say for which of two",
            make: Script(
                "program prog
                 region k paradigm cuda role kernel file CUDA_KERNEL
                 rank 0
                   0 > main ; 8 launch gpu 1 ; 9 < ; 10 launch gpu 2 ; 11 < ; 30 > cuStreamSynchronize ; 71 < ; 80 <
                 rank 0 gpu 1
                   12 > k ; 40 <
                 rank 0 gpu 2
                   13 > k ; 70 <",
            ),
            outcome: Findings(&[DeviceWaitUnknown]),
        },
        Row {
            defect: "a call waits for an event that was not recorded",
            make: Script(
                "program prog
                 region k paradigm cuda role kernel file CUDA_KERNEL
                 rank 0
                   0 > main ; 8 launch gpu 1 ; 9 < ; 30 sync event 7 ; 71 < ; 80 <
                 rank 0 gpu 1
                   12 > k ; 70 <",
            ),
            outcome: Findings(&[DeviceWaitUnknown]),
        },
        Row {
            defect: "a kernel begins before it is launched",
            make: Script(
                "program prog
                 region k paradigm cuda role kernel file CUDA_KERNEL
                 rank 0
                   0 > main ; 20 launch gpu 1 ; 22 < ; 80 <
                 rank 0 gpu 1
                   12 > k ; 70 <",
            ),
            outcome: Findings(&[LaunchUnknown, NothingLaunched]),
        },
        Row {
            defect: "a kernel ends 20 µs after the call that waits for it",
            make: Script(
                "program prog
                 region k paradigm cuda role kernel file CUDA_KERNEL
                 rank 0
                   0 > main ; 10 launch gpu 1 ; 12 < ; 20 sync gpu 1 ; 60 < ; 30000 <
                 rank 0 gpu 1
                   15 > k ; 20060 <",
            ),
            outcome: Findings(&[DeviceClock]),
        },
        Row {
            defect: "a kernel is never left",
            make: Script(
                "program prog
                 region k paradigm cuda role kernel file CUDA_KERNEL
                 rank 0
                   0 > main ; 10 launch gpu 1 ; 12 < ; 20 sync gpu 1 ; 60 < ; 70 <
                 rank 0 gpu 1
                   15 > k",
            ),
            outcome: Findings(&[OpenCall]),
        },
        Row {
            defect: "a copy on a stream ends twice",
            make: Script(
                "program prog
                 window w world
                 region k paradigm cuda role kernel file CUDA_KERNEL
                 rank 0
                   0 > main ; 10 launch gpu 1 ; 12 < ; 13 > cuMemcpyDtoH ; 40 < ; 70 <
                 rank 0 gpu 1
                   15 > k ; 18 < ; 20 copyto host 64 until 30 ; 32 accessed 42 win w",
            ),
            outcome: Harmless("an end without a begin says nothing"),
        },
        Row {
            defect: "a copy on a stream has a partner that its window does not have",
            make: Script(
                "program prog
                 window w world
                 region k paradigm cuda role kernel file CUDA_KERNEL
                 rank 0
                   0 > main ; 10 launch gpu 1 ; 12 < ; 70 <
                 rank 0 gpu 1
                   15 > k ; 18 < ; 20 get 9 win w ; 32 accessed 42 win w",
            ),
            outcome: Findings(&[RankOutsideCommunicator, LaunchUnknown]),
        },
    ],
};
