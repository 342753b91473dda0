//! What is different on a terminal: progress, and the pager.

use std::collections::HashMap;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use show::output::Surroundings;
use skip::{Need, skip};

use crate::conventions::example;
use crate::support::run_in;

/// The program on a terminal of its own, as `script` makes one; both streams come back as one. `None`, with a message, if there is
/// no such program.
fn on_terminal(command: &str) -> Option<Child> {
    let mut script = Command::new("script");
    script.args(["-qec", command, "/dev/null"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let started = script.spawn();
    if started.is_err() {
        skip(Need::System, "replay-show on a terminal: there is no program script (Debian: bsdutils)");
    }
    started.ok()
}

#[test]
fn terminal_shows_how_long_a_command_takes_and_then_no_more() {
    let (directory, path) = example();
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (program, pipe) = (env!("CARGO_BIN_EXE_replay-show"), pipe.to_str().unwrap());
    // It takes until somebody reads the pipe.
    let Some(mut child) = on_terminal(&format!("'{program}' export folded '{path}' -o '{pipe}'")) else {
        return;
    };
    let mut terminal = child.stdout.take().unwrap();
    let (lines, shown) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = terminal.read(&mut bytes) {
            let _ = lines.send(String::from_utf8_lossy(&bytes[..count]).into_owned());
        }
    });
    let mut text = String::new();
    while !text.contains("1s") {
        match shown.recv_timeout(Duration::from_secs(60)) {
            Ok(more) => text += &more,
            Err(_) => break,
        }
    }
    let exported = std::fs::read_to_string(pipe).unwrap();
    assert!(child.wait().unwrap().success() && exported.starts_with("app"), "{exported}");
    assert!(text.contains("1s"), "{text:?}");
    let rest: String = text + &shown.iter().collect::<String>();
    let last = rest.rsplit('\r').next().unwrap();
    assert!(last.replace("\u{1b}[2K", "").is_empty(), "the line is removed: {rest:?}");
}

#[test]
fn long_texts_on_a_terminal_go_through_the_pager() {
    let (directory, path) = example();
    let pager = directory.path().join("pager");
    let seen = directory.path().join("seen");
    std::fs::write(&pager, format!("#!/bin/sh\ncat > '{}'\n", seen.display())).unwrap();
    std::fs::set_permissions(&pager, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let variables = [("REPLAY_PAGER", pager.to_str().unwrap()), ("LANG", "C.UTF-8")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let on = |height| Surroundings {
        terminal: Some((80, height)),
        variables: HashMap::clone(&variables),
        ..Surroundings::default()
    };
    let short = run_in(&on(100), &["tree", &path]);
    assert!(!short.results.is_empty() && !seen.exists());
    let without = run_in(&on(3), &["tree", &path, "--no-pager"]);
    assert!(without.results == short.results && !seen.exists());
    let long = run_in(&on(3), &["tree", &path]);
    assert_eq!(long.results, "");
    assert_eq!(std::fs::read_to_string(seen).unwrap(), short.results);
}
