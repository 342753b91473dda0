//! `anchor.xml`: the member that describes the report, all but the values.
//!
//! CubeLib does not parse it as XML but with a scanner of its own, so the writer sticks to one exact form.
//! The reader is lenient: it accepts what CubeLib or an XML parser accepts.

mod numbering;
mod read;
mod tag;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
