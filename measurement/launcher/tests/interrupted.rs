//! Recordings of programs that died, and completions that were interrupted, at any point.

use crate::finishing::finished;
use crate::recordings::{CHUNK, Rank, check, fresh, ring};
use launcher::{Outcome, finish};
use otf2::Archive;
use recording::buffer::HEADER_BYTES;
use recording::layout;
use recording::settings::EventRecords;
use std::fs::{self, OpenOptions};
use std::path::Path;

/// Number of rounds that fill a few chunks.
const ROUNDS: u64 = 12_000;

fn cut(path: &Path, length: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

/// Changes a field of a buffer's header.
fn set(directory: &Path, field: usize, value: u64) {
    let path = layout::buffer(directory, 1);
    let mut bytes = fs::read(&path).unwrap();
    bytes[field * 8..field * 8 + 8].copy_from_slice(&value.to_ne_bytes());
    fs::write(path, bytes).unwrap();
}

fn is_complete(directory: &Path) -> String {
    Archive::open(directory).unwrap().anchor().properties[0].1.clone()
}

#[test]
fn rank_that_died_is_named_and_loses_nothing() {
    let directory = fresh("rank_died");
    let events = ring(&directory, 4, ROUNDS);
    let journal = layout::journal(&directory, 2);
    let text = fs::read_to_string(&journal).unwrap();
    let without_end = text.lines().filter(|line| !line.contains("\"end\"")).collect::<Vec<_>>().join("\n");
    fs::write(journal, without_end + "\n{\"entry\":\"thr").unwrap();
    let summary = finished(&directory);
    assert_eq!((summary.died, summary.has_losses, summary.events), (vec![2], false, events));
    assert_eq!(check(&directory), events);
    assert_eq!(is_complete(&directory), "false");
}

#[test]
fn rank_without_a_journal_is_an_empty_location() {
    let directory = fresh("no_journal");
    let events = ring(&directory, 4, 10);
    fs::remove_file(layout::journal(&directory, 3)).unwrap();
    let summary = finished(&directory);
    assert_eq!((summary.silent, summary.events), (vec![3], events / 4 * 3));
    assert_eq!(check(&directory), events / 4 * 3);
    let definitions = Archive::open(&directory).unwrap().definitions().unwrap();
    assert_eq!((definitions.locations.len(), definitions.locations[3].events), (4, 0));
}

#[test]
fn first_rank_without_a_journal_does_not_stop_the_others() {
    let directory = fresh("no_first_journal");
    let events = ring(&directory, 3, 10);
    fs::remove_file(layout::journal(&directory, 0)).unwrap();
    assert_eq!(finished(&directory).events, events / 3 * 2);
    assert_eq!(check(&directory), events / 3 * 2);
}

#[test]
fn thread_without_a_buffer_is_an_empty_location() {
    let directory = fresh("no_buffer");
    let rank = Rank::new(&directory, 0, 1);
    drop(rank);
    let summary = finished(&directory);
    assert_eq!((summary.events, summary.died), (0, vec![0]));
    assert_eq!(check(&directory), 0);
}

#[test]
fn process_that_died_while_it_wrote_a_chunk_loses_nothing() {
    // The process's last action: part of the chunk is in the file; all of it; counted; the next one begun.
    for (number, (in_file, counted, emptied)) in
        [(1000, false, false), (CHUNK, false, false), (CHUNK, true, false), (CHUNK, false, true)]
            .into_iter()
            .enumerate()
    {
        let directory = fresh(&format!("while_it_wrote_{number}"));
        let events = ring(&directory, 2, ROUNDS);
        // The state before the last full chunk was written: it is in the buffer, and later events never
        // happened.
        let path = layout::events(&directory, 1);
        let bytes = fs::read(&path).unwrap();
        let chunks = bytes.len() as u64 / CHUNK;
        assert!(chunks >= 2);
        let begin = (chunks - 1) * CHUNK;
        let chunk = &bytes[begin as usize..];
        let last = u64::from_ne_bytes(chunk[10..18].try_into().unwrap());
        let end = chunk.iter().rposition(|&byte| byte != 0).unwrap() + 1;
        let mut records = chunk[..end].to_vec();
        records[10..18].fill(0);
        // The last record ends with zeros that belong to it: as many as decode.
        while !whole(&records) {
            records.push(0);
        }
        let rank = Rank::new(&directory, 1, 2);
        rank.buffer(0, &records, last, chunks - 1 + u64::from(counted), [1, 2]);
        if emptied {
            set(&directory, 2, 18);
        }
        cut(&path, begin + in_file);
        let summary = finished(&directory);
        assert_eq!(summary.notices, [""; 0], "case {number}");
        assert_eq!(summary.events, events / 2 + last, "case {number}");
        assert_eq!(check(&directory), events / 2 + last);
    }
}

/// Whether the records of a chunk are complete.
fn whole(chunk: &[u8]) -> bool {
    let mut file = chunk.to_vec();
    file.extend([2, 1]);
    let mut events = otf2::EventCursor::new(&file, Path::new("x"), CHUNK);
    loop {
        match events.next() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

#[test]
fn buffer_that_is_full_to_its_last_byte_gets_one_chunk_more() {
    let directory = fresh("full_buffer");
    ring(&directory, 2, ROUNDS);
    let bytes = fs::read(layout::buffer(&directory, 1)).unwrap();
    let filled = u64::from_ne_bytes(bytes[16..24].try_into().unwrap()) as usize;
    let mut records = bytes[HEADER_BYTES..HEADER_BYTES + filled].to_vec();
    let (_, before) = split_events(&bytes);
    // Tests of requests, which take two or three bytes, until a single byte is left.
    let mut events = before;
    if records.len().is_multiple_of(2) {
        records.extend([20, 1, 9]);
        events += 1;
    }
    while records.len() + 2 < CHUNK as usize {
        records.extend([20, 0]);
        events += 1;
    }
    let chunks = u64::from_ne_bytes(bytes[32..40].try_into().unwrap());
    Rank::new(&directory, 1, 2).buffer(0, &records, events, chunks, [1, 2]);
    let summary = finished(&directory);
    assert_eq!(summary.notices, [""; 0]);
    check(&directory);
    let archive = Archive::open(&directory).unwrap();
    assert_eq!(archive.definitions().unwrap().locations[1].events, events);
    assert_eq!(archive.event_bytes(1), Some((chunks + 1) * CHUNK + 20));
}

/// Returns chunks and events in a buffer's header.
fn split_events(bytes: &[u8]) -> (u64, u64) {
    let field = |at: usize| u64::from_ne_bytes(bytes[at * 8..at * 8 + 8].try_into().unwrap());
    (field(4), field(3))
}

#[test]
fn damaged_buffer_keeps_what_comes_before_the_damage() {
    let directory = fresh("damaged_buffer");
    let events = ring(&directory, 2, 100);
    let path = layout::buffer(&directory, 1);
    let mut bytes = fs::read(&path).unwrap();
    let filled = u64::from_ne_bytes(bytes[16..24].try_into().unwrap()) as usize;
    let damage = HEADER_BYTES + filled / 2;
    bytes[damage..damage + 300].fill(0);
    fs::write(&path, bytes).unwrap();
    let summary = finished(&directory);
    assert!(summary.has_losses && summary.notices[0].contains("damaged"), "{:?}", summary.notices);
    assert!((events / 2 + 50..events).contains(&summary.events), "{summary:?}");
    assert_eq!(check(&directory), summary.events);
}

#[test]
fn headers_that_make_no_sense_lose_the_buffer_only() {
    let fields = [(0, 0), (1, 17), (2, u64::MAX), (4, u64::MAX), (3, u64::MAX), (5, u64::MAX), (7, 1)];
    for (field, value) in fields {
        let directory = fresh(&format!("header_{field}"));
        let events = ring(&directory, 2, ROUNDS);
        set(&directory, field, value);
        let summary = finished(&directory);
        assert!(summary.events > events / 2 + 20_000, "field {field}: {summary:?}");
        assert_eq!(check(&directory), summary.events);
        assert_eq!(summary.has_losses, field != 5, "field {field}: {:?}", summary.notices);
    }
}

#[test]
fn event_file_that_lost_chunks_is_named() {
    let directory = fresh("lost_chunks");
    ring(&directory, 2, ROUNDS);
    cut(&layout::events(&directory, 1), CHUNK + 17);
    let summary = finished(&directory);
    assert!(
        summary.has_losses && summary.notices.iter().any(|notice| notice.contains("has 1 of 3 chunks")),
        "{summary:?}"
    );
    assert_eq!(check(&directory), summary.events);
}

#[test]
fn completion_that_was_interrupted_is_done_again_with_the_same_result() {
    let reference = fresh("interrupted_not");
    ring(&reference, 2, ROUNDS);
    let copy = |name: &str| {
        let directory = fresh(name);
        ring(&directory, 2, ROUNDS);
        directory
    };
    let files = ["traces.otf2", "traces.def", "traces/0.def", "traces/0.evt", "traces/1.def", "traces/1.evt"];
    let read = |directory: &Path| files.map(|file| fs::read(directory.join(file)).unwrap());
    // Everything but the anchor was there, and the recording was not yet removed.
    let directory = copy("interrupted");
    let recording = directory.join(layout::RECORDING);
    let kept = fresh("interrupted_kept");
    for entry in fs::read_dir(&recording).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), kept.join(entry.file_name())).unwrap();
    }
    finished(&directory);
    finished(&reference);
    assert!(read(&directory) == read(&reference));
    let restore = |partly: &dyn Fn()| {
        fs::rename(directory.join(layout::ANCHOR), directory.join("traces.otf2.part")).unwrap();
        fs::create_dir_all(&recording).unwrap();
        for entry in fs::read_dir(&kept).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), recording.join(entry.file_name())).unwrap();
        }
        partly();
        finished(&directory);
        assert!(read(&directory) == read(&reference));
    };
    restore(&|| {});
    restore(&|| fs::remove_file(directory.join("traces.def")).unwrap());
    restore(&|| cut(&layout::events(&directory, 1), 3 * CHUNK + 100));
    restore(&|| fs::write(directory.join("traces/1.def.part"), "x").unwrap());
}

