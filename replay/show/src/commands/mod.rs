//! Commands, one file or folder each. A new one is a file with its `Args` and `run`, and a line in `cli.rs`.
//!
//! `run` gets the arguments and the [`Output`](crate::output::Output), and returns the exit status.

pub mod advice;
pub mod check;
pub mod diff;
pub mod explain;
#[cfg(feature = "explore")]
pub mod explore;
pub mod export;
pub mod first;
mod gates;
pub mod history;
pub mod html;
pub mod iterations;
pub mod manual;
pub mod matrix;
pub mod ranks;
#[cfg(feature = "serve")]
pub mod serve;
mod sink;
pub mod structure;
pub mod time;
pub mod tree;
pub mod waits;
