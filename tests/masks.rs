//! Classes of time: the table of MPI functions agrees with the name masks of the specification.

use std::collections::BTreeSet;

use model::mpi::{Class, functions};

const SPECIFICATION: &str = include_str!("../docs/specification.md");

/// All names that match a pattern such as `MPI_{Test,Wait}{,all}` or `MPI_File_[i]read[_at,_shared]`: of the
/// words in braces exactly one, of those in brackets at most one.
fn expand(pattern: &str) -> Vec<String> {
    let Some(open) = pattern.find(['{', '[']) else { return vec![pattern.to_string()] };
    let close = open + pattern[open..].find(['}', ']']).expect("what is opened is closed");
    let (before, after) = (&pattern[..open], &pattern[close + 1..]);
    let none = pattern[open..].starts_with('[').then_some("");
    let words = pattern[open + 1..close].split(',').chain(none);
    words.flat_map(|word| expand(&format!("{before}{word}{after}"))).collect()
}

/// The names of MPI functions in the row of a mask.
fn selected(mask: &str) -> BTreeSet<String> {
    let row = SPECIFICATION.lines().find(|line| line.starts_with(&format!("| {mask} |")));
    let row = row.unwrap_or_else(|| panic!("docs/specification.md: no mask {mask}"));
    let quoted = row.split('`').skip(1).step_by(2);
    quoted.filter(|word| word.starts_with("MPI_")).flat_map(expand).collect()
}

#[test]
fn classes_of_functions_are_those_that_masks_select_by_name() {
    use Class::*;
    let masks: [(&str, &[Class]); 9] = [
        ("init/finalize", &[Init, Finalize, Initialized]),
        ("communicator", &[CommunicatorAlone, CommunicatorTogether]),
        ("file management", &[FileAlone, FileTogether]),
        ("window", &[Window]),
        ("RMA active / passive", &[ActiveTarget, PassiveTarget]),
        ("point-to-point", &[Test, WaitOne, WaitMany]),
        ("RMA comm", &[Put, Get]),
        ("file individual", &[FileRead, FileWrite]),
        ("file collective", &[FileReadTogether, FileWriteTogether]),
    ];
    for (mask, classes) in masks {
        let of_classes = functions().iter().filter(|function| classes.contains(&function.class));
        let names: BTreeSet<String> = of_classes.map(|function| function.name.to_string()).collect();
        assert_eq!(names, selected(mask), "{mask}");
    }
}