#[test]
fn recording_behind_an_anchor_is_only_removed() {
    let directory = fresh("behind_anchor");
    ring(&directory, 2, 5);
    finished(&directory);
    fs::create_dir(directory.join(layout::RECORDING)).unwrap();
    assert_eq!(finish(&directory, None), Ok(Outcome::AlreadyComplete));
    assert!(!directory.join(layout::RECORDING).exists());
}

#[test]
fn what_is_no_recording_is_refused_with_a_message() {
    let directory = fresh("no_recording");
    assert!(finish(&directory, None).unwrap_err().to_string().contains("neither an archive nor a recording"));
    fs::create_dir(directory.join(layout::RECORDING)).unwrap();
    assert!(finish(&directory, None).unwrap_err().to_string().contains("no journal"));
    fs::write(layout::journal(&directory, 0), "nonsense\n").unwrap();
    assert!(finish(&directory, None).unwrap_err().to_string().contains("no journal"));
    let others = fresh("of_two_runs");
    ring(&others, 2, 5);
    Rank::new(&others, 1, 3);
    assert!(finish(&others, None).unwrap_err().to_string().contains("not recordings of one run"));
}

#[test]
fn damage_anywhere_never_ends_in_a_panic() {
    let directory = fresh("damage");
    let mut seed = 12345u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below.max(1)
    };
    for _ in 0..10 {
        let _ = fs::remove_dir_all(&directory);
        ring(&directory, 2, 20);
        for name in ["1.journal", "1.paths", "1.buffer"] {
            let path = directory.join(layout::RECORDING).join(name);
            let mut bytes = fs::read(&path).unwrap();
            let used = if name == "1.buffer" { HEADER_BYTES + 2000 } else { bytes.len() };
            for _ in 0..random(4) {
                let at = if name == "1.buffer" && random(2) == 0 { random(64) } else { random(used) };
                bytes[at] = random(256) as u8;
            }
            fs::write(path, bytes).unwrap();
        }
        if finish(&directory, None).is_ok() {
            check(&directory);
        }
    }
}

#[test]
fn damaged_events_never_end_in_a_panic_and_plain_records_end_before_the_damage() {
    let directory = fresh("damaged_event_files");
    let mut seed = 54321u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below.max(1)
    };
    for number in 0..12 {
        let _ = fs::remove_dir_all(&directory);
        ring(&directory, 2, 6_000);
        let path = layout::events(&directory, 1);
        let mut bytes = fs::read(&path).unwrap();
        assert!(bytes.len() as u64 >= CHUNK);
        for _ in 0..1 + random(6) {
            let at = random(bytes.len());
            bytes[at] = random(256) as u8;
        }
        fs::write(&path, bytes).unwrap();
        let records = if number % 2 == 0 { EventRecords::EnterLeave } else { EventRecords::CallingContexts };
        if finish(&directory, Some(records)).is_ok() && records == EventRecords::EnterLeave {
            check(&directory);
        }
    }
}
