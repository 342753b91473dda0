//! The files of a recorded process, damaged by the fuzzer: finishing makes an archive that can be read, or
//! one line with the reason why not.

#![no_main]

use std::fs;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use otf2::Archive;
use recording::buffer::{self, HEADER_BYTES};
use recording::journal::{ClockCalibration, ClockOffset, Communicator, JournalRecord, Module, Region};
use recording::paths::{self, FRAME, MPI_FUNCTION, NO_PARENT, REGION};
use recording::{functions, layout};
use replay_fuzz::{Input, check_message, scratch};

const CHUNK: u64 = 256 << 10;

// The first byte chooses the file; the second the damage: 0 it is replaced by the rest of the input, 1 bytes
// are changed at offsets from the input, 2 it is cut, 3 it is missing.
fuzz_target!(|input: &[u8]| {
    let mut input = Input(input);
    let mut files = sample();
    if let Some(at) = input.choice(&[0, 1, 2, 3]) {
        let (_, bytes) = &mut files[*at];
        match input.byte() % 4 {
            0 => *bytes = input.0.to_vec(),
            1 => {
                while !input.0.is_empty() && !bytes.is_empty() {
                    let place = input.number() % bytes.len();
                    bytes[place] = input.byte();
                }
            }
            2 => bytes.truncate(input.number()),
            _ => drop(files.remove(*at)),
        }
    }
    let directory = scratch().join("recording");
    let _ = fs::remove_dir_all(&directory);
    for folder in [layout::TRACES, layout::RECORDING] {
        fs::create_dir_all(directory.join(folder)).expect("there is room");
    }
    for (name, bytes) in &files {
        fs::write(directory.join(name), bytes).expect("there is room");
    }
    match launcher::finish(&directory, None) {
        Ok(_) => read(&directory),
        Err(error) => check_message(&error),
    }
});

/// Reads the archive, which must be valid except for events: those are copied even where they make no sense.
fn read(directory: &Path) {
    let archive = Archive::open(directory).expect("an archive");
    let definitions = archive.definitions().expect("definitions that can be read");
    for position in 0..definitions.locations.len() {
        let location = definitions.locations.reference(position);
        archive.local_definitions(location).expect("local definitions that can be read");
        let file = archive.event_file(location).expect("an event file");
        let mut events = archive.events(&file);
        while let Ok(Some(_)) = events.next() {}
    }
}

/// A small recording of one process: a region and a barrier in it.
fn sample() -> Vec<(String, Vec<u8>)> {
    let barrier = functions::all().iter().position(|function| function.name == "MPI_Barrier").unwrap_or(0);
    let entries = [
        JournalRecord::Process {
            version: "0.1.0".into(),
            rank: 0,
            size: 1,
            host: "host".into(),
            process: 1,
            program: "/program".into(),
            arguments: vec!["x".into()],
            mpi: "MPI".into(),
            chunk_size: CHUNK,
            clock: "monotonic".into(),
            sample: 0,
            anonymous: false,
        },
        JournalRecord::Communicator(Communicator {
            communicator: 0,
            key: 1,
            name: "MPI_COMM_WORLD".into(),
            parent: None,
            members: Some("0-0".into()),
            remote: None,
        }),
        JournalRecord::Thread { thread: 0, name: None, has_switches: false, has_counters: false },
        JournalRecord::Module(Module {
            begin: 0x1000,
            end: 0x2000,
            bias: 0,
            build_id: None,
            path: "/none".into(),
        }),
        JournalRecord::Calibration(ClockCalibration { ticks: 100, nanoseconds: 100, realtime: 1 << 60 }),
        JournalRecord::Offset(ClockOffset { ticks: 100, reference: 100, round_trip: 0 }),
        JournalRecord::Region(Region {
            region: 0,
            name: "region".into(),
            file: Some("x.c".into()),
            line: 3,
            phase: false,
        }),
        JournalRecord::Calibration(ClockCalibration {
            ticks: 900,
            nanoseconds: 900,
            realtime: (1 << 60) + 800,
        }),
        JournalRecord::Offset(ClockOffset { ticks: 900, reference: 900, round_trip: 0 }),
        JournalRecord::End { status: 0 },
    ];
    let journal: String = entries.iter().map(JournalRecord::to_line).collect();
    // Enter and leave of the region and of the barrier in it.
    let mut records = vec![5, 200, 0, 0, 0, 0, 0, 0, 0, 66, 4, 1, 1, 1, 3, 66, 4, 1, 2, 1, 2, 22, 0];
    records.extend([5, 44, 1, 0, 0, 0, 0, 0, 0, 23, 6, 0, 0, 0xff, 0, 0, 67, 2, 1, 2, 67, 2, 1, 1]);
    let mut chunk = vec![3, 0x42];
    chunk.extend(1u64.to_le_bytes());
    chunk.extend(0u64.to_le_bytes());
    chunk.extend(&records);
    let header = [buffer::MAGIC, CHUNK, chunk.len() as u64, 6, 0, 200, 300, 0];
    let mut buffer: Vec<u8> = header.iter().flat_map(|word| word.to_ne_bytes()).collect();
    buffer.resize(HEADER_BYTES, 0);
    buffer.extend(&chunk);
    buffer.resize(HEADER_BYTES + CHUNK as usize, 0);
    let nodes: [(u64, u32, u32); 3] =
        [(0x1500, NO_PARENT, FRAME), (0, 0, REGION), (barrier as u64, 1, MPI_FUNCTION)];
    let mut paths: Vec<u8> = [paths::MAGIC, 3].iter().flat_map(|word| word.to_ne_bytes()).collect();
    for (target, parent, kind) in nodes {
        paths.extend(target.to_ne_bytes());
        paths.extend(parent.to_ne_bytes());
        paths.extend(kind.to_ne_bytes());
    }
    vec![
        ("recording/0.journal".into(), journal.into_bytes()),
        ("recording/0.buffer".into(), buffer),
        ("recording/0.paths".into(), paths),
        ("traces/0.evt".into(), Vec::new()),
    ]
}
