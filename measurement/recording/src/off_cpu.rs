//! The class of the metrics of time off the processor ([`model::off_cpu`]), as events and the archive have it.

/// Reference of the class, in event files and in the archive.
pub const CLASS: u32 = 0;
