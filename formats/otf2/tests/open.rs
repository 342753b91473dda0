//! Opening archives: which file is chosen, and the message about a missing one.

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
fn what_is_no_regular_file_is_not_opened() {
    let message = Archive::open("/dev/null").unwrap_err().to_string();
    assert_eq!(message, "/dev/null: cannot read the file: it is not a regular file");
}

#[test]
fn paths_are_made_of_anchor_and_location() {
    let directory = fresh("paths");
    fs::copy(real_archives()[0].join("traces.otf2"), directory.join("a.b.otf2")).unwrap();
    let archive = Archive::open(&directory).unwrap();
    assert_eq!(archive.anchor_path(), directory.join("a.b.otf2"));
    assert_eq!(archive.definition_path(), directory.join("a.b.def"));
    assert_eq!(archive.event_path(7), directory.join("a.b/7.evt"));
    assert_eq!(archive.local_definition_path(7), directory.join("a.b/7.def"));
}

#[test]
fn local_definitions_that_cannot_be_read_are_an_error() {
    let directory = fresh("unreadable");
    fs::copy(real_archives()[0].join("traces.otf2"), directory.join("traces.otf2")).unwrap();
    fs::create_dir_all(directory.join("traces/0.def")).unwrap();
    let error = Archive::open(&directory).unwrap().local_definitions(0).unwrap_err();
    assert_eq!(error.path(), directory.join("traces/0.def"));
    assert!(error.to_string().ends_with("cannot read the file: it is not a regular file"), "{error}");
}

#[test]
fn missing_files_of_a_location_are_told_apart_from_broken_ones() {
    let archive = Archive::open(&real_archives()[0]).unwrap();
    let nowhere = u64::MAX - 1;
    assert!(archive.event_file(nowhere).unwrap_err().is_not_found());
    assert_eq!(archive.event_bytes(nowhere), None);
    assert!(archive.local_definitions(nowhere).unwrap().clock.is_identity());
}
