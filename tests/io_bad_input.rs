//! Records of files that cannot be right: findings or bounded fallbacks of the model of file I/O, and never a panic.

use std::fmt::Write;

use io_model::{Finding, Model, Origin};

use crate::io_views::model;

/// A run of one rank that does this between 20 and 9,000.
fn rank(doing: &str) -> String {
    format!(
        "resolution 1000\nprogram prog\nfile f world\nrank 0\n 0 > main ; > MPI_Init ; 10 <\n {doing}\n \
         9000 > MPI_Finalize ; 9010 < ; <\n"
    )
}

const OPEN: &str = "20 > MPI_File_open ; create f ; 30 < ;";
const CLOSE: &str = "8000 > MPI_File_close ; destroy f ; 8010 <";

fn found(script: &str) -> (Model, Vec<(Finding, u64)>) {
    let model = model(script).0;
    let findings = model.findings.0.iter().map(|(finding, count)| (*finding, *count)).collect();
    (model, findings)
}

fn write(at: u64, what: &str, bytes: u64) -> String {
    format!(
        "{at} > MPI_File_write_at ; {what} : transfer f id 1 flags 0 bytes {bytes} ; {} transferred f id 1 bytes {bytes} ; < ;",
        at + 1
    )
}

#[test]
fn operation_on_a_handle_that_was_never_opened_is_left_out() {
    let (model, findings) = found(&rank(&write(100, "with offset 0", 8)));
    assert_eq!((model.bytes(), model.phases.len()), (0, 0));
    assert!(findings.iter().any(|(finding, _)| *finding == Finding::NotOpen), "{findings:?}");
}

#[test]
fn handle_that_is_closed_twice_ends_once() {
    let script = rank(&format!(
        "{OPEN} {} {CLOSE} ; 8020 > MPI_File_close ; destroy f ; 8030 <",
        write(100, "with offset 0", 8)
    ));
    let (model, findings) = found(&script);
    assert_eq!((model.bytes(), findings), (8, vec![(Finding::NotOpen, 1)]));
}

#[test]
fn handle_that_is_never_closed_has_its_operations() {
    let (model, findings) = found(&rank(&format!("{OPEN} {}", write(100, "with offset 0", 8))));
    assert_eq!((model.bytes(), findings), (8, vec![]));
}

#[test]
fn offsets_beyond_what_files_have_are_unknown() {
    for offset in [1 << 63, u64::MAX - 1, u64::MAX] {
        let (model, findings) =
            found(&rank(&format!("{OPEN} {} {CLOSE}", write(100, &format!("with offset {offset}"), 8))));
        assert_eq!((model.bytes(), model.families[0].file), (8, Origin::Unknown), "{offset}");
        assert_eq!(findings, [(Finding::UnknownOffset, 1)], "{offset}");
    }
    // The same where only the view takes it there.
    let view = "40 > MPI_File_set_view ; 50 with file f view 9223372036854775000 etype 4096 type b4096 : < ;";
    let (model, findings) =
        found(&rank(&format!("{OPEN} {view} {} {CLOSE}", write(100, "with offset 1", 4096))));
    assert_eq!((model.families[0].file, findings), (Origin::Unknown, vec![(Finding::UnknownOffset, 1)]));
}

#[test]
fn view_whose_pieces_overlap_keeps_sizes_and_places() {
    let view = "40 > MPI_File_set_view ; 50 with file f view 0 etype 1 type x(8@0,8@4|b1) : < ;";
    let (model, findings) =
        found(&rank(&format!("{OPEN} {view} {} {CLOSE}", write(100, "with offset 0", 32))));
    assert_eq!((model.bytes(), findings), (32, vec![]));
    let heat = model.heat.as_ref().unwrap();
    // Two tiles of 16 bytes that lie in 12.
    assert_eq!((heat.places.low, heat.places.high), (0, 24));
}

#[test]
fn operations_that_never_complete_or_are_cancelled_are_left_out() {
    let begun = "100 > MPI_File_iwrite_at ; with offset 0 : transfer f id 1 flags 1 bytes 8 ; 101 < ;";
    let cancelled = "200 > MPI_File_iwrite_at ; with offset 8 : transfer f id 2 flags 1 bytes 8 ; 201 < ; \
                     300 > MPI_Wait ; cancelled f id 2 ; 301 < ;";
    let (model, findings) =
        found(&rank(&format!("{OPEN} {begun} {cancelled} {} {CLOSE}", write(400, "with offset 16", 8))));
    assert_eq!((model.bytes(), model.phases.len()), (8, 1));
    assert_eq!(findings, [(Finding::NeverComplete, 2)]);
}

#[test]
fn operation_of_unknown_size_is_left_out() {
    let unknown = format!(
        "100 > MPI_File_write_at ; with offset 0 : transfer f id 1 flags 0 bytes {0} ; 101 transferred f id 1 bytes {0} ; < ;",
        u64::MAX
    );
    let (model, findings) = found(&rank(&format!("{OPEN} {unknown} {CLOSE}")));
    assert_eq!((model.bytes(), findings), (0, vec![(Finding::UnknownBytes, 1)]));
}

#[test]
fn very_many_operations_of_a_byte_are_one_phase() {
    let mut doing = OPEN.to_owned();
    for at in 0..20_000 {
        let time = 40 + at / 10;
        write!(
            doing,
            " {time} > MPI_File_write ; transfer f id 1 flags 0 bytes 1 ; transferred f id 1 bytes 1 ; < ;"
        )
        .unwrap();
    }
    let (model, findings) = found(&rank(&format!("{doing} {CLOSE}")));
    assert_eq!((model.phases.len(), model.bytes(), findings), (1, 20_000, vec![]));
    assert_eq!((model.phases[0].rep, model.phases[0].positions[0].rs), (20_000, 1));
}
