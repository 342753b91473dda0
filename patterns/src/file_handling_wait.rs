//! Wait at File Management: a member waits for the last one that opens, closes or sets up a file.

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_mgmt_file",
        "mpi_mgmt_file_wait",
        "Wait at File Management",
        "Time in collective calls that open, close and set up files until the last member entered the call.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at File Management",
    is_waiting: true,
    statistics: Some(Statistics::at(27, Within::Collective(CollectiveClass::FileHandling))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ open ~~~~~~~~~~~~~]==
rank 1     ===== computes ==[ open ]
",
        )),
        meaning: "Time in `MPI_File_open`, `MPI_File_close`, `MPI_File_set_view`, `MPI_File_set_size`, \
         `MPI_File_preallocate` and `MPI_File_sync` until the last member of the file's communicator entered the \
         call. The standard does not ask such calls to synchronise: a rank that has left before the last one came \
         has not waited.",
        large_when: Some(
            "ranks come to a phase of file access at different times, or files are opened and closed in a loop.",
        ),
        what_to_do: "Balance the work before; open files once, and keep them open.",
    },
    detect: Detect::Collective(CollectiveClass::FileHandling, CollectiveMember::waiting),
};
