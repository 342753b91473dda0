//! Events per second on a stencil code's trace: a ring of ranks that exchange messages with both neighbours.
//!
//! ```text
//! cargo bench --no-default-features --bench stencil -- [EVENTS [RANKS]]
//! ```
//!
//! Makes the trace with our own writer in a temporary directory, then measures, on one core: decoding alone, and the whole
//! analysis. Unit: events per second; an event is what OTF2 counts as one. The best of three runs is printed.

use std::path::Path;
use std::time::Instant;

use model::{CollectiveOp, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole};
use otf2::{Anchor, Archive, ArchiveWriter, Attributes, Definition, Event, EventWriter, List};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, Semantics, analyze};

/// Regions of the trace by number: name, source file, role, paradigm.
const REGIONS: &[(&str, &str, RegionRole, Paradigm)] = &[
    ("main", "stencil.c", RegionRole::FUNCTION, Paradigm::COMPILER),
    ("MPI_Init", "MPI", RegionRole::FUNCTION, Paradigm::MPI),
    ("MPI_Finalize", "MPI", RegionRole::FUNCTION, Paradigm::MPI),
    ("relax", "stencil.c", RegionRole::FUNCTION, Paradigm::COMPILER),
    ("MPI_Irecv", "MPI", RegionRole::POINT2POINT, Paradigm::MPI),
    ("MPI_Isend", "MPI", RegionRole::POINT2POINT, Paradigm::MPI),
    ("MPI_Waitall", "MPI", RegionRole::POINT2POINT, Paradigm::MPI),
    ("MPI_Allreduce", "MPI", RegionRole::COLL_ALL2ALL, Paradigm::MPI),
];
const MAIN: u32 = 0;
const INIT: u32 = 1;
const FINALIZE: u32 = 2;
const RELAX: u32 = 3;
const IRECV: u32 = 4;
const ISEND: u32 = 5;
const WAITALL: u32 = 6;
const ALLREDUCE: u32 = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let wanted = numbers.next().unwrap_or(10_000_000);
    let ranks = numbers.next().unwrap_or(4).max(2);
    let directory = tempfile::tempdir()?;
    let experiment = directory.path().join("stencil");
    let events = generate(&experiment, ranks, wanted)?;
    let archive = Archive::open(&experiment)?;
    let bytes: u64 = (0..ranks).filter_map(|rank| archive.event_bytes(rank)).sum();
    println!("{events} events on {ranks} ranks, {:.2} bytes/event", bytes as f64 / events as f64);

    let decode = best_of_three(|| {
        let mut count = 0;
        for rank in 0..ranks {
            let file = archive.event_file(rank)?;
            let mut cursor = archive.events(&file);
            while let Some(record) = cursor.next()? {
                count += u64::from(matches!(record.event, Event::Enter { .. })) + record.time % 2;
            }
        }
        std::hint::black_box(count);
        Ok(())
    })?;
    println!("decode   {:8.1} million events/s", events as f64 / decode / 1e6);

    let options = Options {
        experiment: experiment.clone(),
        report: Some(directory.path().join("report.cubex")),
        semantics: Semantics::Corrected,
        threads: 1,
        force: false,
    };
    let whole = best_of_three(|| {
        analyze(&options, &mut Solo, &mut Progress::silent())?;
        Ok(())
    })?;
    println!("analyze  {:8.1} million events/s", events as f64 / whole / 1e6);
    Ok(())
}

fn best_of_three(
    mut run: impl FnMut() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<f64, Box<dyn std::error::Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Writes the trace; answers its number of events.
fn generate(experiment: &Path, ranks: u64, wanted: u64) -> Result<u64, otf2::Error> {
    let mut archive = ArchiveWriter::create(experiment.join("traces.otf2"), Anchor::default())?;
    let mut texts: Vec<String> = ["", "machine", "node", "MPI_COMM_WORLD"].map(String::from).to_vec();
    let first_region = texts.len() as u32;
    texts.extend(REGIONS.iter().map(|region| region.0.to_owned()));
    texts.extend(["stencil.c", "MPI"].map(String::from));
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
    let mut events = 0;
    for rank in 0..ranks {
        let mut location = Location { events: archive.events(rank)?, time: 1000 + rank * 7 };
        location.run(rank as u32, ranks as u32, wanted / ranks)?;
        events += location.events.finish()?;
    }
    archive.finish()?;
    Ok(events)
}

/// The events of one rank while they are written.
struct Location {
    events: EventWriter,
    time: u64,
}

impl Location {
    fn event(&mut self, ticks: u64, event: Event<'_>) -> Result<(), otf2::Error> {
        self.time += ticks;
        self.events.write(self.time, event, Attributes::EMPTY)
    }

    fn call(&mut self, region: u32, inside: &[Event<'_>]) -> Result<(), otf2::Error> {
        self.event(90, Event::Enter { region })?;
        for &event in inside {
            self.event(40, event)?;
        }
        self.event(60, Event::Leave { region })
    }

    /// Work, both messages to and from both neighbours, and a reduction every tenth time, until there are enough events.
    fn run(&mut self, rank: u32, ranks: u32, wanted: u64) -> Result<(), otf2::Error> {
        let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
        let (communicator, msg_length) = (0, 8192);
        self.event(0, Event::Enter { region: MAIN })?;
        self.call(INIT, &[])?;
        for step in 0..wanted / 21 {
            // Everyone is slow in turn, so that the others wait.
            let work = if step % u64::from(ranks) == u64::from(rank) { 9000 } else { 2000 };
            self.event(100, Event::Enter { region: RELAX })?;
            self.event(work, Event::Leave { region: RELAX })?;
            let request = 4 * step;
            self.call(IRECV, &[Event::MpiIrecvRequest { request_id: request }])?;
            self.call(IRECV, &[Event::MpiIrecvRequest { request_id: request + 1 }])?;
            for (number, (receiver, msg_tag)) in [(left, 1), (right, 2)].into_iter().enumerate() {
                let request_id = request + 2 + number as u64;
                self.call(
                    ISEND,
                    &[Event::MpiIsend { receiver, communicator, msg_tag, msg_length, request_id }],
                )?;
            }
            self.call(
                WAITALL,
                &[
                    Event::MpiIsendComplete { request_id: request + 2 },
                    Event::MpiIsendComplete { request_id: request + 3 },
                    Event::MpiIrecv {
                        sender: right,
                        communicator,
                        msg_tag: 1,
                        msg_length,
                        request_id: request,
                    },
                    Event::MpiIrecv {
                        sender: left,
                        communicator,
                        msg_tag: 2,
                        msg_length,
                        request_id: request + 1,
                    },
                ],
            )?;
            if step % 10 == 0 {
                let end = Event::MpiCollectiveEnd {
                    collective_op: CollectiveOp::ALLREDUCE,
                    communicator,
                    root: otf2::ROOT_NONE,
                    size_sent: 8,
                    size_received: 8,
                };
                self.call(ALLREDUCE, &[Event::MpiCollectiveBegin {}, end])?;
            }
        }
        self.call(FINALIZE, &[])?;
        self.event(10, Event::Leave { region: MAIN })
    }
}
