//! Files of a short archive: events and local definitions of each location, global definitions, the anchor, and the times of all
//! iterations.

use std::fs;
use std::path::Path;

use details::{Column, Table, Unit, Values};
use model::{Ticks, attributes};
use new_directory::{failed, write_file};
use otf2::{
    Anchor, Archive, ArchiveWriter, Attribute, Definition, EventWriter, MappingType, Mappings, UNDEFINED,
    Value, ValueType,
};
use rustc_hash::FxHashMap;

use super::OPTION;
use super::chosen::Chosen;
use super::copy::{Source, copy};
use crate::copied_archive::{anchor, anchor_path, of_locations};
use crate::error::Error;
use crate::focus::Windows;
use crate::int::{to_u32, to_u64};
use crate::report::{ITERATIONS_TABLE, IterationColumns};
use crate::structure::{IterationTotals, Weight};
use crate::trace::{Location, Trace};

/// A short archive that is written from another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Files<'f> {
    pub(super) source: &'f Archive,
    pub(super) trace: &'f Trace,
    /// Its directory, under the name that it has until it is complete.
    pub(super) directory: &'f Path,
}

/// What was written of a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Copied {
    pub(super) reference: u64,
    pub(super) events: u64,
    pub(super) bytes: u64,
}

crate::wire::wire!(Copied { reference, events, bytes });

