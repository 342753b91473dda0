//! The Python functions that a thread is executing, read from inside of the process that runs them.
//!
//! Nothing here needs the interpreter's lock, which a thread does not hold while it waits in MPI, and nothing here calls
//! the interpreter but for the address of the thread's own state. What is read instead are the interpreter's structures:
//! [`layout`] says where their fields are, which differs from version to version; [`frames`] goes from the innermost
//! function outwards; [`code`] tells name, file and line of a function.
//!
//! All reading goes through a [`Memory`]: [`Direct`] in a thread that has called from Python and waits for the answer, as
//! its own frames cannot change meanwhile; [`Checked`] in a signal handler, which may have interrupted the interpreter in
//! the middle of a change: addresses that cannot be read are found out by the system.
//!
//! CPython 3.11 to 3.15, on 64-bit systems, with the global interpreter lock.

pub mod code;
pub mod frames;
pub mod interpreter;
pub mod layout;
pub mod lines;
pub mod memory;
pub mod text;

#[cfg(any(test, feature = "made"))]
pub mod made;

pub use code::{Code, Stamp};
pub use frames::{End, Frame};
pub use interpreter::{Interpreter, Types};
pub use layout::Layout;
pub use memory::{Checked, Direct, Memory};
