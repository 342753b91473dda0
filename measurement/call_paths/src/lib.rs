//! Call paths: the active functions of the calling thread, found by unwinding its stack.
//!
//! A thread has [`CallPaths`], which unwinds by `.eh_frame`, so that programs need neither frame pointers nor
//! debug information, and numbers the paths in a [`PathTable`], a file in the format of [`recording::paths`].
//! Paths are remembered: a known one costs a load and a comparison a function. All threads share the
//! process's [`Modules`].
//!
//! ```no_run
//! use call_paths::{CallPaths, Module, Modules, PathTable, Registers};
//!
//! static MODULES: Modules =
//!     Modules::new(|module: &Module| println!("{}", module.path), |sentence: &str| println!("{sentence}"));
//!
//! # fn main() -> std::io::Result<()> {
//! let table = PathTable::create("recording/0.paths".as_ref())?;
//! let mut paths = CallPaths::new(&MODULES, table, "recording/0.python".into(), 64)?;
//! let barrier = 17;
//! let node = paths.at_call(Registers::here(), None, barrier);
//! # Ok(())
//! # }
//! ```
//!
//! In Python programs, the functions of the interpreter are replaced by those that it executes, which
//! [`python_frames`] reads; they are numbered in a file in the format of [`recording::python`].
//!
//! The unwinder is our own rather than a library's for three reasons: the memo needs to know every word that
//! a result depends on and no other; functions that align their stack, as those with vector instructions do,
//! have to be unwound; and code that no table covers has to end a path instead of being guessed at.

#![deny(clippy::undocumented_unsafe_blocks)]

mod architecture;
mod call_paths;
mod frame_table;
mod function_table;
mod growing;
mod index;
mod memo;
mod merge;
mod modules;
mod objects;
mod own_file;
mod pages;
mod python;
mod registers;
mod roles;
mod rules;
mod stack;
mod table;
mod unwind;

pub use call_paths::{CallPaths, RegionBase, Statistics};

pub use growing::GrowingFile;
pub use modules::{Module, Modules};
pub use objects::set_initial_objects;
pub use own_file::{OwnFile, undisturbed};
pub use registers::Registers;
pub use roles::set_linked_recorder;
pub use table::PathTable;
