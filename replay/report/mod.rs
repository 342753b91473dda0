//! From the severities of all workers to the report: the file for viewers, and the summary for whoever waits for it.

mod cube;
mod rows;
mod summary;
mod write;

pub use summary::{Summary, WaitState};
pub use write::{bytes_needed, check_target, write};
