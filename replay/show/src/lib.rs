//! Shows reports in `.cubex` files: on a terminal, in a browser, and to scripts.
//!
//! A command is a file below `commands/` with its arguments and a function that runs it, and a line in `cli.rs`. It opens a
//! report ([`opened`]), reads values of metrics ([`values`]) at call paths ([`paths`]) and locations ([`places`]), makes a
//! [`Document`](output::Document) of them, and prints it ([`output`]).
//!
//! Deliberately absent: MPI, and traces but for exports of events. Nothing that files say is trusted before it is checked.

pub mod cli;
pub mod commands;
pub mod compare;
mod cubepl;
pub mod error;
#[cfg(feature = "explore")]
pub mod explore;
pub mod gates;
pub mod graphs;
pub mod opened;
pub mod output;
pub mod overview;
pub mod page;
pub mod paths;
pub mod places;
#[cfg(feature = "serve")]
pub mod serve;
pub mod status;
pub mod tables;
pub mod unrecorded;
pub mod values;
