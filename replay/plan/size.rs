//! The size of a trace, as its definitions and its files tell it.

use otf2::Archive;

use crate::error::Error;
use crate::estimate::Estimate;
use crate::options::Options;
use crate::trace::Trace;

/// The size of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Ranks, or other processes.
    pub ranks: u64,
    /// Events of all locations, as the definitions say.
    pub events: u64,
    /// Bytes of the event files.
    pub bytes: u64,
    /// Memory that the analysis takes at most, in bytes.
    pub most: u64,
}

impl Size {
    /// Looks at the definitions of a trace, and asks the file system for the sizes of its files.
    ///
    /// # Errors
    /// If there is no archive, or its definitions are wrong.
    pub fn of(options: &Options) -> Result<Size, Error> {
        let archive = Archive::open(&options.experiment)?;
        let file = archive.definition_file()?;
        let definitions = archive.definition_records(&file).resolve()?;
        let events = definitions.locations.iter().fold(0, |sum: u64, it| sum.saturating_add(it.events));
        let trace = Trace::new(definitions, options.semantics)
            .map_err(|error| Error::new(format!("{}: {error}", archive.definition_path().display())))?;
        let size = |process: &crate::trace::Process| {
            let locations = &trace.locations[process.locations.clone()];
            let sizes = locations.iter().filter_map(|location| archive.event_bytes(location.reference));
            (locations.len() as u64, sizes.fold(0, u64::saturating_add))
        };
        let sizes: Vec<(u64, u64)> = trace.processes.iter().map(size).collect();
        let bytes = sizes.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes));
        let ranks = sizes.len() as u64;
        Ok(Size { ranks, events, bytes, most: Estimate::new(options, sizes, 0).all })
    }
}
