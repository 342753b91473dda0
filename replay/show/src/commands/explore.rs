//! `explore`: the report on the terminal, as three trees.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::explore;
use crate::opened::Opened;
use crate::output::Output;
use crate::status::Status;

/// Arguments of `explore`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,
}

/// Shows a report on the terminal until the user quits.
///
/// # Errors
/// If there is no terminal, or the report cannot be read.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    if output.is_for_scripts() {
        return Err(Error::new(
            "explore has no output for scripts: --json is for tree, ranks, time and waits",
        ));
    }
    if !output.is_on_terminal() {
        return Err(Error::new(
            "explore needs a terminal that can place its cursor (TERM is not dumb) for input and output: \
             replay-show tree, ranks, time and waits need none",
        ));
    }
    let opened = Opened::open(&args.file, output)?;
    output.hide_progress();
    explore::run(opened, output.screen())?;
    Ok(Status::Done)
}
