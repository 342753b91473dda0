//! Archives with a defect: made from bytes, from definitions, from a script.

use std::fs;
use std::path::Path;

use model::{GroupType, LocationGroupType, LocationType, Paradigm, RegionRole};
use otf2::{
    Anchor, ArchiveWriter, Attributes, Definition, DefinitionCursor, Event, EventCursor, MappingType,
    UNDEFINED,
};

use crate::support::parse::Case;
use crate::support::{SMALL, write};

/// The bytes of a small archive; the location files are those of rank 1.
#[derive(Clone)]
pub(super) struct Files {
    pub(super) anchor: Vec<u8>,
    pub(super) definitions: Vec<u8>,
    pub(super) local: Vec<u8>,
    pub(super) events: Vec<u8>,
}

/// A chunk size larger than every file here.
const CHUNK: u64 = 1 << 20;

impl Files {
    /// Offset of the first definition of this name.
    pub(super) fn definition(&self, name: &str) -> usize {
        offset(DefinitionCursor::global(&self.definitions, Path::new(""), CHUNK), name)
    }

    /// Offset of the first local definition of this name.
    pub(super) fn local_definition(&self, name: &str) -> usize {
        offset(DefinitionCursor::local(&self.local, Path::new(""), CHUNK), name)
    }

    /// Offset of the mapping table of this kind.
    pub(super) fn mapping(&self, kind: MappingType) -> usize {
        let mut cursor = DefinitionCursor::local(&self.local, Path::new(""), CHUNK);
        loop {
            let record = cursor.next().unwrap().unwrap_or_else(|| panic!("no table of {kind:?}"));
            match record.definition {
                Definition::MappingTable { mapping_type, .. } if mapping_type == kind.code() => {
                    return record.offset as usize;
                }
                _ => {}
            }
        }
    }

    /// Offset of the first event of this name.
    pub(super) fn event(&self, name: &str) -> usize {
        event(&self.events, name)
    }
}

fn event(file: &[u8], name: &str) -> usize {
    let found = events(file, CHUNK).into_iter().find(|event| event.0 == name);
    found.unwrap_or_else(|| panic!("no {name}")).1
}

/// Names and offsets of all events.
pub(super) fn events(file: &[u8], chunk: u64) -> Vec<(&'static str, usize)> {
    let mut cursor = EventCursor::new(file, Path::new(""), chunk);
    let mut events = Vec::new();
    while let Some(record) = cursor.next().unwrap() {
        events.push((record.event.name(), record.offset as usize));
    }
    events
}

fn offset(mut cursor: DefinitionCursor<'_>, name: &str) -> usize {
    loop {
        let record = cursor.next().unwrap().unwrap_or_else(|| panic!("no {name}"));
        if record.definition.name() == name {
            return record.offset as usize;
        }
    }
}

/// Replaces `count` bytes of a file.
pub(super) fn splice(file: &mut Vec<u8>, at: usize, count: usize, bytes: &[u8]) {
    file.splice(at..at + count, bytes.iter().copied());
}

/// Overwrites bytes of a file.
pub(super) fn patch(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    splice(file, at, bytes.len(), bytes);
}

/// Writes the small archive.
pub(super) fn small(directory: &Path) {
    script(directory, SMALL);
}

/// Writes the small archive with changed bytes.
pub(super) fn bytes(directory: &Path, change: fn(&mut Files)) {
    small(directory);
    let paths =
        ["traces.otf2", "traces.def", "traces/1.def", "traces/1.evt"].map(|name| directory.join(name));
    let [anchor, definitions, local, events] = paths.each_ref().map(|path| fs::read(path).unwrap());
    let mut files = Files { anchor, definitions, local, events };
    change(&mut files);
    for (path, bytes) in paths.iter().zip([files.anchor, files.definitions, files.local, files.events]) {
        fs::write(path, bytes).unwrap();
    }
}

/// A file of an archive.
#[derive(Clone, Copy)]
pub(super) enum ArchiveFile {
    Definitions,
    Local,
    Events,
}

/// A script in which rank 1 has every kind of event that the analysis reads.
const EVERY_EVENT: &str = "
program prog
context work work
rank 0
  0 > MPI_Init ; 9 <
