//! Writing archives. Mirrors the reader: an archive, its definitions, the events of each location.
//!
//! Records go to disk chunk by chunk, laid out exactly as the reference library lays them out, so a file that
//! is decoded and written again is the same, byte by byte. Files have temporary names until they are complete
//! and on disk; the anchor comes last, so an archive that has an anchor is complete, unless its writer skips
//! `fsync`.

mod archive;
mod chunks;
mod definitions;
mod events;
mod file;

pub use archive::ArchiveWriter;
pub use definitions::LocalDefinitionWriter;
pub use events::EventWriter;
