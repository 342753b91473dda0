//! Command line of the generator: one line on success, status 2 and a message otherwise.

use std::path::Path;
use std::process::{Command, Output};

use skip::{Need, skip};

fn run(directory: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_replay-generate"));
    command.args(arguments.split_whitespace()).arg(directory.join("trace")).output().unwrap()
}

#[test]
fn one_line_says_how_large_the_trace_is() {
    let directory = tempfile::tempdir().unwrap();
    let options = "--ranks 2 --events 100 --pattern hybrid --threads 3 --seed 5 --drift 20 --chunk 262144";
    let output = run(directory.path(), options);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let line = String::from_utf8(output.stdout).unwrap();
    assert!(line.starts_with("2 ranks, 6 locations, ") && line.ends_with(" s\n"), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    let archive = otf2::Archive::open(directory.path().join("trace")).unwrap();
    assert_eq!(archive.anchor().event_chunk_size, 262_144);
}

#[test]
fn diagnostics_come_if_they_are_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    let run = |filter: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replay-generate"));
        command.args(["--ranks=3", "--events=100", "--pattern=compute"]).arg(&trace);
        let output = command.env("REPLAY_LOG", filter).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, message) = run("generate=loud");
    assert!(message.starts_with("replay-generate: REPLAY_LOG is \"generate=loud\", expected "), "{message}");
    assert_eq!((status, message.lines().count(), trace.exists()), (Some(2), 1, false));
    let (status, said) = run("debug");
    assert_eq!(
        (status, said.matches(" DEBUG generate: event file written ").count()),
        (Some(0), 3),
        "{said}"
    );
}

#[test]
fn output_that_cannot_be_written_is_told_with_status_1_if_there_is_a_trace() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    for (arguments, status) in [
        (&["--help"][..], 2),
        (&["--version"], 2),
        (&["--ranks=1", "--events=100", "--pattern=compute", trace.to_str().unwrap()], 1),
    ] {
        let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
            skip(Need::System, "output that cannot be written: there is no /dev/full");
            return;
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_replay-generate"));
        let output = command.args(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.starts_with("replay-generate: cannot write to standard output: No space"), "{stderr}");
    }
    otf2::Archive::open(trace).unwrap();
}

#[test]
fn bad_use_ends_with_status_2_and_a_message() {
    let directory = tempfile::tempdir().unwrap();
    for (options, message) in [
        ("", "required arguments"),
        ("--ranks 1 --events 1 --iterations 1 --pattern ring", "--iterations"),
        ("--ranks 1 --iterations 0 --pattern ring", "--iterations"),
        ("--ranks 1 --call-sites --pattern hybrid", "replay-generate: hybrid has threads"),
        ("--ranks 1 --slow 1:2:3 --pattern ring", "replay-generate: ring does not have --slow"),
        ("--ranks 4 --slow 4:2:3 --pattern iterations", "no such slow rank among 4"),
        ("--ranks 4 --slow 3:301:3 --pattern iterations", "or iteration among 300"),
        ("--ranks 4 --every 7 --pattern iterations", "expected NUMBER:FACTOR"),
        ("--ranks 0 --events 1 --pattern ring", "--ranks"),
        ("--ranks 1 --events 1 --pattern rings", "a similar value exists: 'ring'"),
        ("--ranks 1 --events 1 --pattern ring --chunk 5", "--chunk"),
        ("--ranks 1 --events 1 --pattern ring --clock-error 5", "--drift"),
        (
            "--ranks 1 --events 1 --pattern ring --threads 2",
            "replay-generate: ranks of ring have one thread each",
        ),
        ("--ranks 1 --events 1 --pattern ping-pong", "replay-generate: ping-pong needs 2 ranks or more"),
    ] {
        let output = run(directory.path(), options);
        assert_eq!(output.status.code(), Some(2), "{options}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(message), "{options}: {stderr}");
        assert!(output.stdout.is_empty() && !directory.path().join("trace").exists(), "{options}");
    }
}

#[test]
fn directories_that_exist_stay_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let good = "--ranks 1 --events 100 --pattern compute";
    assert_eq!(run(directory.path(), good).status.code(), Some(0));
    let again = run(directory.path(), good);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8(again.stderr).unwrap().contains("exists already"));
}

#[test]
fn help_has_all_patterns() {
    let output = Command::new(env!("CARGO_BIN_EXE_replay-generate")).arg("--help").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8(output.stdout).unwrap();
    for pattern in generate::PATTERNS {
        assert!(help.contains(&format!("\n  {}", pattern.name)), "{help}");
    }
}