rank 1
  0 > MPI_Init ; 9 < ; 10 > MPI_Send ; send 0 ; 11 < ; 12 > MPI_Recv ; recv 0 ; 13 <
  14 > MPI_Isend ; isend 0 req 1 ; 15 < ; 16 > MPI_Irecv ; post 2 ; 17 < ; 18 > MPI_Irecv ; post 3 ; 19 <
  20 > MPI_Wait ; sent 1 ; 21 < ; 22 > MPI_Test ; test 2 ; 23 < ; 24 > MPI_Wait ; irecv 0 req 2 ; 25 <
  26 > MPI_Cancel ; cancel 3 ; 27 < ; 30 > MPI_Mprobe ; probe 0 msg 4 ; 31 < ; 32 > MPI_Mrecv ; mrecv 4 ; 33 <
  34 > MPI_Mprobe ; probe 0 msg 5 ; 35 < ; 36 > MPI_Imrecv ; mpost 5 req 6 ; 37 < ; 38 > MPI_Wait ; imrecv 6 ; 39 <
  40 > MPI_Barrier ; begin ; 41 end barrier ; 42 < ; 43 > MPI_Ibarrier ; istart 7 ; 44 < ; 45 > MPI_Wait ; idone barrier req 7 ; 46 <
  50 fork ; team ; 51 > !$omp parallel ; 52 < ; team-end ; join ; 60 ctx> work ; 61 sample work ; 62 ctx< work
  70 > main ; metric 1 ; 71 flush 72 ; 73 < ; 80 on
";

/// Writes an archive in which the first record of a kind has a length of 0.
pub(super) fn hollow(directory: &Path, file: ArchiveFile, name: &str) {
    match file {
        ArchiveFile::Definitions => definitions(directory, every_kind),
        ArchiveFile::Local => small(directory),
        ArchiveFile::Events => script(directory, EVERY_EVENT),
    }
    let path = directory.join(match file {
        ArchiveFile::Definitions => "traces.def",
        ArchiveFile::Local => "traces/1.def",
        ArchiveFile::Events => "traces/1.evt",
    });
    let mut bytes = fs::read(&path).unwrap();
    let at = match file {
        ArchiveFile::Definitions => offset(DefinitionCursor::global(&bytes, &path, CHUNK), name),
        ArchiveFile::Local => offset(DefinitionCursor::local(&bytes, &path, CHUNK), name),
        ArchiveFile::Events => event(&bytes, name),
    };
    patch(&mut bytes, at + 1, &[0]);
    fs::write(&path, bytes).unwrap();
}

/// Writes an archive in which the first event of a kind, which is a number, has nine bytes.
pub(super) fn oversized(directory: &Path, name: &str) {
    script(directory, EVERY_EVENT);
    let path = directory.join("traces/1.evt");
    let mut bytes = fs::read(&path).unwrap();
    let at = event(&bytes, name);
    splice(&mut bytes, at + 1, 1, &[9]);
    fs::write(&path, bytes).unwrap();
}

/// Adds the missing kinds of definitions.
fn every_kind(definitions: &mut Vec<Definition<'static>>) {
    let coordinates = [0].as_slice().into();
    definitions.extend([
        Definition::InterComm {
            reference: 1,
            name: 1,
            group_a: 1,
            group_b: 1,
            common_communicator: 0,
            flags: 0,
        },
        Definition::SourceCodeLocation { reference: 0, file: 1, line_number: 1 },
        context(0, 0, 0, UNDEFINED),
        Definition::CartDimension { reference: 0, name: 1, size: 2, cart_periodicity: 0 },
        topology(0, 0, &[0]),
        Definition::CartCoordinate { cart_topology: 0, rank: 0, coordinates },
    ]);
}

/// Writes the archive of a script.
pub(super) fn script(directory: &Path, script: &str) {
    let case = Case::parse(script).unwrap_or_else(|problem| panic!("{problem}: {script}"));
    write::write(&case.trace, directory);
}

