//! Archives for faults: of any size, depth or number of locations, written without a script.

use std::path::Path;

use model::{CollectiveOp, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole};
use otf2::{ArchiveWriter, Attributes, Definition, Event, EventWriter, ROOT_NONE, UNDEFINED};

use crate::support::write::anchor;

/// Regions of these archives by reference; the rest is `filler`.
const REGIONS: [(&str, RegionRole, Paradigm); 7] = [
    ("main", RegionRole::FUNCTION, Paradigm::COMPILER),
    ("MPI_Init", RegionRole::FUNCTION, Paradigm::MPI),
    ("MPI_Finalize", RegionRole::FUNCTION, Paradigm::MPI),
    ("MPI_Send", RegionRole::POINT2POINT, Paradigm::MPI),
    ("MPI_Recv", RegionRole::POINT2POINT, Paradigm::MPI),
    ("MPI_Barrier", RegionRole::BARRIER, Paradigm::MPI),
    ("recurse", RegionRole::FUNCTION, Paradigm::COMPILER),
];
pub(super) const MAIN: u32 = 0;
pub(super) const INIT: u32 = 1;
pub(super) const FINALIZE: u32 = 2;
pub(super) const SEND: u32 = 3;
pub(super) const RECV: u32 = 4;
pub(super) const BARRIER: u32 = 5;
pub(super) const RECURSE: u32 = 6;

/// Numbers of definitions in an archive.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) processes: u32,
    /// Threads of each process.
    pub(super) threads: u32,
    /// Regions, the named ones included.
    pub(super) regions: u32,
}

impl Size {
    pub(super) fn processes(processes: u32) -> Size {
        Size { processes, threads: 1, regions: REGIONS.len() as u32 }
    }
}

/// Reference of a location.
fn location(rank: u32, thread: u32) -> u64 {
    u64::from(thread) << 32 | u64::from(rank)
}

/// Writes the archive `directory/traces.otf2`; `events` writes the events of each process's first thread.
pub(super) fn archive(directory: &Path, size: Size, mut events: impl FnMut(u32, &mut Events)) {
    let mut archive = ArchiveWriter::create(directory.join("traces.otf2"), anchor(false)).unwrap();
    define(&mut archive, size);
    for rank in 0..size.processes {
        let mut of_rank = Events::new(&archive, rank);
        events(rank, &mut of_rank);
        of_rank.finish();
    }
    archive.finish().unwrap();
}

/// The definitions of such an archive.
pub(super) fn define(archive: &mut ArchiveWriter, size: Size) {
    let name =
        |at: u32| REGIONS.get(at as usize).map_or(format!("filler {at}"), |region| region.0.to_owned());
    let names: Vec<String> = (0..size.regions).map(name).collect();
    let mut define = |definition| archive.define(definition).unwrap();
    define(Definition::ClockProperties {
        timer_resolution: 1_000_000_000,
        global_offset: 0,
        trace_length: 1 << 40,
        realtime_timestamp: u64::MAX,
    });
    for (reference, name) in (0..).zip(&names) {
        define(Definition::String { reference, string: name.as_bytes() });
    }
    define(Definition::SystemTreeNode { reference: 0, name: 0, class_name: 0, parent: UNDEFINED });
    for rank in 0..size.processes {
        define(Definition::LocationGroup {
            reference: rank,
            name: 0,
            location_group_type: LocationGroupType::PROCESS,
            system_tree_parent: 0,
            creating_location_group: UNDEFINED,
        });
        for thread in 0..size.threads {
            define(Definition::Location {
                reference: location(rank, thread),
                name: 0,
                location_type: LocationType::CPU_THREAD,
                number_of_events: 0,
                location_group: rank,
            });
        }
    }
    for reference in 0..size.regions {
        let &(_, region_role, paradigm) = REGIONS.get(reference as usize).unwrap_or(&REGIONS[0]);
        define(Definition::Region {
            reference,
            name: reference,
            description: UNDEFINED,
            source_file: UNDEFINED,
            begin_line_number: 0,
            end_line_number: 0,
            canonical_name: reference,
            region_role,
            paradigm,
            region_flags: 0,
        });
    }
    let members: Vec<u64> = (0..size.processes.into()).collect();
    for (reference, group_type) in (0..).zip([GroupType::COMM_LOCATIONS, GroupType::COMM_GROUP]) {
        let (members, paradigm) = (members.as_slice().into(), Paradigm::MPI);
        define(Definition::Group { reference, name: 0, members, group_type, paradigm, group_flags: 0 });
    }
    define(Definition::Comm { reference: 0, name: 0, group: 1, parent: UNDEFINED, flags: 0 });
}

/// Writer of the events of a location, each a hundred ticks after the one before.
pub(super) struct Events {
    writer: EventWriter,
    time: u64,
}

impl Events {
    /// Creates the events of a process's first thread; each process starts at another time.
    pub(super) fn new(archive: &ArchiveWriter, rank: u32) -> Events {
        Events { writer: archive.events(location(rank, 0)).unwrap(), time: rank.into() }
    }

    pub(super) fn finish(self) {
        self.writer.finish().unwrap();
    }

    pub(super) fn add(&mut self, event: Event<'_>) {
        self.time += 100;
        self.writer.write(self.time, event, Attributes::EMPTY).unwrap();
    }

    pub(super) fn enter(&mut self, region: u32) {
        self.add(Event::Enter { region });
    }

    pub(super) fn leave(&mut self, region: u32) {
        self.add(Event::Leave { region });
    }

    pub(super) fn call(&mut self, region: u32, inside: &[Event<'_>]) {
        self.enter(region);
        inside.iter().for_each(|&event| self.add(event));
        self.leave(region);
    }

    pub(super) fn barrier(&mut self) {
        let collective_op = CollectiveOp::BARRIER;
        let end = Event::MpiCollectiveEnd {
            collective_op,
            communicator: 0,
            root: ROOT_NONE,
            size_sent: 0,
            size_received: 0,
        };
        self.call(BARRIER, &[Event::MpiCollectiveBegin {}, end]);
    }

    /// Writes a program around the events that `inside` writes.
    pub(super) fn program(&mut self, inside: impl FnOnce(&mut Events)) {
        self.enter(MAIN);
        self.call(INIT, &[]);
        inside(self);
        self.call(FINALIZE, &[]);
        self.leave(MAIN);
    }

    /// Writes `depth` nested calls of `regions` in turn, with `inside` in the innermost.
    pub(super) fn nest(&mut self, depth: u32, regions: &[u32], inside: impl FnOnce(&mut Events)) {
        let of = |level: u32| regions[level as usize % regions.len()];
        (0..depth).for_each(|level| self.enter(of(level)));
        inside(self);
        (0..depth).rev().for_each(|level| self.leave(of(level)));
    }
}

/// Writes `rounds` messages from each process to the next one, then a barrier.
pub(super) fn ring(events: &mut Events, rank: u32, processes: u32, rounds: u32) {
    let (receiver, sender) = ((rank + 1) % processes, (rank + processes - 1) % processes);
    for msg_tag in 0..rounds {
        let (communicator, msg_length) = (0, 8);
        events.call(SEND, &[Event::MpiSend { receiver, communicator, msg_tag, msg_length }]);
        events.call(RECV, &[Event::MpiRecv { sender, communicator, msg_tag, msg_length }]);
    }
    events.barrier();
}
