//! What a recording lacks, as our recorder writes it into archives: names of properties of locations, whose values are sentences.

/// What is lost of the events of a location.
pub const LOST: &str = "Replay::Recording::Lost";

/// Why the process of a location has no end: it was killed, say.
pub const UNFINISHED: &str = "Replay::Recording::Unfinished";
