//! Archives in SION containers: what is read is what was written, and what is damaged is refused.
//!
//! The judge of made-up containers is SIONlib's `sionsplit` (`$REPLAY_SIONSPLIT`, else in the path). Without,
//! that test says so and passes.

use crate::containers::{Container, Task, write_archive};
use crate::support::{Random, fresh, global_events, locations};
use otf2::Archive;
use skip::{Need, skip};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Of each container the bytes of each location.
type Written = Vec<BTreeMap<u64, Vec<u8>>>;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sion")
}

fn plain() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/archives/hybrid.2x3")
}

/// A copy of SIONlib's archive, with the global definitions of the plain one.
fn copy(test: &str) -> PathBuf {
    let directory = fresh(test);
    fs::create_dir(directory.join("traces")).unwrap();
    for file in ["traces.otf2", "traces.srm", "traces/0.evt", "traces/0.def"] {
        fs::copy(golden().join(file), directory.join(file)).unwrap();
    }
    fs::copy(plain().join("traces.def"), directory.join("traces.def")).unwrap();
    directory
}

#[test]
fn container_of_sionlib_equals_the_plain_archive() {
    let [archive, plain] = [copy("golden"), plain()].map(|path| Archive::open(path).unwrap());
    let all = locations(&plain).unwrap();
    assert_eq!(all.len(), 6);
    for &location in &all {
        assert_eq!(*archive.event_file(location).unwrap(), *plain.event_file(location).unwrap());
        let local = archive.local_definition_file(location).unwrap();
        assert_eq!(*local, *plain.local_definition_file(location).unwrap());
        assert_eq!(archive.event_bytes(location), plain.event_bytes(location));
        assert!(archive.has_local_definitions(location));
        archive.expect(location, 1 << 20);
        assert_eq!(global_events(&archive, location).unwrap(), global_events(&plain, location).unwrap());
    }
}

#[test]
fn file_of_a_location_is_named_after_container_and_location() {
    let directory = copy("names");
    let archive = Archive::open(&directory).unwrap();
    assert_eq!(archive.event_path(1 << 32), directory.join("traces/0.evt"));
    assert_eq!(archive.local_definition_path(1), directory.join("traces/0.def"));
    let file = archive.event_file(1 << 32).unwrap();
    assert!(file.path().ends_with("traces/0.evt, location 4294967296"));
}

#[test]
fn what_was_not_written_is_not_found() {
    let directory = copy("missing");
    let archive = Archive::open(&directory).unwrap();
    let error = archive.event_file(77).unwrap_err();
    assert!(error.is_not_found() && error.to_string().contains("*.evt, location 77: cannot read"), "{error}");
    assert_eq!((archive.event_bytes(77), archive.has_local_definitions(77)), (None, false));
    fs::remove_file(directory.join("traces/0.def")).unwrap();
    assert!(archive.local_definition_file(0).unwrap_err().is_not_found());
    assert!(!archive.has_local_definitions(0) && archive.local_definitions(0).unwrap().clock.is_identity());
    let empty = Container {
        big: false,
        block: 512,
        tasks: (0..2).map(|rank| Task { rank, chunk: 512, pieces: Vec::new() }).collect(),
    };
    fs::write(directory.join("traces/0.evt"), empty.encode()).unwrap();
    assert!(archive.event_file(0).unwrap_err().is_not_found());
    fs::remove_file(directory.join("traces.srm")).unwrap();
    let error = Archive::open(&directory).unwrap_err().to_string();
    assert!(error.contains("traces.srm: there is no map of the locations in the SION containers"), "{error}");
}

#[test]
fn container_that_is_a_link_out_of_the_archive_is_not_read() {
    let directory = copy("link");
    fs::remove_file(directory.join("traces/0.evt")).unwrap();
    std::os::unix::fs::symlink(golden().join("traces/0.evt"), directory.join("traces/0.evt")).unwrap();
    let error = Archive::open(&directory).unwrap().event_file(0).unwrap_err().to_string();
    assert!(error.contains("a link leads out of the experiment directory"), "{error}");
}

