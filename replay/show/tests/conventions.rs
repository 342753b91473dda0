//! Conventions that hold for all commands: exit status, output for scripts, closed pipes, diagnostics.

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use cubex::{Attribute, Report};
use details::manifest::{BESIDE, MANIFEST, digest};
use serde_json::Value;
use show::output::Surroundings;
use show::status::Status;

use crate::compare::Chain;
use crate::export::judges::judge;
use crate::screens::COMMANDS;
use crate::support::example::{self, Names};
use crate::support::run;

/// A report with everything, and its path.
pub(crate) fn example() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::write(&path, &Names::default(), |_| {});
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

#[test]
fn every_command_prints_json_with_its_schema_and_csv_with_equally_many_fields() {
    let (_directory, path) = example();
    for command in COMMANDS {
        let json = run(80, &[command, &[&path, "--json"]].concat());
        let value: Value = serde_json::from_str(&json.results).unwrap();
        let schema = value["schema"].as_str().unwrap();
        assert!(schema.starts_with("replay-show.") && schema.ends_with("/1"), "{schema}");
        let tsv = run(80, &[command, &[&path, "--tsv"]].concat()).results;
        let fields: Vec<usize> = tsv.lines().map(|line| line.split('\t').count()).collect();
        assert!(fields.len() > 1 && fields.iter().all(|count| *count == fields[0]), "{command:?}:\n{tsv}");
        let csv = run(80, &[command, &[&path, "--csv"]].concat()).results;
        assert_eq!(csv.lines().count(), fields.len(), "{command:?}");
    }
}

#[test]
fn json_of_every_command_follows_its_schema() {
    let (directory, path) = example();
    let log = directory.path().join("log.jsonl");
    let log = log.to_str().unwrap();
    assert_eq!(run(80, &["history", "add", log, &path]).status, Status::Done);
    let mut commands: Vec<Vec<&str>> =
        COMMANDS.iter().map(|command| [command, &[path.as_str()][..]].concat()).collect();
    let of_two = ["diff", &path, &path];
    for more in [&[][..], &["--by", "location"], &["--scaling", "strong"], &["--fail-if", "waiting > +5%"]] {
        commands.push([&of_two, more].concat());
    }
    commands.push(vec!["check", &path, "--fail-if", "waiting > 1%"]);
    commands.push(vec!["history", "show", log]);
    commands.push(vec!["explain", "mpi_latesender"]);
    commands.push(vec!["explain", "--list"]);
    // Of a report without details less is known.
    let foreign = directory.path().join("foreign.cubex");
    example::report(&Names::default()).write(&foreign, &[]);
    let foreign = foreign.to_str().unwrap();
    commands.push(vec![foreign]);
    for command in ["tree", "ranks"] {
        commands.push(vec![command, foreign]);
    }
    commands.push(vec!["diff", foreign, foreign]);
    commands.push(vec!["check", foreign, "--fail-if", "coverage < 50%", "--missing", "pass"]);
    let [advised, none] = ["advised", "none"].map(|name| directory.path().join(format!("{name}.cubex")));
    example::write_with_advice(&advised, &example::advice());
    example::write_with_advice(&none, &example::no_advice());
    let [advised, none] = [&advised, &none].map(|path| path.to_str().unwrap());
    commands.extend([vec![advised], vec![none], vec!["diff", advised, none], vec!["diff", advised, &path]]);
    // Both sides have culprits, and not the same ones.
    let (here, there) = (directory.path().join("here.cubex"), directory.path().join("there.cubex"));
    Chain::default().write(&here);
    Chain { culprits: Some(vec!["MPI_Barrier"]), ..Chain::default() }.write(&there);
    for by in ["path", "region"] {
        commands.push(vec!["diff", here.to_str().unwrap(), there.to_str().unwrap(), "--by", by]);
    }
    let mut files = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/replay-show.json")];
    for (number, command) in commands.iter().enumerate() {
        let file = directory.path().join(format!("{number}.json"));
        let printed = run(80, &[command, &["--json"][..]].concat());
        assert_ne!(printed.status, Status::Failed, "{command:?}: {}", printed.messages);
        std::fs::write(&file, printed.results).unwrap();
        files.push(file);
    }
    let files: Vec<&Path> = files.iter().map(|file| file.as_path()).collect();
    judge("data", "jsonschema", "schema.py", &files);
}

#[test]
fn scripts_get_everything_in_full_precision() {
    let (_directory, path) = example();
    let json = run(80, &["tree", &path, "--json", "-m", "time"]).results;
    let value: Value = serde_json::from_str(&json).unwrap();
    let nodes = value["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 7, "no row is left out");
    assert_eq!(nodes[5]["path"], "app/main/solve/MPI_Recv");
    assert_eq!(nodes[5]["time"].as_f64(), Some(0.050 + 0.060 + 0.070));
    let json = run(80, &[&path, "--json"]).results;
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["schema"], "replay-show.overview/1");
    let action = &value["actions"][0];
    assert_eq!(action["path"], "app/main/solve/work");
    assert_eq!(action["file"], "/home/someone/src/solve.c");
    let id = action["id"].as_str().unwrap();
    // The names of the call path decide, and nothing of the run.
    assert_eq!(id, "balance-8241f21d");
}

