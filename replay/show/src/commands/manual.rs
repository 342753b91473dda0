//! `manual`: manual pages and completions of shells, written at installation. Hidden from help.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::status::Status;

/// Arguments of `manual`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The directory below which they are written, as below /usr/share
    pub directory: PathBuf,
}

/// Writes manual pages and completions.
///
/// # Errors
/// If a file cannot be written.
pub fn run(args: &Args, command: clap::Command) -> Result<Status> {
    manual::write(command, &args.directory).map_err(|error| Error::new(error.to_string()))?;
    Ok(Status::Done)
}
