//! The Python functions that a thread executes, read from inside of the process.
//!
//! Nothing here needs the interpreter's lock, which a thread does not hold while it waits in MPI, and nothing
//! calls the interpreter except for the address of the thread's own state. Instead the interpreter's
//! structures are read: [`layout`] has the offsets of their fields, which differ between versions; [`frames`]
//! walks from the innermost function outwards; [`code`] reads name, file and line of a function.
//!
//! All reading goes through a [`Memory`]: [`Direct`] in a thread that Python has called and that has not
//! returned, as its own frames cannot change meanwhile; [`Checked`] in a signal handler, which may have
//! interrupted the interpreter in the middle of a change: there the system finds out which addresses cannot
//! be read.
//!
//! CPython 3.11 to 3.15, on 64-bit systems, with the global interpreter lock.

#![deny(clippy::undocumented_unsafe_blocks)]

pub mod code;
pub mod frames;
pub mod interpreter;
pub mod layout;
pub mod lines;
pub mod memory;
pub mod text;

#[cfg(any(test, feature = "mock"))]
pub mod mock;

pub use code::{Code, Stamp};
pub use frames::{Frame, WalkEnd};
pub use interpreter::{Interpreter, Types};
pub use layout::Layout;
pub use memory::{Checked, Direct, Memory};
