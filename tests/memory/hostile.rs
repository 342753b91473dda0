//! A hostile archive under construction.

use std::path::Path;

use model::{GroupType, LocationGroupType, LocationType, Paradigm, RegionRole};
use otf2::{Anchor, ArchiveWriter, Attributes, Definition, Event, EventWriter, List, UNDEFINED};

/// Strings of every archive: references 0 to 3.
const STRINGS: [&str; 4] = ["", "MPI", "MPI_Send", "main"];

/// A hostile archive under construction, with one process of one thread at first.
pub(crate) struct Hostile {
    pub(crate) archive: ArchiveWriter,
    pub(crate) locations: u64,
    /// Whether there are event files; otherwise they count as lost.
    pub(crate) has_events: bool,
}

impl Hostile {
    pub(crate) fn new(directory: &Path) -> Hostile {
        let anchor =
            Anchor { event_chunk_size: 1 << 18, definition_chunk_size: 1 << 18, ..Anchor::default() };
        let mut archive = ArchiveWriter::create(directory.join("traces.otf2"), anchor).unwrap();
        archive
            .define(Definition::ClockProperties {
                timer_resolution: 1,
                global_offset: 0,
                trace_length: 9,
                realtime_timestamp: u64::MAX,
            })
            .unwrap();
        for (reference, text) in (0..).zip(STRINGS) {
            archive.define(Definition::String { reference, string: text.as_bytes() }).unwrap();
        }
        let mut hostile = Hostile { archive, locations: 0, has_events: true };
        hostile.define(Definition::SystemTreeNode {
            reference: 0,
            name: 0,
            class_name: 0,
            parent: UNDEFINED,
        });
        hostile.process(0);
        hostile.thread(0);
        hostile
    }

    pub(crate) fn define(&mut self, definition: Definition<'_>) {
        self.archive.define(definition).unwrap();
    }

    pub(crate) fn process(&mut self, reference: u32) {
        self.define(Definition::LocationGroup {
            reference,
            name: 0,
            location_group_type: LocationGroupType::PROCESS,
            system_tree_parent: 0,
            creating_location_group: UNDEFINED,
        });
    }

    pub(crate) fn thread(&mut self, process: u32) {
        self.define(Definition::Location {
            reference: self.locations,
            name: 0,
            location_type: LocationType::CPU_THREAD,
            number_of_events: 0,
            location_group: process,
        });
        self.locations += 1;
    }

    /// Defines a function; reference 0 is MPI_Send where `is_mpi`.
    pub(crate) fn region(&mut self, reference: u32, name: u32, is_mpi: bool) {
        self.define(Definition::Region {
            reference,
            name,
            description: 0,
            source_file: u32::from(is_mpi),
            begin_line_number: 0,
            end_line_number: 0,
            canonical_name: name,
            region_role: if is_mpi { RegionRole::POINT2POINT } else { RegionRole::FUNCTION },
            paradigm: if is_mpi { Paradigm::MPI } else { Paradigm::COMPILER },
            region_flags: 0,
        });
    }

    /// Defines functions of MPI from reference 0 on.
    pub(crate) fn functions<const N: usize>(&mut self, names: [&str; N]) {
        for (reference, name) in (0..).zip(names) {
            let string = 100 + reference;
            self.define(Definition::String { reference: string, string: name.as_bytes() });
            self.region(reference, string, true);
        }
    }

    /// Defines group 0 of MPI's locations and group 1 of their ranks, and communicator 0 of all.
    pub(crate) fn world(&mut self, ranks: u64) {
        let members: Vec<u64> = (0..ranks).collect();
        for (reference, group_type) in (0..).zip([GroupType::COMM_LOCATIONS, GroupType::COMM_GROUP]) {
            self.define(Definition::Group {
                reference,
                name: 0,
                members: List::from(&members[..]),
                group_type,
                paradigm: Paradigm::MPI,
                group_flags: 0,
            });
        }
        self.define(Definition::Comm { reference: 0, name: 0, group: 1, parent: UNDEFINED, flags: 0 });
    }

    /// Writes events of one location, all at one time.
    pub(crate) fn events(&mut self, location: u64, write: impl FnOnce(&mut dyn FnMut(Event<'_>))) {
        self.events_at(location, |write_at| write(&mut |event| write_at(1, event)));
    }

    /// Writes events of one location with their times.
    pub(crate) fn events_at(&mut self, location: u64, write: impl FnOnce(&mut dyn FnMut(u64, Event<'_>))) {
        let mut writer: EventWriter = self.archive.events(location).unwrap();
        write(&mut |time, event| writer.write(time, event, Attributes::EMPTY).unwrap());
        writer.finish().unwrap();
    }

    /// Defines processes of one thread each, up to this number.
    pub(crate) fn processes(&mut self, number: u32) {
        for process in 1..number {
            self.process(process);
            self.thread(process);
        }
    }
}
