//! Which file is the archive, and what a missing one says.

use crate::support::{fresh, real_archives};
use otf2::Archive;
use std::fs;

#[test]
fn anchor_is_found_in_directory_by_name_or_alone() {
    let archive = &real_archives()[0];
    assert_eq!(Archive::open(archive).unwrap().name(), "traces");
    assert_eq!(Archive::open(archive.join("traces.otf2")).unwrap().directory(), archive);
    let directory = fresh("alone");
    fs::copy(archive.join("traces.otf2"), directory.join("other.otf2")).unwrap();
    assert_eq!(Archive::open(&directory).unwrap().name(), "other");
    fs::copy(archive.join("traces.otf2"), directory.join("another.otf2")).unwrap();
    let message = Archive::open(&directory).unwrap_err().to_string();
    assert!(message.contains("2: name the anchor file"), "{message}");
}

#[test]
fn directory_without_anchor_and_foreign_file_say_so() {
    let directory = fresh("empty");
    let message = Archive::open(&directory).unwrap_err().to_string();
    assert!(
        message.contains("not an OTF2 archive: the directory has no traces.otf2 and no other *.otf2"),
        "{message}"
    );
    fs::write(directory.join("traces.otf2"), "no archive").unwrap();
    let message = Archive::open(&directory).unwrap_err().to_string();
    assert!(message.contains("not an OTF2 anchor file"), "{message}");
    let message = Archive::open(directory.join("none.otf2")).unwrap_err().to_string();
    assert!(
        message.ends_with("name an experiment directory, or the anchor file (*.otf2) in it"),
        "{message}"
    );
}

#[test]
fn missing_files_of_a_location_are_told_apart_from_broken_ones() {
    let archive = Archive::open(&real_archives()[0]).unwrap();
    let nowhere = u64::MAX - 1;
    assert!(archive.event_file(nowhere).unwrap_err().is_not_found());
    assert_eq!(archive.event_bytes(nowhere), None);
    assert!(archive.local_definitions(nowhere).unwrap().clock.is_identity());
}
