//! Completes a recording before it is analysed (site 2.5), by the program that records.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use replay::exchange::{Batch, share};
use replay::{Error, Exchange};

/// The program that completes recordings.
const RECORDER: &str = "replay-record";

/// Its exit statuses with which there is an archive: all is there, or something is lost, which it has said.
const COMPLETE: [i32; 2] = [0, 1];

/// Completes the archive of an experiment, if that is a recording that was not completed; worker 0 does it, and the others wait. What
/// the other program says is on standard error; if it is to be `quiet`, only where it fails.
///
/// # Errors
/// If the recording cannot be completed, or worker 0 has failed to.
pub(crate) fn complete(experiment: &Path, quiet: bool, exchange: &mut dyn Exchange) -> Result<(), Error> {
    // The anchor, which stands for its directory, is written last.
    let is_anchor = experiment.extension().is_some_and(|ending| ending == "otf2");
    let directory = if is_anchor { experiment.parent().unwrap_or(experiment) } else { experiment };
    // The name that `measurement/recording` gives to the folder of an archive that is being recorded.
    if exchange.worker() == 0 && directory.join("recording").is_dir() {
        finish(directory, quiet).inspect_err(|_| {
            exchange.fail();
        })?;
    }
    share(exchange, Batch::new()).map(drop)
}

/// Has a recording completed.
fn finish(directory: &Path, quiet: bool) -> Result<(), Error> {
    let mut command = Command::new(recorder());
    command.arg("--finish").arg(directory).stdin(Stdio::null());
    let output = command.stderr(if quiet { Stdio::piped() } else { Stdio::inherit() }).output();
    let experiment = directory.display();
    match output {
        Ok(Output { status, .. }) if status.code().is_some_and(|code| COMPLETE.contains(&code)) => Ok(()),
        Ok(Output { stderr, .. }) => {
            // It was not said yet if this is to be quiet.
            let _ = io::stderr().write_all(&stderr);
            Err(Error::new(format!(
                "{experiment}: replay-record --finish cannot complete the recording, see its message"
            )))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::new(format!(
            "{experiment}: --finish needs replay-record, which is neither beside replay-analyze nor on the path: make install puts \
             it there"
        ))),
        Err(error) => Err(Error::new(format!("{experiment}: cannot start replay-record: {error}"))),
    }
}

/// The path of the program: beside this one, or else its name alone, which the system looks for.
fn recorder() -> PathBuf {
    let own = std::env::current_exe().and_then(|path| path.canonicalize());
    let beside = own.ok().map(|path| path.with_file_name(RECORDER)).filter(|path| path.exists());
    beside.unwrap_or_else(|| RECORDER.into())
}