/// Writes an archive of two processes without events, with changed definitions.
pub(super) fn definitions(directory: &Path, change: fn(&mut Vec<Definition<'static>>)) {
    let mut definitions = two_processes();
    change(&mut definitions);
    let archive = archive(directory, write::anchor(false), &definitions);
    archive.finish().unwrap();
}

/// Creates an archive; the locations have empty local definitions.
fn archive(directory: &Path, anchor: Anchor, definitions: &[Definition<'_>]) -> ArchiveWriter {
    let mut archive = ArchiveWriter::create(directory.join("traces.otf2"), anchor).unwrap();
    for &definition in definitions {
        archive.define(definition).unwrap();
        if let Definition::Location { reference, .. } = definition
            && !directory.join(format!("traces/{reference}.def")).exists()
        {
            archive.local_definitions(reference).unwrap().finish().unwrap();
        }
    }
    archive
}

/// Writes an archive whose event file of rank 1 has two chunks, and changes that file.
pub(super) fn two_chunks(directory: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let anchor = Anchor { event_chunk_size: SMALL_CHUNK as u64, ..write::anchor(false) };
    let archive = archive(directory, anchor, &two_processes());
    let mut events = archive.events(1).unwrap();
    for time in 0..26_000 {
        let event = if time % 2 == 0 { Event::Enter { region: 0 } } else { Event::Leave { region: 0 } };
        events.write(time, event, Attributes::EMPTY).unwrap();
    }
    events.finish().unwrap();
    archive.finish().unwrap();
    let path = directory.join("traces/1.evt");
    let mut bytes = fs::read(&path).unwrap();
    assert!((SMALL_CHUNK..2 * SMALL_CHUNK).contains(&bytes.len()), "{} bytes", bytes.len());
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// The smallest chunk size.
pub(super) const SMALL_CHUNK: usize = 256 << 10;

/// The definitions of two processes with `work` and `MPI_COMM_WORLD`.
fn two_processes() -> Vec<Definition<'static>> {
    vec![
        CLOCK,
        Definition::String { reference: 0, string: b"" },
        Definition::String { reference: 1, string: b"work" },
        node(0, UNDEFINED),
        process(0, 0),
        process(1, 0),
        location(0, 0),
        location(1, 1),
        region(0, 1),
        group(0, GroupType::COMM_LOCATIONS, &[0, 1]),
        group(1, GroupType::COMM_GROUP, &[0, 1]),
        comm(0, 1, UNDEFINED),
    ]
}

pub(super) const CLOCK: Definition<'_> = Definition::ClockProperties {
    timer_resolution: 1_000_000_000,
    global_offset: 0,
    trace_length: 100,
    realtime_timestamp: u64::MAX,
};

pub(super) fn node(reference: u32, parent: u32) -> Definition<'static> {
    Definition::SystemTreeNode { reference, name: 1, class_name: 0, parent }
}

pub(super) fn process(reference: u32, system_tree_parent: u32) -> Definition<'static> {
    Definition::LocationGroup {
        reference,
        name: 1,
        location_group_type: LocationGroupType::PROCESS,
        system_tree_parent,
        creating_location_group: UNDEFINED,
    }
}

pub(super) fn location(reference: u64, location_group: u32) -> Definition<'static> {
    let location_type = LocationType::CPU_THREAD;
    Definition::Location { reference, name: 1, location_type, number_of_events: 0, location_group }
}

pub(super) fn region(reference: u32, name: u32) -> Definition<'static> {
    Definition::Region {
        reference,
        name,
        description: 0,
        source_file: 0,
        begin_line_number: 0,
        end_line_number: 0,
        canonical_name: 1,
        region_role: RegionRole::FUNCTION,
        paradigm: Paradigm::COMPILER,
        region_flags: 0,
    }
}

pub(super) fn group(reference: u32, group_type: GroupType, members: &'static [u64]) -> Definition<'static> {
    let (paradigm, members) = (Paradigm::MPI, members.into());
    Definition::Group { reference, name: 1, members, group_type, paradigm, group_flags: 0 }
}

pub(super) fn comm(reference: u32, group: u32, parent: u32) -> Definition<'static> {
    Definition::Comm { reference, name: 1, group, parent, flags: 0 }
}

pub(super) fn context(reference: u32, region: u32, source: u32, parent: u32) -> Definition<'static> {
    Definition::CallingContext { reference, region, source_code_location: source, parent }
}

pub(super) fn topology(reference: u32, communicator: u32, dimensions: &'static [u32]) -> Definition<'static> {
    Definition::CartTopology { reference, name: 1, communicator, cart_dimensions: dimensions.into() }
}
