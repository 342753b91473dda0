//! Traces made with our own writer: what all of them have in common. What ranks do is in `patterns.rs`.

use std::path::Path;

use model::{GroupType, LocationGroupType, LocationType, Paradigm, RegionRole};
use otf2::{Anchor, ArchiveWriter, Attributes, Definition, Event, EventWriter, List};

use crate::patterns::Pattern;

/// Regions of the trace by number: name, source file, role, paradigm.
const REGIONS: &[(&str, &str, RegionRole, Paradigm)] = &[
    ("main", "program.c", RegionRole::FUNCTION, Paradigm::COMPILER),
    ("MPI_Init", "MPI", RegionRole::FUNCTION, Paradigm::MPI),
    ("MPI_Finalize", "MPI", RegionRole::FUNCTION, Paradigm::MPI),
    ("work", "program.c", RegionRole::FUNCTION, Paradigm::COMPILER),
    ("MPI_Irecv", "MPI", RegionRole::POINT2POINT, Paradigm::MPI),
    ("MPI_Isend", "MPI", RegionRole::POINT2POINT, Paradigm::MPI),
    ("MPI_Waitall", "MPI", RegionRole::POINT2POINT, Paradigm::MPI),
    ("MPI_Allreduce", "MPI", RegionRole::COLL_ALL2ALL, Paradigm::MPI),
    ("MPI_Send", "MPI", RegionRole::POINT2POINT, Paradigm::MPI),
    ("MPI_Recv", "MPI", RegionRole::POINT2POINT, Paradigm::MPI),
];
const MAIN: u32 = 0;
const INIT: u32 = 1;
const FINALIZE: u32 = 2;
pub(crate) const WORK: u32 = 3;
pub(crate) const IRECV: u32 = 4;
pub(crate) const ISEND: u32 = 5;
pub(crate) const WAITALL: u32 = 6;
pub(crate) const ALLREDUCE: u32 = 7;
pub(crate) const SEND: u32 = 8;
pub(crate) const RECV: u32 = 9;

/// What was written.
#[derive(Clone, Copy, Default)]
pub(crate) struct Written {
    pub(crate) events: u64,
    pub(crate) messages: u64,
}

/// Writes the trace of so many ranks with about so many events.
pub(crate) fn generate(
    experiment: &Path,
    pattern: Pattern,
    ranks: u64,
    wanted: u64,
) -> Result<Written, otf2::Error> {
    let mut archive = ArchiveWriter::create(experiment.join("traces.otf2"), Anchor::default())?;
    let mut texts: Vec<String> = ["", "machine", "node", "MPI_COMM_WORLD"].map(String::from).to_vec();
    let first_region = texts.len() as u32;
    texts.extend(REGIONS.iter().map(|region| region.0.to_owned()));
    texts.extend(["program.c", "MPI"].map(String::from));
    let file = |name: &str| texts.iter().position(|text| text == name).unwrap_or(0) as u32;
    archive.define(Definition::ClockProperties {
        timer_resolution: 1_000_000_000,
        global_offset: 0,
        trace_length: wanted * 1000,
        realtime_timestamp: u64::MAX,
    })?;
    for (reference, text) in texts.iter().enumerate() {
        archive.define(Definition::String { reference: reference as u32, string: text.as_bytes() })?;
    }
    let none = otf2::UNDEFINED;
    archive.define(Definition::SystemTreeNode { reference: 0, name: 1, class_name: 1, parent: none })?;
    for rank in 0..ranks {
        archive.define(Definition::LocationGroup {
            reference: rank as u32,
            name: 0,
            location_group_type: LocationGroupType::PROCESS,
            system_tree_parent: 0,
            creating_location_group: none,
        })?;
        archive.define(Definition::Location {
            reference: rank,
            name: 0,
            location_type: LocationType::CPU_THREAD,
            number_of_events: 0,
            location_group: rank as u32,
        })?;
    }
    for (reference, region) in REGIONS.iter().enumerate() {
        let name = first_region + reference as u32;
        archive.define(Definition::Region {
            reference: reference as u32,
            name,
            description: 0,
            source_file: file(region.1),
            begin_line_number: 0,
            end_line_number: 0,
            canonical_name: name,
            region_role: region.2,
            paradigm: region.3,
            region_flags: 0,
        })?;
    }
    let members: Vec<u64> = (0..ranks).collect();
    for (reference, group_type) in [GroupType::COMM_LOCATIONS, GroupType::COMM_GROUP].into_iter().enumerate()
    {
        archive.define(Definition::Group {
            reference: reference as u32,
            name: 0,
            members: List::from(&members[..]),
            group_type,
            paradigm: Paradigm::MPI,
            group_flags: 0,
        })?;
    }
    archive.define(Definition::Comm { reference: 0, name: 3, group: 1, parent: none, flags: 0 })?;
    let mut written = Written::default();
    for rank in 0..ranks {
        let mut location = Location { events: archive.events(rank)?, time: 1000 + rank * 7 };
        location.event(0, Event::Enter { region: MAIN })?;
        location.call(INIT, &[])?;
        written.messages += pattern.run(&mut location, rank as u32, ranks as u32, wanted)?;
        location.call(FINALIZE, &[])?;
        location.event(10, Event::Leave { region: MAIN })?;
        written.events += location.events.finish()?;
    }
    archive.finish()?;
    Ok(written)
}

/// The events of one rank while they are written.
pub(crate) struct Location {
    events: EventWriter,
    time: u64,
}

impl Location {
    /// An event so many ticks after the one before.
    pub(crate) fn event(&mut self, ticks: u64, event: Event<'_>) -> Result<(), otf2::Error> {
        self.time += ticks;
        self.events.write(self.time, event, Attributes::EMPTY)
    }

    /// An event at a time, or as soon as possible.
    pub(crate) fn at(&mut self, time: u64, event: Event<'_>) -> Result<(), otf2::Error> {
        self.time = self.time.max(time);
        self.events.write(self.time, event, Attributes::EMPTY)
    }

    /// A call with events inside.
    pub(crate) fn call(&mut self, region: u32, inside: &[Event<'_>]) -> Result<(), otf2::Error> {
        self.event(90, Event::Enter { region })?;
        for &event in inside {
            self.event(40, event)?;
        }
        self.event(60, Event::Leave { region })
    }
}
