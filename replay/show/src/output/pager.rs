//! Pager: long texts on a terminal go through `less` or what the user prefers.

use std::io::{self, ErrorKind, Write};
use std::process::{Child, Command, Stdio};

use super::screen::Surroundings;

/// Shows a text that is longer than the terminal in a pager. Returns whether it did; if not, somebody else has to print it.
pub(super) fn show(text: &str, surroundings: &Surroundings) -> io::Result<bool> {
    let Some((_, height)) = surroundings.terminal else { return Ok(false) };
    if text.lines().count() < height {
        return Ok(false);
    }
    let name = surroundings.variable("REPLAY_PAGER").or_else(|| surroundings.variable("PAGER"));
    let Some(mut pager) = start(name.unwrap_or("less"), surroundings) else { return Ok(false) };
    let written = match pager.stdin.take() {
        Some(mut input) => input.write_all(text.as_bytes()),
        None => Ok(()),
    };
    pager.wait()?;
    match written {
        // The user has seen enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(true),
    }
}

/// Starts a pager, which may have arguments; `None` if there is none, or it cannot be started.
fn start(command: &str, surroundings: &Surroundings) -> Option<Child> {
    let mut words = command.split_whitespace();
    let name = words.next().filter(|&name| name != "cat")?;
    let mut command = Command::new(name);
    command.args(words).stdin(Stdio::piped());
    if surroundings.variable("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    command.spawn().ok()
}
