//! Runs a command, and keeps what it prints in a file, too.

use std::fs::File;
use std::io::{ErrorKind, Read, Write, stderr, stdout};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use launcher::{Program, ProgramEnd};

use crate::error::{Error, Result, say};
use crate::steps::Step;

/// Runs a command to its end, with both streams in the log beside ours, between lines that say what runs and how it ends; signals that
/// we get are passed on.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn run(step: &Step, log: &mut File) -> Result<ProgramEnd> {
    let variables: Vec<_> = step.set.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let began = Instant::now();
    // A log that is lost is no reason to lose the run.
    let _ = writeln!(log, "{step}");
    let log = Mutex::new(log);
    let mut program = Program::start(&step.words, &variables, |command| {
        for name in &step.unset {
            command.env_remove(name);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    })
    .map_err(|not_started| Error::no_experiment(not_started.error.to_string()))?;
    let (out, err) = program.take_output();
    let end = std::thread::scope(|scope| {
        scope.spawn(|| out.map(|out| copy(out, stdout(), &log)));
        scope.spawn(|| err.map(|err| copy(err, stderr(), &log)));
        program.wait()
    });
    let end = end.map_err(|error| Error::no_experiment(error.to_string()))?;
    let seconds = began.elapsed().as_secs_f64();
    let _ = writeln!(
        log.lock().unwrap_or_else(PoisonError::into_inner),
        "{} after {seconds:.1} s",
        in_words(end)
    );
    if end != ProgramEnd::Exit(0) {
        let program = step.words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        say(&format!("{program} has ended with {}", in_words(end)));
    }
    Ok(end)
}

/// Copies a stream to its end.
fn copy(mut from: impl Read, mut to: impl Write, log: &Mutex<&mut File>) {
    let mut bytes = [0; 1 << 14];
    loop {
        let read = match from.read(&mut bytes) {
            Ok(0) => return,
            Ok(read) => &bytes[..read],
            Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        // Whoever reads ours may have gone; the log goes on.
        let _ = to.write_all(read).and_then(|()| to.flush());
        let _ = log.lock().unwrap_or_else(PoisonError::into_inner).write_all(read);
    }
}

fn in_words(end: ProgramEnd) -> String {
    match end {
        ProgramEnd::Exit(status) => format!("status {status}"),
        ProgramEnd::Signal(signal) => format!("signal {signal}"),
    }
}
