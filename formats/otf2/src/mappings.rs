//! Id mappings: from a location's local references to global ones (`FORMAT.md`, "Local definitions").
//!
//! Each location numbers its regions, communicators, … on its own while it records. A mapping table holds the
//! global reference of each local one. Without a table, or if it lacks a number, the number is global
//! already.

use crate::bytes::Bytes;
use crate::field::{Body, Field};
use crate::list::List;
use std::collections::HashMap;

/// The kind of definition that a mapping table maps (OTF2, `OTF2_MappingType`).
#[allow(missing_docs)] // Each is the kind of definition of that name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MappingType {
    String,
    Attribute,
    Location,
    Region,
    Group,
    Metric,
    Comm,
    Parameter,
    RmaWin,
    SourceCodeLocation,
    CallingContext,
    InterruptGenerator,
    IoFile,
    IoHandle,
    LocationGroup,
}

impl MappingType {
    /// All types, in the order of their codes.
    pub const ALL: [MappingType; 15] = [
        MappingType::String,
        MappingType::Attribute,
        MappingType::Location,
        MappingType::Region,
        MappingType::Group,
        MappingType::Metric,
        MappingType::Comm,
        MappingType::Parameter,
        MappingType::RmaWin,
        MappingType::SourceCodeLocation,
        MappingType::CallingContext,
        MappingType::InterruptGenerator,
        MappingType::IoFile,
        MappingType::IoHandle,
        MappingType::LocationGroup,
    ];

    /// The type with this code on disk.
    pub fn from_code(code: u8) -> Option<Self> {
        MappingType::ALL.get(usize::from(code)).copied()
    }

    /// The code on disk.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// The content of a mapping table as on disk.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum IdMap<'a> {
    /// Element *i* is the global reference of local reference *i*.
    Dense(List<'a, u64>),
    /// Pairs, usually by increasing local reference; of several with one local reference the last counts.
    Sparse(List<'a, IdPair>),
}

/// A pair of a sparse mapping table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IdPair {
    /// Reference in the location's event file.
    pub local: u64,
    /// Reference in the global definitions; all ones if undefined.
    pub global: u64,
}

impl IdMap<'_> {
    /// Number of pairs.
    pub fn len(&self) -> usize {
        match self {
            IdMap::Dense(globals) => globals.len(),
            IdMap::Sparse(pairs) => pairs.len(),
        }
    }

    /// Whether there are no pairs. Such a table is never written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> Field<'a> for IdMap<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Option<Self> {
        let length = bytes.compressed_u64()?;
        match bytes.u8()? {
            0 => List::read_elements(bytes, length).map(IdMap::Dense),
            1 => List::read_elements(bytes, length).map(IdMap::Sparse),
            _ => None,
        }
    }

    fn write(&self, body: &mut Body) {
        body.compressed_u64(self.len() as u64);
        match self {
            IdMap::Dense(globals) => {
                body.u8(0);
                globals.iter().for_each(|global| global.write(body));
            }
            IdMap::Sparse(pairs) => {
                body.u8(1);
                pairs.iter().for_each(|pair| pair.write(body));
            }
        }
    }
}

impl Field<'_> for IdPair {
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        Some(IdPair { local: u64::read(bytes)?, global: u64::read(bytes)? })
    }

    fn write(&self, body: &mut Body) {
        self.local.write(body);
        self.global.write(body);
    }
}

/// All mapping tables of a location. The default is the identity.
#[derive(Clone, Debug, Default)]
pub struct Mappings {
    /// Tables by code of the type; empty if the location has none.
    tables: Vec<MappingTable>,
}

#[derive(Clone, Debug, Default)]
enum MappingTable {
    #[default]
    Identity,
    Dense(Box<[u64]>),
    Sparse(HashMap<u64, u64>),
}

impl Mappings {
    /// Adds a table and returns whether it is the first of its type. A second one is ignored.
    pub fn insert(&mut self, kind: MappingType, map: IdMap<'_>) -> bool {
        if self.tables.is_empty() {
            self.tables.resize_with(MappingType::ALL.len(), MappingTable::default);
        }
        let Some(table) = self.tables.get_mut(kind as usize) else { return false };
        if !matches!(table, MappingTable::Identity) {
            return false;
        }
        *table = match map {
            IdMap::Dense(globals) => MappingTable::Dense(globals.iter().collect()),
            IdMap::Sparse(pairs) => MappingTable::from_pairs(pairs),
        };
        true
    }