#[test]
fn failures_have_status_2_and_say_what_to_do() {
    let (directory, path) = example();
    let nothing = directory.path().join("nothing.cubex");
    let text = directory.path().join("text.cubex");
    std::fs::write(&text, "no report").unwrap();
    let cases: [(&[&str], &str); 9] = [
        (&[nothing.to_str().unwrap()], "cannot open"),
        (&[text.to_str().unwrap()], "text.cubex"),
        (&["tree", &path, "-m", "nonsense"], "replay-show tree --metrics"),
        (&["tree", &path, "--path", "a//b"], "expected names joined by /"),
        (&["ranks", &path, "--by", "topology"], "--by process"),
        (&["ranks", &path, "--path", "nosuch"], "matches no call path"),
        (&["time", &path, "-m", "nonsense"], "compute"),
        (&["waits", &path, "-i", "9"], "the report has 3"),
        (&["matrix", &path, "--comm", "nonsense"], "0 (MPI_COMM_WORLD)"),
    ];
    for (arguments, part) in cases {
        let printed = run(80, arguments);
        assert_eq!(printed.status, Status::Failed, "{arguments:?}");
        assert!(printed.messages.starts_with("replay-show: "), "{}", printed.messages);
        assert!(printed.messages.contains(part), "{part}: {}", printed.messages);
        assert_eq!(printed.results, "");
    }
    assert_eq!(run(80, &["tree"]).status, Status::Failed, "usage");
    assert_eq!(run(80, &["--help"]).status, Status::Done);
    assert_eq!(run(80, &["--version"]).status, Status::Done);
}

#[test]
fn experiment_directory_means_its_best_report() {
    let (directory, path) = example();
    std::fs::rename(path, directory.path().join("scout.cubex")).unwrap();
    let printed = run(80, &["tree", directory.path().to_str().unwrap()]);
    assert_eq!(printed.status, Status::Done, "{}", printed.messages);
    let empty = tempfile::tempdir().unwrap();
    let printed = run(80, &[empty.path().to_str().unwrap()]);
    assert!(printed.messages.contains("trace.cubex, scout.cubex"), "{}", printed.messages);
}

#[test]
fn report_without_details_says_which_table_is_missing_and_how_to_get_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::report(&Names::default()).write(&path, &[]);
    for command in ["time", "iterations", "waits", "matrix"] {
        let printed = run(80, &[command, path.to_str().unwrap()]);
        assert_eq!(printed.status, Status::Failed);
        assert!(printed.messages.contains("no member replay.json"), "{}", printed.messages);
        assert!(printed.messages.contains("replay-analyze"), "{}", printed.messages);
    }
    let printed = run(80, &[path.to_str().unwrap()]);
    assert_eq!((printed.status, printed.messages.as_str()), (Status::Done, ""));
    assert!(printed.results.contains("because of work on rank 0"), "{}", printed.results);
}

#[test]
fn report_of_a_part_of_the_run_says_so_with_every_command() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut report = example::report(&Names::default());
    report.cube.attributes.push(Attribute::new("Replay::Focus", "iterations=3"));
    report.write(&path, &[]);
    let path = path.to_str().unwrap();
    for arguments in [&[path][..], &["tree", path], &["ranks", path], &["diff", path, path]] {
        let printed = run(80, arguments);
        assert_eq!(printed.status, Status::Done, "{}", printed.messages);
        let says = format!("replay-show: {path}: only a part of the run counts: iterations=3\n");
        assert!(printed.messages.contains(&says), "{arguments:?}: {}", printed.messages);
    }
    assert!(
        run(200, &[path]).results.contains("of a part of the run: iterations=3"),
        "{}",
        run(200, &[path]).results
    );
    for command in ["time", "waits", "iterations", "structure", "matrix"] {
        let printed = run(80, &[command, path]);
        assert_eq!(printed.status, Status::Failed);
        assert!(
            printed.messages.contains("replay-analyze without --focus writes them"),
            "{}",
            printed.messages
        );
    }
}

/// Writes a report without details, but which refers to those beside it with this digest of their manifest.
fn write_with_details_beside(path: &Path, digest: Option<String>) {
    let mut report = example::report(&Names::default());
    report.cube.attributes.extend(digest.map(|digest| Attribute::new(BESIDE, digest)));
    report.write(path, &[]);
}

