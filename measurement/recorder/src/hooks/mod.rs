//! Hooks: the effects of MPI calls beyond being entered and left, one file for each chapter of the standard.
//!
//! A hook is a function around the call. It gets the call, its arguments, and a closure that makes it:
//!
//! * What happens at the call (a message is sent, a receive is posted) is recorded before it, at the time of
//!   its enter.
//! * What the call completes is recorded behind it, at `call.end()`, which is to be called first of all.
//!
//! `formats/model/src/mpi/functions.txt` has the hook of each function.

pub(crate) mod collectives;
pub(crate) mod communicators;
pub(crate) mod environment;
pub(crate) mod epochs;
pub(crate) mod exchanges;
pub(crate) mod files;
pub(crate) mod non_blocking_collectives;
pub(crate) mod one_sided;
pub(crate) mod partitioned;
pub(crate) mod passive_targets;
pub(crate) mod point_to_point;
pub(crate) mod probes;
pub(crate) mod requests;
pub(crate) mod transfers;
pub(crate) mod windows;
