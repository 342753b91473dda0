//! Records of files, and their attributes, have the program's values.

use std::fs;

use crate::support::archive;
use crate::support::record::{Invocation, Subject};
use crate::support::words::attributes;

#[test]
fn views_hints_and_sizes_of_files_are_attributes_of_calls() {
    let Some(subject) = Subject::new("views", "files/views.c", 2, &[]) else { return };
    subject.run_recorded(Invocation::InFront).expect_success();
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);
    let names = ["View", "ViewEtype", "ViewSize", "ViewExtent", "ViewPieces", "ViewType", "Hints", "FileSize"];
    let found = attributes(experiment, &names);
    for rank in 0..2 {
        let promised = fs::read_to_string(subject.folder.join(format!("promised.{rank}"))).unwrap();
        let promised: Vec<&str> = promised.lines().collect();
        assert_eq!(promised.len(), 23);
        assert_eq!(found[&rank], promised);
    }
    // The file is deleted when it is closed for the second time.
    let counts = archive::counts(experiment);
    assert_eq!((counts["IoDestroyHandle"], counts["IoDeleteFile"]), (4, 2));
}
