//! The MPI library of a launcher, opened at run time (site 3.1): where it is, and its symbols.
//!
//! Not here: functions of MPI. Callers have tables of those that they need (crate `mpi_abi`), with what they call them for.

mod library;
mod search;

pub use library::{Library, in_process, path_of};
pub use search::{Search, launcher_of_this_process};