    /// The global reference of a 32-bit local one.
    #[inline]
    pub fn global(&self, kind: MappingType, local: u32) -> u32 {
        // "Undefined" is all ones in 64 bits; truncation makes it all ones in 32.
        #[allow(clippy::cast_possible_truncation)]
        let global = self.global64(kind, local.into()) as u32;
        global
    }

    /// The global reference of a 64-bit local one; only locations have these.
    #[inline]
    pub fn global64(&self, kind: MappingType, local: u64) -> u64 {
        match self.tables.get(kind as usize) {
            None | Some(MappingTable::Identity) => local,
            Some(MappingTable::Dense(globals)) => {
                usize::try_from(local).ok().and_then(|at| globals.get(at)).copied().unwrap_or(local)
            }
            Some(MappingTable::Sparse(globals)) => globals.get(&local).copied().unwrap_or(local),
        }
    }

    /// Whether references of this type are global already.
    pub fn is_identity(&self, kind: MappingType) -> bool {
        matches!(self.tables.get(kind as usize), None | Some(MappingTable::Identity))
    }
}

impl MappingTable {
    /// Converts a sparse table to an array unless that takes much more memory than the pairs.
    fn from_pairs(pairs: List<'_, IdPair>) -> Self {
        let largest = pairs.iter().map(|pair| pair.local).max().unwrap_or(0);
        if largest >= 4 * pairs.len() as u64 + 64 {
            return MappingTable::Sparse(pairs.iter().map(|pair| (pair.local, pair.global)).collect());
        }
        let mut globals: Vec<u64> = (0..=largest).collect();
        for pair in pairs {
            if let Some(global) = usize::try_from(pair.local).ok().and_then(|at| globals.get_mut(at)) {
                *global = pair.global;
            }
        }
        MappingTable::Dense(globals.into_boxed_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    fn regions(map: IdMap<'_>) -> Mappings {
        let mut mappings = Mappings::default();
        assert!(mappings.insert(MappingType::Region, map));
        mappings
    }

    fn pairs(pairs: &[(u64, u64)]) -> Vec<IdPair> {
        pairs.iter().map(|&(local, global)| IdPair { local, global }).collect()
    }

    #[test]
    fn number_outside_table_is_global() {
        let dense = regions(IdMap::Dense([7, u64::MAX].as_slice().into()));
        assert_eq!([0, 1, 2].map(|local| dense.global(MappingType::Region, local)), [7, u32::MAX, 2]);
        assert_eq!(dense.global(MappingType::Comm, 0), 0);
        assert_eq!(
            [MappingType::Region, MappingType::Comm].map(|kind| dense.is_identity(kind)),
            [false, true]
        );
    }

    #[test]
    fn sparse_table_is_found_in_both_forms() {
        let near = pairs(&[(5, 0), (2, 9), (5, 1)]);
        let far = pairs(&[(u64::from(u32::MAX), 3), (5, 1)]);
        let (near, far) = (near.as_slice(), far.as_slice());
        let near = regions(IdMap::Sparse(near.into()));
        let far = regions(IdMap::Sparse(far.into()));
        assert_eq!([0, 2, 5, 6].map(|local| near.global(MappingType::Region, local)), [0, 9, 1, 6]);
        assert_eq!([0, 5, u32::MAX].map(|local| far.global(MappingType::Region, local)), [0, 1, 3]);
    }

    #[test]
    fn code_is_the_position_among_all_kinds() {
        for (code, kind) in (0..).zip(MappingType::ALL) {
            assert_eq!((kind.code(), MappingType::from_code(code)), (code, Some(kind)));
        }
        assert_eq!(MappingType::from_code(15), None);
    }

    #[test]
    fn unknown_event_stays_as_it_is() {
        let mappings = regions(IdMap::Dense([7].as_slice().into()));
        let unknown = Event::Unknown { id: 200, body: &[0] };
        assert_eq!(unknown.map(&mappings), unknown);
        assert_eq!(Event::Enter { region: 0 }.map(&mappings), Event::Enter { region: 7 });
    }

    #[test]
    fn first_table_of_a_kind_counts() {
        let mut mappings = regions(IdMap::Dense([4].as_slice().into()));
        assert!(!mappings.insert(MappingType::Region, IdMap::Dense([5].as_slice().into())));
        assert_eq!(mappings.global(MappingType::Region, 0), 4);
    }
}
