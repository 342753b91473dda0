//! Files of a predicted run: events and local definitions of each location, global definitions, the anchor, and other files that
//! still hold.

use std::fs;
use std::path::{Path, PathBuf};

use new_directory::write_file;
use otf2::{
    Anchor, Archive, ArchiveWriter, Definition, EventWriter, LocalDefinitionWriter, LocalDefinitions,
};

use super::copy::{Copied, Source, copy};
use super::{OPTION, PROPERTY, scenario_of};
use crate::copied_archive::{anchor, anchor_path, of_locations};
use crate::error::Error;
use crate::report::ITERATIONS_TABLE;
use crate::trace::{Location, Trace};
use crate::what_if::{RecordTimes, Scenario};

/// Files that Score-P writes beside an archive, and that say how it was recorded.
const OF_RECORDER: [&str; 2] = ["scorep.cfg", "scorep.filter"];

/// A predicted run that is written from a measured one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Files<'f> {
    pub(super) source: &'f Archive,
    pub(super) trace: &'f Trace,
    /// Its directory, under the name that it has until it is complete.
    pub(super) directory: &'f Path,
}

fn refused(error: otf2::Error) -> Error {
    Error::new(format!("{error}; choose another place with {OPTION}"))
}

impl Files<'_> {
    /// Copies a location, with these times.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(super) fn copy(&self, location: &Location, times: RecordTimes<'_>) -> Result<Copied, Error> {
        let reference = location.reference;
        let [definitions, events] = ["def", "evt"]
            .map(|kind| of_locations(self.source, self.directory).join(format!("{reference}.{kind}")));
        let local = existing(self.source.local_definition_file(reference))?;
        let file = existing(self.source.event_file(reference))?;
        if times.count() == 0 {
            // Nothing of it is known, or can be read: it stays as it is.
            local.iter().try_for_each(|local| write_file(&definitions, local, OPTION))?;
            file.iter().try_for_each(|file| write_file(&events, file, OPTION))?;
            return Ok(Copied::default());
        }
        let known = match &local {
            Some(local) => {
                self.copy_definitions(local, &definitions)?;
                LocalDefinitions::collect(self.source.local_definition_records(local))?
            }
            None => LocalDefinitions::default(),
        };
        let Some(file) = file else { return Ok(Copied::default()) };
        let mut out = EventWriter::create(&events, &anchor(self.source)).map_err(refused)?;
        let LocalDefinitions { mappings, clock } = known;
        let source = Source { trace: self.trace, mappings: &mappings, clock, times };
        let copied = copy(self.source.events(&file), source, &mut out).map_err(refused)?;
        out.finish().map_err(refused)?;
        Ok(copied)
    }

    /// Copies local definitions, without those of a clock.
    fn copy_definitions(&self, local: &otf2::FileBytes, path: &Path) -> Result<(), Error> {
        let mut records = self.source.local_definition_records(local);
        let mut out = LocalDefinitionWriter::create(path, &anchor(self.source)).map_err(refused)?;
        let mut mapped = Vec::new();
        while let Some(record) = records.next()? {
            let is_wanted = match &record.definition {
                Definition::ClockOffset { .. } => false,
                // Readers ignore a second table of a kind, and one without entries.
                Definition::MappingTable { mapping_type, id_map } => {
                    let is_first = !mapped.contains(mapping_type);
                    mapped.push(*mapping_type);
                    is_first && !id_map.is_empty()
                }
                _ => true,
            };
            if is_wanted {
                out.write(record.definition).map_err(refused)?;
            }
        }
        out.finish().map_err(refused)
    }

    /// Writes definitions and anchor, once all locations are written.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(super) fn finish(&self, copied: &Copied, scenario: &Scenario) -> Result<(), Error> {
        self.copy_others(copied)?;
        // A prediction from a prediction is of both.
        let scenario = match scenario_of(self.source) {
            Some(before) => format!("{before}, then {scenario}"),
            None => scenario.to_string(),
        };
        let source = self.source.anchor();
        let kept = source.properties.iter().filter(|(name, _)| name != PROPERTY).cloned();
        // Another trace than the source, the same for the same scenario.
        let trace_id = scenario
            .bytes()
            .fold(source.trace_id, |id, byte| (id ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let properties = kept.chain([(PROPERTY.to_owned(), scenario)]).collect();
        let anchor = Anchor { properties, trace_id, ..anchor(self.source) };
        let mut archive =
            ArchiveWriter::complete(anchor_path(self.source, self.directory), anchor).map_err(refused)?;
        let file = self.source.definition_file()?;
        let mut records = self.source.definition_records(&file);
        while let Some(record) = records.next()? {
            let definition = match record.definition {
                Definition::ClockProperties {
                    timer_resolution,
                    global_offset,
                    trace_length,
                    realtime_timestamp,
                } => {
                    let longer = copied.replayed.wrapping_sub(copied.measured);
                    let trace_length = trace_length.saturating_add_signed(longer);
                    Definition::ClockProperties {
                        timer_resolution,
                        global_offset,
                        trace_length,
                        realtime_timestamp,
                    }
                }
                other => other,
            };
            archive.define(definition).map_err(refused)?;
        }
        archive.finish().map_err(refused)
    }

    /// Copies other files of the archive, as far as they hold for the predicted run.
    fn copy_others(&self, copied: &Copied) -> Result<(), Error> {
        let directory = self.source.directory();
        let mut all: Vec<(PathBuf, PathBuf)> =
            OF_RECORDER.map(|name| (directory.join(name), self.directory.join(name))).into();
        // Times of all iterations are those that were measured.
        if copied.moved == 0 {
            let table = |anchor: &Path| anchor.with_extension(ITERATIONS_TABLE);
            all.push((table(self.source.anchor_path()), table(&anchor_path(self.source, self.directory))));
        }
        for (from, to) in all.iter().filter(|(from, _)| from.is_file()) {
            let bytes = fs::read(from)
                .map_err(|cause| Error::new(format!("{}: cannot read the file: {cause}", from.display())))?;
            write_file(to, &bytes, OPTION)?;
        }
        Ok(())
    }
}

/// A file, if there is one.
fn existing(file: Result<otf2::FileBytes, otf2::Error>) -> Result<Option<otf2::FileBytes>, Error> {
    match file {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
