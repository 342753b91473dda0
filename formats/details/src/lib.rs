//! Details in a report: the manifest, and tables of columns in compressed blocks.
//!
//! The bytes are described in `FORMAT.md`. They depend on the table alone: the same rows give the same bytes on every
//! machine. Nothing that a table says is trusted before it is checked: readers take no more memory than a multiple of the
//! table's size.
//!
//! Deliberately absent: the meaning of tables, which `docs/details.md` describes, and the archive that they are members of.

pub mod advice;
pub mod advice_words;
mod codec;
mod error;
mod header;
pub mod manifest;
mod member;
mod read;
pub mod scaling;
mod table;
pub mod what_if;
mod write;

pub use error::{Error, Result};
pub use header::{Codec, Unit};
pub use read::parse;
pub use table::{Column, Table, Values};
pub use write::write;
