//! Completes a recording before it is analysed (site 2.5), by the program that records.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use replay::exchange::{Batch, share};
use replay::{Error, Exchange};

/// The program that completes recordings.
const RECORDER: &str = "replay-record";

/// Its exit statuses with which there is an archive: all is there, or something is lost, which it has said.
const COMPLETE: [i32; 2] = [0, 1];

/// Completes the archive of an experiment, if that is a recording that was not completed; worker 0 does it, and the others wait.
///
/// # Errors
/// If the recording cannot be completed, or worker 0 has failed to.
pub(crate) fn complete(experiment: &Path, exchange: &mut dyn Exchange) -> Result<(), Error> {
    // The name that `measurement/recording` gives to the folder of an archive that is being recorded.
    if exchange.worker() == 0 && experiment.join("recording").is_dir() {
        finish(experiment).inspect_err(|_| {
            exchange.fail();
        })?;
    }
    share(exchange, Batch::new()).map(drop)
}

/// Has a recording completed.
fn finish(experiment: &Path) -> Result<(), Error> {
    let status = Command::new(recorder()).arg("--finish").arg(experiment).stdin(Stdio::null()).status();
    let experiment = experiment.display();
    match status {
        Ok(status) if status.code().is_some_and(|code| COMPLETE.contains(&code)) => Ok(()),
        Ok(_) => Err(Error::new(format!(
            "{experiment}: replay-record --finish cannot complete the recording, see its message"
        ))),
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
