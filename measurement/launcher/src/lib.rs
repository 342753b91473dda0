//! The launcher, `replay-record`: starts a program under the recorder, waits for its end, makes an OTF2
//! archive of the recording, and ends as the program did.
//!
//! Deliberately absent: MPI, but in the program of the self-test, and anything inside the program that is recorded. The launcher and
//! the recorder share only the files and variables that the crate `recording` describes.

#![deny(clippy::undocumented_unsafe_blocks)]

mod ending;
mod error;
mod estimate;
mod faults;
mod finish;
mod guardian;
mod host;
mod jobscripts;
mod launch;
mod note;
mod options;
mod preload;
mod program;
mod report;
mod self_test;

pub use ending::{is_needed, remedy};
pub use error::Error;
pub use finish::{Estimate, Omission, Outcome, Share, Summary, finish};
pub use guardian::guard;
pub use launch::{Recorded, record};
pub use note::remove_left as remove_notes;
pub use options::{Task, command, site_defaults, task};
pub use preload::find;
pub use program::{NotStarted, Program, ProgramEnd, end_as};
pub use report::{complain, lines};
pub use self_test::{run_program, self_test};
