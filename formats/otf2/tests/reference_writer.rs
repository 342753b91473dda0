//! Writing with the OTF2 library: it writes the same legacy codes, the one choice of the format that is a
//! table.

use crate::archives::{assert_equal_files, reencode};
use crate::lines::{output, python};
use crate::support::fresh;
use std::path::Path;
use std::process::Command;

#[test]
fn legacy_codes_are_those_of_the_library() {
    let Some(python) = python() else { return };
    let directory = fresh("legacy");
    let (theirs, ours) = (directory.join("theirs"), directory.join("ours"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference_writer.py");
    let Some(_) = output(Command::new(python).arg(script).arg(&theirs)) else { return };
    reencode(&theirs, &ours.join("traces.otf2"), None).unwrap();
    assert_equal_files(&theirs, &ours);
}
