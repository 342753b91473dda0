//! The metrics of time off the processor (site.md, 5.1): names in archives and reports.

/// A member of the class of metrics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// The meaning of its value.
    pub description: &'static str,
    /// Whether it is a time in nanoseconds; a number of occurrences otherwise.
    pub is_time: bool,
}

/// The members of the class, in the order of the values of our recorder's events: what has happened since the event before. The times
/// come first.
pub const MEMBERS: [Member; 5] = [
    Member {
        name: "off_cpu_preempted",
        description: "time in which the thread could have run, but did not",
        is_time: true,
    },
    Member {
        name: "off_cpu_blocked",
        description: "time in which the thread waited in the system",
        is_time: true,
    },
    Member {
        name: "preemptions",
        description: "times that the processor was taken from the thread",
        is_time: false,
    },
    Member { name: "blockings", description: "times that the thread waited in the system", is_time: false },
    Member {
        name: "cpu_migrations",
        description: "times that it went on on another processor",
        is_time: false,
    },
];
