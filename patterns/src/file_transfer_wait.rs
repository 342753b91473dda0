//! Wait at Collective I/O: a member waits for the last one that takes part in a collective read or write.

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_io_collective",
        "mpi_io_collective_wait",
        "Wait at Collective I/O",
        "Time in collective reads and writes until the last member entered the call.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Collective I/O",
    is_waiting: true,
    statistics: Some(Statistics::at(28, Within::Collective(CollectiveClass::FileTransfer))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ write_all ~~~~~~~~~~~~~     ]==
rank 1     ===== computes =======[ write_all ]
",
        )),
        meaning: "Time in `MPI_File_write_all`, `MPI_File_read_at_all` and their relatives until the last member of the \
         file's communicator entered the call, those without data among them. The standard does not ask such \
         calls to synchronise: a rank that has left before the last one came has not waited.",
        large_when: Some(
            "ranks have unequal work before they write, or one rank collects what others write.",
        ),
        what_to_do: "Balance the work before; start the transfer early and complete it late (`MPI_File_iwrite_all`, \
         `MPI_File_write_all_begin`).",
    },
    detect: Detect::Collective(CollectiveClass::FileTransfer, CollectiveMember::waiting),
};
