//! Recordings as the recorder would leave them.

use crate::laws;
use otf2::{Anchor, Archive, Attributes, Event, EventWriter};
use recording::buffer::{HEADER_BYTES, MAGIC};
use recording::journal::{ClockCalibration, ClockOffset, Communicator, JournalRecord};
use recording::layout;
use recording::paths::{self, NO_PARENT, PathNode};
use skip::{Need, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The smallest chunk that the format allows.
pub(crate) const CHUNK: u64 = 256 << 10;

/// Returns an empty directory for one test.
pub(crate) fn fresh(test: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// A recording of one process under construction.
pub(crate) struct Rank {
    directory: PathBuf,
    pub(crate) rank: u32,
    journal: String,
}

impl Rank {
    /// Creates a process; clocks of successive ranks are 1000 ticks apart.
    pub(crate) fn new(directory: &Path, rank: u32, size: u32) -> Self {
        Rank::of(directory, rank, size, "/bin/app")
    }

    /// Creates a process of that program.
    pub(crate) fn of(directory: &Path, rank: u32, size: u32, program: &str) -> Self {
        fs::create_dir_all(directory.join(layout::RECORDING)).unwrap();
        fs::create_dir_all(directory.join(layout::TRACES)).unwrap();
        let mut rank = Rank { directory: directory.into(), rank, journal: String::new() };
        rank.write(JournalRecord::Process {
            version: "0.1.0".into(),
            rank: rank.rank,
            size,
            host: "nowhere".into(),
            process: 7 + rank.rank,
            program: program.into(),
            arguments: vec!["-v".into(), "app".into()],
            mpi: "Some MPI 1.2".into(),
            chunk_size: CHUNK,
            clock: "tsc".into(),
            sample: 100,
            anonymous: false,
        });
        let ticks = 1000 * u64::from(rank.rank);
        for (ticks, nanoseconds) in [(ticks, 0), (ticks + 2_000_000_000, 1_000_000_000)] {
            rank.write(JournalRecord::Calibration(ClockCalibration {
                ticks,
                nanoseconds,
                realtime: nanoseconds,
            }));
        }
        for at in [10, 2_000_000] {
            rank.write(JournalRecord::Offset(ClockOffset {
                ticks: ticks + at,
                reference: at,
                round_trip: 4,
            }));
        }
        rank
    }

    /// Appends a record to the journal.
    pub(crate) fn write(&mut self, record: JournalRecord) {
        self.journal.push_str(&record.to_line());
        fs::write(layout::journal(&self.directory, self.rank), &self.journal).unwrap();
    }

    /// Writes the paths of a thread: kind, target, parent.
    pub(crate) fn paths(&self, thread: u32, nodes: &[(u32, u64, u32)]) {
        let mut bytes = [paths::MAGIC, nodes.len() as u64].map(u64::to_ne_bytes).concat();
        for &(kind, target, parent) in nodes {
            let node = PathNode { target, parent, kind };
            bytes.extend(node.target.to_ne_bytes());
            bytes.extend(node.parent.to_ne_bytes());
            bytes.extend(node.kind.to_ne_bytes());
        }
        fs::write(layout::paths(&self.directory, self.location(thread)), bytes).unwrap();
    }

    /// Records events of a thread: full chunks in its event file, the rest in its buffer.
    pub(crate) fn record(&self, thread: u32, events: &[(u64, Event<'_>)]) {
        let location = self.location(thread);
        let path = layout::events(&self.directory, location);
        let anchor = Anchor { event_chunk_size: CHUNK, ..Anchor::default() };
        let mut writer = EventWriter::create(&path, &anchor).unwrap();
        for &(time, event) in events {
            writer.write(time, event, Attributes::EMPTY).unwrap();
        }
        writer.finish().unwrap();
        let bytes = fs::read(&path).unwrap();
        let chunks = (bytes.len() - 1) / CHUNK as usize;
        let (full, last) = bytes.split_at(chunks * CHUNK as usize);
        fs::write(&path, full).unwrap();
        // The end marks are missing, and so is the number of the last event.
        let mut chunk = last[..last.len() - 2].to_vec();
        chunk[10..18].fill(0);
        let times = [events.first(), events.last()].map(|event| event.map_or(0, |event| event.0));
        self.buffer(thread, &chunk, events.len() as u64, chunks as u64, times);
    }

    /// Writes the buffer of a thread.
    pub(crate) fn buffer(&self, thread: u32, chunk: &[u8], events: u64, chunks: u64, times: [u64; 2]) {
        let fields = [MAGIC, CHUNK, chunk.len() as u64, events, chunks, times[0], times[1], 0];
        let mut bytes = fields.map(u64::to_ne_bytes).concat();
        bytes.resize(HEADER_BYTES, 0);
        bytes.extend(chunk);
        bytes.resize(HEADER_BYTES + CHUNK as usize, 0xee);
        fs::write(layout::buffer(&self.directory, self.location(thread)), bytes).unwrap();
    }

    fn location(&self, thread: u32) -> u64 {
        layout::location(self.rank, thread)
    }
}

/// Returns the number of an MPI function.
pub(crate) fn mpi(name: &str) -> u64 {
    recording::functions::all().iter().position(|function| function.name == name).unwrap() as u64
}

/// Records a ring of messages over `size` processes, `rounds` times; returns the number of events.
pub(crate) fn ring(directory: &Path, size: u32, rounds: u64) -> u64 {
    let mut count = 0;
    for number in 0..size {
        let mut rank = Rank::new(directory, number, size);
        rank.write(JournalRecord::Thread { thread: 0, name: None, has_switches: false, has_counters: false });
        for (communicator, name, members) in
            [(0, "MPI_COMM_WORLD", format!("0-{}", size - 1)), (1, "MPI_COMM_SELF", number.to_string())]
        {
            let key = u64::from(communicator) * (1 + u64::from(number));
            rank.write(JournalRecord::Communicator(Communicator {
                communicator,
                key,
                name: name.into(),
                parent: None,
                members: Some(members),
                remote: None,
            }));
        }
        let send = recording::paths::MPI_FUNCTION;
        rank.paths(0, &[(send, mpi("MPI_Send"), NO_PARENT), (send, mpi("MPI_Recv"), NO_PARENT)]);
        let events = ring_events(number, size, rounds);
        count += events.len() as u64;
        rank.record(0, &events);
        rank.write(JournalRecord::End { status: 0 });
    }
    count
}

/// Returns the events of one process of a ring.
pub(crate) fn ring_events(rank: u32, size: u32, rounds: u64) -> Vec<(u64, Event<'static>)> {
    let begin = 1000 * u64::from(rank) + 100;
    let arguments: &[u32] = &[1, 2];
    let mut events =
        vec![(begin, Event::ProgramBegin { program_name: 0, program_arguments: arguments.into() })];
    let (receiver, sender) = ((rank + 1) % size, (rank + size - 1) % size);
    for round in 0..rounds {
        let time = begin + 10 + round * 20;
        let enter = |calling_context| Event::CallingContextEnter { calling_context, unwind_distance: 2 };
        let leave = |calling_context| Event::CallingContextLeave { calling_context };
        events.extend([
            (time, enter(0)),
            (time, Event::MpiSend { receiver, communicator: 0, msg_tag: 0, msg_length: round }),
            (time + 5, leave(0)),
            (time + 6, enter(1)),
            (time + 9, Event::MpiRecv { sender, communicator: 0, msg_tag: 0, msg_length: round }),
            (time + 9, leave(1)),
        ]);
    }
    events.push((begin + 10 + rounds * 20, Event::ProgramEnd { exit_status: 0 }));
    events
}

/// Reads all of an archive, which must keep the laws, and returns the number of its events; the reference
/// reader has to accept it, too.
pub(crate) fn check(directory: &Path) -> u64 {
    assert_eq!(laws::broken(directory), None, "{}", directory.display());
    let archive = Archive::open(directory).unwrap();
    let count = archive.definitions().unwrap().locations.iter().map(|location| location.events).sum();
    match Command::new("otf2-print").arg("--silent").arg(directory.join(layout::ANCHOR)).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => skip(Need::Otf2Print, "what otf2-print thinks: there is none"),
    }
    count
}
