//! `anchor.xml`: the member that describes everything but the values.
//!
//! CubeLib does not parse it as XML but with a scanner of its own, so the writer sticks to one exact form.
//! The reader is lenient: what CubeLib or an XML parser would take, it takes.

mod numbering;
mod read;
mod tag;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
