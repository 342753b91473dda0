//! Wait at Create: a member of a new communicator waits for the last one that creates it.

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_mgmt_comm",
        "mpi_comm_wait_at_create",
        "Wait at Create",
        "Time in calls that create communicators until the last member entered the call.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Creation of Communicators",
    is_waiting: true,
    statistics: Some(Statistics::at(18, Within::Collective(CollectiveClass::Handle))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ split ~~~~~~~~~~~~~~~~~~]==
rank 1     ======= computes ====[ split ]=
rank 2     =====[ split ~~~~~~~~~~~~~~~]==
",
        )),
        meaning: "Time in a call that creates a communicator until the last member entered it: \
         `MPI_Comm_create`, `MPI_Comm_dup`, `MPI_Comm_split`, `MPI_Cart_create`, `MPI_Cart_sub`, \
         `MPI_Dist_graph_create` and their like. Such a call synchronises like a barrier, though \
         nobody writes it for that. The standard does not ask for it, so only members count that \
         came before the waiting one had left.",
        large_when: Some(
            "a library or the program creates communicators in a loop, or behind work that is not \
         balanced.",
        ),
        what_to_do: "Create communicators once, at the start, and keep them.",
    },
    detect: Detect::Collective(CollectiveClass::Handle, CollectiveMember::waiting),
};
