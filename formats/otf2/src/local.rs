//! Local definitions: id mappings and clock offsets, which make a location's references and times global.

use crate::Error;
use crate::clock::{ClockCorrection, ClockOffset};
use crate::definition::Definition;
use crate::definition_cursor::DefinitionCursor;
use crate::mappings::{MappingType, Mappings};

/// Id mappings and clock correction of one location. The default maps everything to itself.
#[derive(Clone, Debug, Default)]
pub struct LocalDefinitions {
    /// From local references to global ones.
    pub mappings: Mappings,
    /// From local times to global ones.
    pub clock: ClockCorrection,
}

impl LocalDefinitions {
    /// Collects mappings and clock offsets from a local definition file. Mapping tables of unknown kind,
    /// second tables of a kind and all other definitions are skipped.
    ///
    /// # Errors
    /// If the file is corrupt or its clock offsets do not increase in time.
    pub fn collect(mut cursor: DefinitionCursor<'_>) -> Result<Self, Error> {
        let mut mappings = Mappings::default();
        let mut offsets: Vec<ClockOffset> = Vec::new();
        while let Some(record) = cursor.next()? {
            match record.definition {
                Definition::MappingTable { mapping_type, id_map } => {
                    if let Some(kind) = MappingType::from_code(mapping_type) {
                        mappings.insert(kind, id_map);
                    }
                }
                Definition::ClockOffset { time, offset, .. } => {
                    if let Some(last) = offsets.last().filter(|last| last.time >= time.0) {
                        let message =
                            format!("ClockOffset record: time {}, expected one after {}", time.0, last.time);
                        return Err(cursor.error(record.offset, message));
                    }
                    offsets.push(ClockOffset { time: time.0, offset });
                }
                _ => {}
            }
        }
        let clock = ClockCorrection::new(&offsets).unwrap_or_default();
        Ok(LocalDefinitions { mappings, clock })
    }
}
