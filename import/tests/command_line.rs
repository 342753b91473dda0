//! The program: what it prints, its exit status, and which files it leaves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use skip::{Need, skip};

use crate::support::LABELS;

const RECORDS: &str = "#Paraver (30/11/2026 at 12:00):26_ns:1(2):1:2(1:1,1:1),2\nc:1:1:1:2\nc:1:7:2:1:2\n2:1:1:1:1:10:50000001:1\n\
    3:1:1:1:1:10:20:2:1:2:1:5:25:64:7\n2:1:1:1:1:20:50000001:0\n2:1:1:2:1:5:50000001:2\n2:1:1:2:1:25:50000001:0\n\
    2:1:1:2:1:26:50000001:2\n";

/// A trace in a directory, with its labels.
fn trace(directory: &Path) -> PathBuf {
    let path = directory.join("jacobi.prv");
    fs::write(&path, RECORDS).unwrap();
    fs::write(path.with_extension("pcf"), LABELS).unwrap();
    path
}

fn run(file: &Path, output: &Path, options: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_replay-import");
    Command::new(program).arg(file).arg("-o").arg(output).args(options).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_line_has_the_size_and_others_what_is_not_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let (file, output) = (trace(directory.path()), directory.path().join("exp"));
    let done = run(&file, &output, &[]);
    let printed = String::from_utf8_lossy(&done.stdout).into_owned();
    let expected = "2 ranks, 2 locations, 12 events, 1 messages from ";
    assert!(done.status.success() && printed.starts_with(expected), "{printed}{}", said(&done));
    assert_eq!(said(&done), "replay-import: 1 call has no end: it ends with the trace\n");
    assert!(output.join("traces.otf2").is_file());
    // The same bytes again.
    let other = directory.path().join("other");
    run(&file, &other, &[]);
    for name in ["traces.otf2", "traces.def", "traces/0.evt", "traces/1.evt"] {
        assert_eq!(fs::read(output.join(name)).unwrap(), fs::read(other.join(name)).unwrap(), "{name}");
    }
}

#[test]
fn only_experiments_are_replaced_and_only_if_asked() {
    let directory = tempfile::tempdir().unwrap();
    let (file, output) = (trace(directory.path()), directory.path().join("exp"));
    assert!(run(&file, &output, &[]).status.success());
    let refused = run(&file, &output, &[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("--force"), "{}", said(&refused));
    fs::write(output.join("trace.cubex"), "old").unwrap();
    assert!(run(&file, &output, &["--force"]).status.success());
    assert!(!output.join("trace.cubex").exists(), "the old report is of the old trace");
    let other = directory.path().join("other");
    fs::create_dir(&other).unwrap();
    assert_eq!(run(&file, &other, &["--force"]).status.code(), Some(2));
}

#[test]
fn messages_say_where_what_and_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let (file, output) = (trace(directory.path()), directory.path().join("exp"));
    let missing = said(&run(&directory.path().join("none.prv"), &output, &[]));
    assert!(missing.contains("none.prv: cannot read the trace: No such file"), "{missing}");
    fs::write(&file, RECORDS.replace("2:1:1:2:1:25:", "2:1:1:3:1:25:")).unwrap();
    let wrong = said(&run(&file, &output, &[]));
    let byte = RECORDS.find("1:2:1:25:").unwrap();
    let expected =
        format!("jacobi.prv: line 8, byte {byte}: found application 1, task 3, thread 1, expected those");
    assert!(wrong.contains(&expected), "{wrong}");
    fs::remove_file(file.with_extension("pcf")).unwrap();
    let unlabelled = run(&file, &output, &[]);
    assert_eq!(unlabelled.status.code(), Some(2));
    assert!(said(&unlabelled).contains("jacobi.pcf: cannot read the labels"), "{}", said(&unlabelled));
    let names: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["jacobi.prv"]);
}

#[test]
fn labels_of_something_else_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (file, output) = (trace(directory.path()), directory.path().join("exp"));
    let foreign = "EVENT_TYPE\n0 60000019 User function\nVALUES\n1 main\n";
    for (labels, what) in
        [("", "no names"), ("\0x\n9 50000001\n", "no names"), (foreign, "no function of MPI")]
    {
        fs::write(file.with_extension("pcf"), labels).unwrap();
        let refused = run(&file, &output, &[]);
        assert_eq!(refused.status.code(), Some(2));
        let expected = format!("jacobi.pcf: found {what}");
        let said = said(&refused);
        assert!(
            said.contains(&expected) && said.contains("expected EVENT_TYPE and VALUES of 50000001"),
            "{said}"
        );
        assert!(!output.exists());
    }
}

#[test]
fn the_trace_is_to_blame_before_its_labels() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("exp");
    let file = directory.path().join("a.prv");
    let a_directory = said(&run(directory.path(), &output, &[]));
    assert!(a_directory.contains("cannot read the trace: Is a directory"), "{a_directory}");
    assert!(a_directory.contains("give the FILE.prv or FILE.prv.gz in it"), "{a_directory}");
    for text in ["", "x", "\n"] {
        fs::write(&file, text).unwrap();
        let wrong = said(&run(&file, &output, &[]));
        assert!(wrong.contains("a.prv: line ") && wrong.contains("expected a header as"), "{wrong}");
    }
    fs::write(&file, "").unwrap();
    let empty = said(&run(&file, &output, &[]));
    assert!(empty.contains("a.prv: line 1, byte 0: found the end of the file, expected a header"), "{empty}");
    fs::write(&file, RECORDS).unwrap();
    fs::create_dir(file.with_extension("pcf")).unwrap();
    let labels = said(&run(&file, &output, &[]));
    assert!(labels.contains("a.pcf: cannot read the labels of the trace: Is a directory"), "{labels}");
    assert!(labels.contains("copy the file that lies beside the trace"), "{labels}");
}

#[test]
fn otf2_print_reads_the_archive_without_complaint() {
    let directory = tempfile::tempdir().unwrap();
    let (file, output) = (trace(directory.path()), directory.path().join("exp"));
    assert!(run(&file, &output, &[]).status.success());
    let mut definitions = Command::new("otf2-print");
    definitions.arg("-G").arg(output.join("traces.otf2"));
    let mut events = Command::new("otf2-print");
    events.arg(output.join("traces.otf2"));
    for mut command in [definitions, events] {
        let Ok(printed) = command.output() else {
            return skip(Need::Otf2Print, "otf2-print is not installed");
        };
        let text = String::from_utf8_lossy(&printed.stdout).into_owned();
        assert!(printed.status.success() && printed.stderr.is_empty(), "{}", said(&printed));
        assert!(text.contains("MPI_Recv"), "{text}");
    }
}

#[test]
fn manual_and_completions_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_replay-import");
    let done = Command::new(program).arg("--manual").arg(directory.path()).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    let page = fs::read_to_string(directory.path().join("man/man1/replay-import.1")).unwrap();
    assert!(page.contains("replay\\-import") && page.contains("\\-\\-force"), "{page}");
}
