//! Streams of ISO C, if the user wants files recorded that the C library opens (io.md, 2.6).
//!
//! | module | contents |
//! |---|---|
//! | `exports`, `variadic` | the functions that `libreplay_io.so` jumps to |
//! | `layout` | the C library's own data of a stream, and its lock |
//! | `streams` | streams that are recorded, by their addresses, and what was counted of them |
//! | `operations` | what is recorded of a call that reaches the system |
//! | `writing`, `reading` | transfers |
//! | `opening`, `positions` | opening and closing; moving the pointer and flushing |
//! | `before` | streams that were open before |
//!
//! Most calls only copy between the program and the buffer of the stream, which takes less time than a record. They are
//! counted, calls and bytes, and the next one that reaches the system stands for them. The counts are the stream's, and
//! are changed under its own lock, which the C library would take anyway.
//!
//! The rules are those of [`posix`](crate::posix): which files, when, and what is inside of calls of MPI. What the C
//! library makes the system do here does not pass through the functions of POSIX.

mod before;
mod exports;
mod layout;
mod opening;
mod operations;
mod positions;
mod reading;
mod streams;
mod variadic;
mod writing;

use crate::posix::access::Access;
use crate::posix::before::Candidate;
use crate::thread::Thread;

/// Records streams on files that were open before; returns their descriptors, and the numbers of their handles.
pub(crate) fn begin(access: &mut Access, open: &[Candidate]) -> Vec<(i32, u32)> {
    before::keep(access, open)
}

/// Records no streams from now on: what was counted is an operation of the call that is under way.
pub(crate) fn end(thread: &mut Thread) {
    operations::settle_all(thread);
}
