//! `manual`: manual pages and completions of shells, written at installation. Hidden from help.

use std::fs;
use std::path::{Path, PathBuf};

use clap_complete::Shell;

use crate::error::{Error, Result};
use crate::status::Status;

/// Arguments of `manual`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The directory below which they are written, as below /usr/share
    pub directory: PathBuf,
}

/// Where shells look for completions, below the directory.
const SHELLS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/replay-show"),
    (Shell::Zsh, "zsh/site-functions/_replay-show"),
    (Shell::Fish, "fish/vendor_completions.d/replay-show.fish"),
];

/// Writes manual pages and completions.
///
/// # Errors
/// If a file cannot be written.
pub fn run(args: &Args, mut command: clap::Command) -> Result<Status> {
    let name = command.get_name().to_owned();
    for (shell, path) in SHELLS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command, &name, &mut text);
        write(&args.directory.join(path), &text)?;
    }
    let pages = args.directory.join("man/man1");
    command.build();
    write(&pages.join(format!("{name}.1")), &page(command.clone())?)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        let title = format!("{name}-{}", sub.get_name());
        let page = page(sub.clone().name(title.clone()))?;
        write(&pages.join(format!("{title}.1")), &page)?;
    }
    Ok(Status::Done)
}

fn page(command: clap::Command) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    // In memory, which takes everything.
    clap_mangen::Man::new(command).render(&mut text).map_err(|error| Error::new(error.to_string()))?;
    Ok(text)
}

fn write(path: &Path, contents: &[u8]) -> Result<()> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, contents));
    written.map_err(|error| Error::new(format!("{}: cannot write: {error}", path.display())))
}
