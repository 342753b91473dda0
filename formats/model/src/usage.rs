//! What a run has used of the machine, as our recorder writes it into archives (site.md, 5.1 and 5.2): names of properties.

/// Of a location: the most memory that its process had in use, in bytes (`getrusage(2)`, the resident set).
pub const RESIDENT_BYTES: &str = "Replay::Usage::ResidentBytes";

/// Of a location: the cores on which the system let it run when it ended, as numbers and ranges with commas between them
/// (`sched_getaffinity(2)`).
pub const CORES: &str = "Replay::Usage::Cores";

/// Of a node of the system tree: the energy that it has taken from the begin of MPI to its end, in microjoules.
pub const MICROJOULES: &str = "Replay::Energy::Microjoules";

/// Of a node of the system tree: of what that is the energy, such as `node`, or `package-0, dram`.
pub const METERS: &str = "Replay::Energy::Meters";