/// Makes up an archive: one to three containers of up to four tasks, with up to three locations each.
fn make_up(directory: &Path, random: &mut Random) -> Written {
    let (mut map, mut written, mut rank) = (Vec::new(), Vec::new(), 0);
    for file in 0..=random.below(3) {
        let block = [64, 200, 512][random.below(3)];
        let mut container = Container { big: random.below(2) == 1, block, tasks: Vec::new() };
        let (mut of_file, mut tasks) = (BTreeMap::new(), Vec::new());
        for _ in 0..=random.below(4) {
            let ids: Vec<u64> = (0..=random.below(3) as u64).map(|thread| (thread << 32) | rank).collect();
            let mut pieces = Vec::new();
            for _ in 0..random.below(20) {
                let piece: Vec<u8> = (0..=random.below(300)).map(|_| random.below(256) as u8).collect();
                let id = ids[random.below(ids.len())];
                of_file.entry(id).or_insert_with(Vec::new).extend(&piece);
                pieces.push((id, piece));
            }
            let chunk = block * (1 + random.below(4) as u64);
            container.tasks.push(Task { rank, chunk, pieces });
            tasks.push((rank, ids));
            rank += 1;
        }
        fs::create_dir_all(directory.join("traces")).unwrap();
        fs::write(directory.join(format!("traces/{file}.evt")), container.encode()).unwrap();
        map.push(tasks);
        written.push(of_file);
    }
    write_archive(directory, &map);
    written
}

#[test]
fn made_up_containers_are_read_as_they_were_written() {
    let mut random = Random(7);
    for _ in 0..100 {
        let directory = fresh("made-up");
        let written = make_up(&directory, &mut random);
        let archive = Archive::open(&directory).unwrap();
        for (&location, bytes) in written.iter().flatten() {
            assert_eq!(*archive.event_file(location).unwrap(), **bytes);
            assert_eq!(archive.event_bytes(location), Some(bytes.len() as u64));
        }
    }
}

#[test]
fn sionsplit_finds_the_same_in_made_up_containers() {
    let program = std::env::var_os("REPLAY_SIONSPLIT").unwrap_or_else(|| "sionsplit".into());
    let mut random = Random(11);
    for _ in 0..20 {
        let directory = fresh("judged");
        let written = make_up(&directory, &mut random);
        for (file, expected) in written.iter().enumerate() {
            let parts = directory.join("parts");
            let _ = fs::remove_dir_all(&parts);
            fs::create_dir(&parts).unwrap();
            let container = directory.join(format!("traces/{file}.evt"));
            let Ok(output) = Command::new(&program).arg(container).arg(parts.join("p")).output() else {
                return skip(Need::Sionsplit, format!("{} cannot be started", program.display()));
            };
            assert!(output.status.success(), "{output:?}");
            // Prefix, task, key.
            let found = fs::read_dir(&parts).unwrap().map(|entry| entry.unwrap()).map(|entry| {
                let name = entry.file_name().into_string().unwrap();
                let (_, key) = name.split_once('_').unwrap();
                (key.parse().unwrap(), fs::read(entry.path()).unwrap())
            });
            assert_eq!(found.collect::<BTreeMap<u64, Vec<u8>>>(), *expected);
        }
    }
}

/// Reads all of an archive; the first error.
fn read(directory: &Path) -> Result<(), otf2::Error> {
    let archive = Archive::open(directory)?;
    for rank in 0..2 {
        for thread in 0..3 {
            let location = (thread << 32) | rank;
            archive.event_bytes(location);
            archive.event_file(location)?;
            archive.local_definition_file(location)?;
        }
    }
    Ok(())
}