#[test]
fn details_beside_a_report_are_as_good_as_those_in_it() {
    let (directory, inside) = example();
    let report = directory.path().join("beside.cubex");
    let manifest = Report::open(&inside).unwrap().member(MANIFEST).unwrap().unwrap();
    write_with_details_beside(&report, Some(digest(&manifest)));
    // An archive with the members; that it is a report, too, does no harm.
    std::fs::copy(&inside, directory.path().join("beside.details")).unwrap();
    for command in COMMANDS {
        let beside = run(80, &[command, &[report.to_str().unwrap()][..]].concat());
        let inside = run(80, &[command, &[inside.as_str()][..]].concat());
        assert_eq!((beside.results, beside.messages), (inside.results, inside.messages), "{command:?}");
    }
}

#[test]
fn details_beside_another_report_are_never_shown() {
    let (directory, inside) = example();
    let report = directory.path().join("beside.cubex");
    let path = report.to_str().unwrap();
    std::fs::copy(&inside, directory.path().join("beside.details")).unwrap();
    write_with_details_beside(&report, None);
    let time = run(80, &["time", path]);
    assert_eq!(time.status, Status::Failed);
    assert!(time.messages.contains("no member replay.json"), "{}", time.messages);
    assert_eq!(run(80, &["tree", path]).messages, "");
    write_with_details_beside(&report, Some(digest(b"{}")));
    let tree = run(80, &["tree", path]);
    assert_eq!(tree.status, Status::Done);
    assert!(tree.messages.contains("beside.details: details of another report"), "{}", tree.messages);
    assert_eq!(run(80, &["time", path]).status, Status::Failed);
    std::fs::remove_file(directory.path().join("beside.details")).unwrap();
    let tree = run(80, &["tree", path]);
    assert_eq!(tree.status, Status::Done);
    assert!(
        tree.messages.contains("beside.details") && tree.messages.contains("without details"),
        "{}",
        tree.messages
    );
}

/// A reader that has gone away.
struct Gone;

impl Write for Gone {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn reader_that_goes_away_is_no_error() {
    let (_directory, path) = example();
    let mut messages = Vec::new();
    let arguments = ["replay-show", "tree", &path].map(Into::into);
    let status = show::cli::run(arguments, &Surroundings::default(), &mut Gone, &mut messages);
    assert_eq!((status, messages.as_slice()), (Status::Done, &[][..]));
}

#[test]
fn program_ends_with_the_status_and_writes_to_both_streams() {
    let (_directory, path) = example();
    let program = env!("CARGO_BIN_EXE_replay-show");
    let done = Command::new(program).args(["tree", &path]).output().unwrap();
    assert_eq!((done.status.code(), done.stderr.as_slice()), (Some(0), &[][..]));
    let failed = Command::new(program).args(["tree", "nowhere.cubex"]).output().unwrap();
    assert_eq!((failed.status.code(), failed.stdout.as_slice()), (Some(2), &[][..]));
    let mut head = Command::new(program).args(["tree", &path]).stdout(Stdio::piped()).spawn().unwrap();
    drop(head.stdout.take());
    assert_eq!(head.wait().unwrap().code(), Some(0));
}

#[test]
fn diagnostics_are_printed_where_they_are_asked_for_and_wrong_filters_are_refused() {
    let (_directory, path) = example();
    let show = |filter: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replay-show"));
        let printed = command.args(["waits", &path]).env("REPLAY_LOG", filter).output().unwrap();
        (printed.status.code(), printed.stdout, String::from_utf8(printed.stderr).unwrap())
    };
    let usual = show("");
    assert_eq!((usual.0, usual.2.as_str()), (Some(0), ""));
    for filter in ["debug", "show=debug"] {
        let (status, results, messages) = show(filter);
        assert_eq!((status, results), (usual.0, usual.1.clone()));
        for event in
            ["report opened", "table read name=\"instances\"", "command{name=\"waits\"}: show::cli: close"]
        {
            assert!(messages.contains(event), "{filter}: {event} in {messages}");
        }
    }
    assert_eq!(show("replay=debug"), usual);
    let (status, results, messages) = show("shows=debug");
    assert_eq!((status, results), (Some(2), Vec::new()));
    assert!(messages.starts_with("replay-show: REPLAY_LOG is \"shows=debug\", expected "), "{messages}");
}

#[test]
fn manual_pages_and_completions_are_written() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(run(80, &["manual", directory.path().to_str().unwrap()]).status, Status::Done);
    for file in [
        "man/man1/replay-show.1",
        "man/man1/replay-show-tree.1",
        "man/man1/replay-show-explain.1",
        "bash-completion/completions/replay-show",
        "zsh/site-functions/_replay-show",
        "fish/vendor_completions.d/replay-show.fish",
    ] {
        let text = std::fs::read_to_string(directory.path().join(file)).expect(file);
        assert!(text.contains("tree") || text.contains("explain"), "{file}");
    }
}
