//! The explorer on a terminal, which tmux makes: it is given back as it was, whatever ends the program.

use std::process::Command;
use std::time::{Duration, Instant};

use skip::{Need, skip};

use crate::conventions::example;

/// A server of tmux with one terminal, and a shell in it.
struct Tmux {
    name: String,
}

impl Tmux {
    /// Starts it; `None`, with a message, where there is no tmux.
    fn start(name: &str) -> Option<Tmux> {
        let tmux = Tmux { name: format!("replay-{name}-{}", std::process::id()) };
        let shell = "env -i PATH=\"$PATH\" LANG=C.UTF-8 TERM=screen PS1='ready> ' sh";
        if Command::new("tmux").arg("-V").output().is_err() {
            skip(Need::System, "explore on a terminal: there is no tmux");
            return None;
        }
        tmux.command(&["-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", shell]);
        tmux.wait_for("ready>");
        Some(tmux)
    }

    fn command(&self, arguments: &[&str]) -> String {
        let output = Command::new("tmux").args(["-L", &self.name]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn screen(&self) -> String {
        self.command(&["capture-pane", "-p"])
    }

    /// Types a text, and keys by their names.
    fn keys(&self, keys: &[&str]) {
        self.command(&[&["send-keys"], keys].concat());
    }

    fn wait_for(&self, text: &str) {
        let begin = Instant::now();
        while !self.screen().contains(text) {
            assert!(begin.elapsed() < Duration::from_secs(60), "no {text:?} in\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether the screen of programs is on, and whether there is a cursor.
    fn modes(&self) -> String {
        self.command(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]).trim().to_owned()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // It may have ended with its shell.
        let _ = Command::new("tmux").args(["-L", &self.name, "kill-server"]).output();
    }
}

/// Runs the explorer, ends it, and checks that the terminal is as before and the status as expected.
fn terminal_is_given_back(name: &str, status: &str, end: impl FnOnce(&Tmux, &str)) {
    let (directory, path) = example();
    let Some(tmux) = Tmux::start(name) else { return };
    let (before, after) = (directory.path().join("before"), directory.path().join("after"));
    let pid = directory.path().join("pid");
    tmux.keys(&["-l", &format!("stty -a > '{}'", before.display())]);
    tmux.keys(&["Enter"]);
    let program = env!("CARGO_BIN_EXE_replay-show");
    let start = format!("sh -c 'echo $$ > {}; exec {program} explore {path}'; echo status=$?", pid.display());
    tmux.keys(&["-l", &start]);
    tmux.keys(&["Enter"]);
    tmux.wait_for("Metrics");
    tmux.wait_for("0.240 s");
    assert_eq!(tmux.modes(), "1 0", "the explorer has the screen, without a cursor");
    tmux.keys(&["Down"]);
    tmux.wait_for("Calls: time");
    end(&tmux, std::fs::read_to_string(&pid).unwrap().trim());
    tmux.wait_for(&format!("status={status}"));
    assert_eq!(tmux.modes(), "0 1");
    tmux.keys(&["-l", &format!("stty -a > '{}'; echo done", after.display())]);
    tmux.keys(&["Enter"]);
    tmux.wait_for("\ndone");
    let [before, after] = [before, after].map(|path| std::fs::read_to_string(path).unwrap());
    assert_eq!(before, after);
}

#[test]
fn q_gives_the_terminal_back() {
    terminal_is_given_back("q", "0", |tmux, _| tmux.keys(&["q"]));
}

#[test]
fn ctrl_c_gives_the_terminal_back() {
    terminal_is_given_back("c", "0", |tmux, _| tmux.keys(&["C-c"]));
}

#[test]
fn signals_give_the_terminal_back() {
    terminal_is_given_back("term", "143", |_, pid| {
        assert!(Command::new("kill").args(["-TERM", pid]).status().unwrap().success());
    });
}

#[test]
fn explorer_ends_with_its_terminal() {
    let (directory, path) = example();
    let Some(tmux) = Tmux::start("hangup") else { return };
    let pid = directory.path().join("pid");
    let program = env!("CARGO_BIN_EXE_replay-show");
    let start = format!("sh -c 'echo $$ > {}; exec {program} explore {path}'", pid.display());
    tmux.keys(&["-l", &start]);
    tmux.keys(&["Enter"]);
    tmux.wait_for("0.240 s");
    let pid = std::fs::read_to_string(&pid).unwrap();
    let process = std::path::Path::new("/proc").join(pid.trim());
    assert!(process.exists());
    drop(tmux);
    let begin = Instant::now();
    while process.exists() {
        assert!(begin.elapsed() < Duration::from_secs(30), "it goes on without a terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
}
