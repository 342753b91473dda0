//! The map of locations and a SION container: of each location the same bytes each time, no more than the container has, or
//! one line that says why not.

#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use otf2::{Anchor, Archive};
use replay_fuzz::{Input, check_error, scratch};

const MAP: &[u8] = include_bytes!("../../formats/otf2/tests/sion/traces.srm");
const CONTAINER: &[u8] = include_bytes!("../../formats/otf2/tests/sion/traces/0.evt");

/// The locations of these files, and one that they do not have.
const LOCATIONS: [u64; 7] = [0, 1, 1 << 32, 1 << 32 | 1, 2 << 32, 2 << 32 | 1, 2];

// The first byte chooses the file, the second the damage: 0 it is replaced by the rest of the input, 1 bytes are
// changed at offsets from the input, 2 it is cut there.
fuzz_target!(|input: &[u8]| {
    let mut input = Input(input);
    let mut files = [MAP.to_vec(), CONTAINER.to_vec()];
    let changed = &mut files[usize::from(input.byte() % 2)];
    match input.byte() % 3 {
        0 => *changed = input.0.to_vec(),
        1 => {
            while !input.0.is_empty() {
                let place = input.number() % changed.len();
                changed[place] = input.byte();
            }
        }
        _ => changed.truncate(input.number()),
    }
    let [map, container] = files;
    let directory = scratch().join("sion");
    let path = directory.join("traces.otf2");
    let anchor = Anchor { substrate: 2, ..Anchor::default() };
    fs::create_dir_all(directory.join("traces")).expect("there is room");
    fs::write(&path, anchor.encode(&path).expect("a valid anchor")).expect("there is room");
    fs::write(directory.join("traces.srm"), &map).expect("there is room");
    fs::write(directory.join("traces/0.evt"), &container).expect("there is room");
    let archive = match Archive::open(&directory) {
        Ok(archive) => archive,
        Err(error) => return check_error(&error, &map),
    };
    for location in LOCATIONS {
        let bytes = archive.event_bytes(location);
        match archive.event_file(location) {
            Ok(file) => {
                assert_eq!(bytes, Some(file.len() as u64));
                assert!(!file.is_empty() && file.len() <= container.len());
                assert_eq!(*file, *archive.event_file(location).expect("the same file"));
            }
            Err(error) => {
                assert_eq!(bytes, None);
                check_error(&error, &container);
            }
        }
    }
});