impl Files<'_> {
    /// Copies a location; `None` if it has no events.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(super) fn copy(
        &self,
        location: &Location,
        (windows, chosen, times): (&Windows, &Chosen, &[Ticks]),
    ) -> Result<Option<Copied>, Error> {
        let reference = location.reference;
        match self.source.local_definition_file(reference) {
            Ok(local) => write_file(
                &of_locations(self.source, self.directory).join(format!("{reference}.def")),
                &local,
                OPTION,
            )?,
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
        let file = match self.source.event_file(reference) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mappings = self.source.local_definitions(reference)?.mappings;
        let counted = [Attribute {
            attribute: self.local_attribute(&mappings)?,
            // Whole operations are missing, on all members.
            value: Value::new(ValueType::UINT64, 2),
        }];
        let path = of_locations(self.source, self.directory).join(format!("{reference}.evt"));
        let write = |error: otf2::Error| Error::new(format!("{error}; choose another place with --short"));
        let mut out = EventWriter::create(&path, &anchor(self.source)).map_err(write)?;
        let (trace, mappings, counted) = (self.trace, &mappings, &counted);
        let source = Source { trace, mappings, windows, times, chosen, counted };
        copy(self.source.events(&file), source, &mut out).map_err(write)?;
        let events = out.finish().map_err(write)?;
        let bytes = fs::metadata(&path).map_err(|cause| failed(&path, &cause, OPTION))?.len();
        Ok(Some(Copied { reference, events, bytes }))
    }

    /// The reference of the attribute that says that operations are counted, and whether the source defines it.
    fn attribute(&self) -> (u64, bool) {
        let names = &self.trace.definitions.attributes;
        let known = names.iter().position(|name| name == attributes::COUNTED);
        let largest = || (0..names.len()).map(|at| names.reference(at) + 1).max().unwrap_or(0);
        known.map_or_else(|| (largest(), false), |at| (names.reference(at), true))
    }

    /// The reference of that attribute at a location.
    fn local_attribute(&self, mappings: &Mappings) -> Result<u32, Error> {
        let (global, _) = self.attribute();
        let global = u32::try_from(global).unwrap_or(UNDEFINED);
        let is_it = |local: &u32| mappings.global(MappingType::Attribute, *local) == global;
        let mut candidates = [global].into_iter().chain(0..=u32::from(u16::MAX));
        candidates.find(is_it).ok_or_else(|| {
            Error::new("--short: a location has no reference for the attribute that says that operations are counted")
        })
    }

    /// Writes definitions and anchor, once all locations are written.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(super) fn finish(&self, copied: &[Copied], properties: Vec<(String, String)>) -> Result<(), Error> {
        let write = |error: otf2::Error| Error::new(format!("{error}; choose another place with --short"));
        let events: FxHashMap<u64, u64> = copied.iter().map(|it| (it.reference, it.events)).collect();
        let replaced = |name: &str| properties.iter().any(|(known, _)| known == name);
        let kept = self.source.anchor().properties.iter().filter(|(name, _)| !replaced(name));
        let all = kept.cloned().chain(properties.clone()).collect();
        // Another trace than the source, the same for the same windows.
        let trace_id = properties
            .iter()
            .flat_map(|(_, value)| value.bytes())
            .fold(self.source.anchor().trace_id, |id, byte| {
                (id ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        let anchor = Anchor { properties: all, trace_id, ..anchor(self.source) };
        let mut archive =
            ArchiveWriter::complete(anchor_path(self.source, self.directory), anchor).map_err(write)?;
        let file = self.source.definition_file()?;
        let mut records = self.source.definition_records(&file);
        let mut strings = 0;
        while let Some(record) = records.next()? {
            let definition = match record.definition {
                Definition::Location { reference, name, location_type, location_group, .. } => {
                    let number_of_events = events.get(&reference).copied().unwrap_or(0);
                    Definition::Location { reference, name, location_type, number_of_events, location_group }
                }
                Definition::String { reference, .. } => {
                    strings = strings.max(reference.saturating_add(1));
                    record.definition
                }
                other => other,
            };
            archive.define(definition).map_err(write)?;
        }
        if let (reference, false) = self.attribute() {
            let string = attributes::COUNTED.as_bytes();
            archive.define(Definition::String { reference: strings, string }).map_err(write)?;
            let attribute = Definition::Attribute {
                reference: to_u32(crate::int::to_usize(reference)),
                name: strings,
                value_type: ValueType::UINT64,
                description: UNDEFINED,
            };
            archive.define(attribute).map_err(write)?;
        }
        archive.finish().map_err(write)
    }

    /// Writes the times of all iterations; `weights` has those that are kept by place.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn write_iterations(&self, all: &[IterationTotals], weights: &[Weight]) -> Result<(), Error> {
        let path = anchor_path(self.source, self.directory).with_extension(ITERATIONS_TABLE);
        let origin = self.trace.definitions.clock.global_offset;
        let mut of = vec![0; all.len()];
        weights.iter().for_each(|&(at, weight)| of[at] = weight);
        let numbers = |name: &str, unit, of: &dyn Fn(usize, &IterationTotals) -> u64| {
            let values = all.iter().enumerate().map(|(at, one)| of(at, one)).collect();
            Column::new(name, Some(unit), Values::U64(values)).delta()
        };
        let unsigned = |ticks: i64| ticks.max(0).cast_unsigned();
        let sum = |ticks: i128| u64::try_from(ticks.max(0)).unwrap_or(u64::MAX);
        let [first, count, elapsed, time, mpi, recorded] = IterationColumns::NAMES;
        let table = Table {
            name: ITERATIONS_TABLE.into(),
            columns: vec![
                numbers(first, Unit::Count, &|at, _| to_u64(at) + 1),
                numbers(count, Unit::Count, &|_, _| 1),
                numbers(IterationColumns::BEGIN, Unit::Tick, &|_, one| {
                    origin.saturating_add_signed(one.last_begin)
                }),
                numbers(elapsed, Unit::Tick, &|_, one| unsigned(one.elapsed())),
                numbers(time, Unit::Tick, &|_, one| sum(one.time.sum)),
                numbers(mpi, Unit::Tick, &|_, one| sum(one.mpi.sum)),
                Column::new(
                    recorded,
                    None,
                    Values::U8(of.iter().map(|&weight| u8::from(weight > 0)).collect()),
                ),
                numbers(IterationColumns::WEIGHT, Unit::Count, &|at, _| of[at]),
            ],
        };
        let bytes =
            details::write(&table).map_err(|cause| Error::new(format!("{}: {cause}", path.display())))?;
        Ok(write_file(&path, &bytes, OPTION)?)
    }
}