#[test]
fn cut_or_changed_containers_and_maps_are_errors_with_a_place_or_other_bytes() {
    let directory = copy("damaged");
    let mut random = Random(5);
    for name in ["traces.srm", "traces/0.evt", "traces/0.def"] {
        let (path, whole) = (directory.join(name), fs::read(golden().join(name)).unwrap());
        let check = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let result = read(&directory);
            if let Err(error) = &result {
                let is_inside = error.offset().is_none_or(|offset| offset <= bytes.len() as u64);
                assert!(error.to_string().contains("traces") && is_inside, "{error}");
            }
            result
        };
        // Behind what is read: the rest of the end mark, the number of containers.
        let behind = if name == "traces.srm" { 1 } else { 4 };
        for length in (0..whole.len()).rev().step_by(3) {
            let is_whole = length + behind >= whole.len();
            assert_eq!(check(&whole[..length]).is_ok(), is_whole, "{name} of {length} bytes");
        }
        for _ in 0..500 {
            let mut bytes = whole.clone();
            for _ in 0..=random.below(3) {
                // Most of a container are the bytes of locations.
                let anywhere = random.below(2) == 0;
                let at = random.below(if anywhere { bytes.len() } else { bytes.len().min(60) });
                bytes[at] = random.below(256) as u8;
            }
            let _ = check(&bytes);
        }
        check(&whole).unwrap();
    }
}

/// What is said of SIONlib's archive when a file has other bytes at an offset.
fn said(file: &str, offset: usize, bytes: &[u8]) -> String {
    let directory = copy("said");
    let path = directory.join(file);
    let mut changed = fs::read(&path).unwrap();
    changed[offset..offset + bytes.len()].copy_from_slice(bytes);
    fs::write(path, changed).unwrap();
    read(&directory).unwrap_err().to_string().split_once("traces/0.evt: ").unwrap().1.to_owned()
}

/// Offsets in SIONlib's container: of the first and the last chunk of the first task, and of the second block.
const FIRST: usize = 1280;
const LAST: usize = FIRST + 6 * 1024;
const SECOND: usize = FIRST + 7 * 1024;

#[test]
fn what_no_writer_writes_is_said_with_its_place() {
    for (offset, bytes, expected) in [
        (0, &b"S"[..], "byte 0x0: no SION container: it begins with 53 69 6f 6e, expected 73 69 6f 6e"),
        (4, &[1], "byte 0x10: format 83886080 of SION containers, expected 5: record the archive again"),
        (16, &[4], "byte 0x10: format 4 of SION containers, expected 5"),
        (20, &[0, 0], "byte 0x14: blocks of 0 bytes"),
        (24, &[0xff; 4], "byte 0x18: 4294967295 tasks, which a file of 8580 bytes cannot have"),
        (24, &[0], "byte 0x18: 0 tasks"),
        (40, &[50], "byte 0x24: keys of kind 50 in a SION container, expected 51 (inline)"),
        (1084, &[9], "byte 0x43c: rank 9, and the map of locations names rank 1"),
        (1092, &[0, 0], "byte 0x444: chunks of 0 bytes"),
        (1100, &[0xff; 8], "byte 0x44c: chunks of 18446744073709551615 bytes"),
        (1092, &[0, 4], "byte 0x2160: a chunk of 512 bytes, which is not before the second block"),
        (1108, &[0xff; 4], "byte 0x454: 4294967295 chunks at most, listed from byte 0x2100 on"),
        (1112, &[0; 8], "byte 0x454: the file ends within a SION container: it is incomplete"),
        (1112, &[0xff; 8], "byte 0x454: 7 chunks at most, listed from byte 0xffffffffffffffff on"),
        (SECOND, &[9], "byte 0x2100: 9 chunks, of 7 at most"),
        (SECOND + 16, &[1, 3], "byte 0x2110: 769 bytes in a chunk of 512"),
        (SECOND + 16, &[0, 0], "byte 0x2110: 0 bytes in a chunk of 512"),
        (FIRST + 8, &[0, 0], "byte 0x500: 0 bytes for key 0, expected 1 to 3408"),
        (FIRST + 8, &[0xff; 8], "byte 0x500: 18446744073709551615 bytes for key 0, expected 1 to 3408"),
        (SECOND + 112, &[0x65], "byte 0x1e60: 5 bytes at the end of a task, expected a key and its bytes"),
    ] {
        let said = said("traces/0.evt", offset, bytes);
        assert!(said.starts_with(expected), "{offset}: {said}");
    }
    assert_eq!(LAST + 0x160, 0x1e60);
    let expected = "byte 0x18: 2 tasks, and the map of locations names task 5";
    assert_eq!(said("traces.srm", 52, &[5]), expected);
}
