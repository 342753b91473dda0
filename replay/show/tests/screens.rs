//! Screens of every command: snapshots of text, and what holds for all widths.

use insta::assert_snapshot;
use show::output::Surroundings;
use show::output::names::width;
use show::status::Status;

use crate::support::example::{self, Names};
use crate::support::{run, run_in};

/// Every command with options that show different things; the file comes last.
pub(crate) const COMMANDS: [&[&str]; 22] = [
    &[],
    &["tree"],
    &["tree", "--min", "0", "--exclusive", "--sort", "value"],
    &["tree", "--flat"],
    &["tree", "--callers"],
    &["tree", "--metrics"],
    &["tree", "-m", "time,mpi", "--path", "**/MPI_*", "--min", "0"],
    &["ranks"],
    &["ranks", "--by", "process", "--top", "2", "-m", "delay"],
    &["ranks", "--by", "node"],
    &["time"],
    &["time", "-m", "compute", "--from", "0.03", "--to", "0.1", "--rows", "2"],
    &["iterations"],
    &["iterations", "--kind", "2", "-m", "time"],
    &["waits"],
    &["waits", "--chain", "-n", "2"],
    &["waits", "-i", "1"],
    &["waits", "-m", "mpi_barrier_wait", "--rank", "0"],
    &["matrix"],
    &["matrix", "-m", "bytes", "--comm", "0", "-n", "1"],
    &["matrix", "--sizes"],
    &["matrix", "--collectives"],
];

/// What the program prints for the example.
fn screen(columns: usize, more: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::write(&path, &Names::default(), |_| {});
    let mut text = String::new();
    for command in COMMANDS {
        let printed = run(columns, &[command, &[path.to_str().unwrap()], more].concat());
        assert_eq!((printed.status, printed.messages.as_str()), (Status::Done, ""), "{command:?}");
        text += &format!("$ replay-show {}\n{}\n", command.join(" "), printed.results);
    }
    text
}

#[test]
fn screens_of_80_columns() {
    assert_snapshot!(screen(80, &[]));
}

#[test]
fn screens_of_160_columns() {
    assert_snapshot!(screen(160, &[]));
}

#[test]
fn screens_in_ascii() {
    let text = screen(80, &["--ascii"]);
    assert!(text.is_ascii());
    assert_snapshot!(text);
}

#[test]
fn screens_in_colour_differ_in_nothing_else() {
    let coloured = screen(80, &["--color", "always"]);
    let mut plain = String::new();
    for piece in coloured.split("\x1b[") {
        plain += piece
            .split_once('m')
            .filter(|(code, _)| code.chars().all(|it| it.is_ascii_digit()))
            .map_or(piece, |it| it.1);
    }
    // Spaces at the end of a line may be coloured.
    let trimmed = |text: &str| text.lines().map(|line| line.trim_end().to_owned() + "\n").collect::<String>();
    assert_eq!(trimmed(&plain), trimmed(&screen(80, &[])));
    assert!(coloured.contains("\x1b[1m"));
}

#[test]
fn explanations() {
    let printed = run(80, &["explain", "mpi_latesender"]);
    assert_snapshot!(printed.results);
    assert!(run(60, &["explain", "--list"]).results.contains("mpi_lswo_same"));
    assert_eq!(run(80, &["explain", "waiting"]).status, Status::Done);
    let printed = run(80, &["explain", "mpi_late"]);
    assert_eq!(printed.status, Status::Failed);
    assert!(printed.messages.contains("mpi_latesender"), "{}", printed.messages);
}

#[test]
fn numbers_are_whole_and_lines_fit_down_to_20_columns() {
    let wide = screen(160, &[]);
    for columns in [20, 21, 25, 33, 40, 57, 80, 120] {
        let text = screen(columns, &[]);
        for line in text.lines().filter(|line| !line.starts_with("$ replay-show")) {
            assert!(width(line) <= columns, "{columns} columns: {line:?} in\n{text}");
        }
        // Every number with its unit that the wide screen shows is there.
        for number in ["0.334 s", "0.180 s", "0.0700 s", "0.060 s"] {
            if wide.contains(number) {
                assert!(text.contains(number), "{columns} columns: no {number} in\n{text}");
            }
        }
    }
}

#[test]
fn colour_follows_the_environment() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::write(&path, &Names::default(), |_| {});
    let of = |variables: &[(&str, &str)]| {
        let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let surroundings = Surroundings { variables: variables.collect(), ..Surroundings::default() };
        run_in(&surroundings, &[path.to_str().unwrap()]).results.contains('\x1b')
    };
    assert!(!of(&[]));
    assert!(of(&[("CLICOLOR_FORCE", "1")]));
    assert!(!of(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn metrics_are_explained_by_title_too() {
    let [by_name, by_title] = ["mpi_latesender", "late sender"].map(|name| run(80, &["explain", name]));
    assert_eq!((by_title.status, by_title.results), (Status::Done, by_name.results));
}

#[test]
fn help_is_a_command() {
    for arguments in [&["help"][..], &["help", "waits"]] {
        let printed = run(80, arguments);
        assert_eq!(printed.status, Status::Done, "{}", printed.messages);
        assert!(printed.results.contains("Usage: replay-show"), "{}", printed.results);
    }
}
