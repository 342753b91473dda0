//! The metrics of time off the processor, as events and the archive have them (site.md, 5.1).

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

/// Reference of the class, in event files and in the archive.
pub const CLASS: u32 = 0;

/// The members of the class, in the order of the values of an event: what has happened since the event before it.
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
