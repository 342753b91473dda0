//! Manual pages and completions of shells, from the definition of a command line: it is their only source.

use std::fs;
use std::io::Error;
use std::path::Path;

use clap::Command;
use clap_complete::Shell;

/// Where shells look for completions, below the directory, and how their files end there.
const SHELLS: [(Shell, &str, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/", ""),
    (Shell::Zsh, "zsh/site-functions/_", ""),
    (Shell::Fish, "fish/vendor_completions.d/", ".fish"),
];

/// Writes them below a directory, as they are below /usr/share. Each command of a program that has several gets a page.
///
/// # Errors
/// If a file cannot be written: the error names it.
pub fn write(mut command: Command, directory: &Path) -> Result<(), Error> {
    let name = command.get_name().to_owned();
    for (shell, folder, ending) in SHELLS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command, &name, &mut text);
        write_file(&directory.join(format!("{folder}{name}{ending}")), &text)?;
    }
    let pages = directory.join("man/man1");
    command.build();
    write_file(&pages.join(format!("{name}.1")), &page(command.clone())?)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        let title = format!("{name}-{}", sub.get_name());
        let page = page(sub.clone().name(title.clone()))?;
        write_file(&pages.join(format!("{title}.1")), &page)?;
    }
    Ok(())
}

fn page(command: Command) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(text)
}

fn write_file(path: &Path, contents: &[u8]) -> Result<(), Error> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, contents));
    written.map_err(|error| Error::new(error.kind(), format!("{}: cannot write: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    #[test]
    fn pages_and_completions_are_written_with_a_page_for_each_command() {
        let directory = tempfile::tempdir().unwrap();
        let sub = Command::new("look").about("Looks").arg(Arg::new("far").long("far"));
        let hidden = Command::new("secret").hide(true);
        write(Command::new("a-tool").about("Is a tool").subcommands([sub, hidden]), directory.path())
            .unwrap();
        for file in [
            "man/man1/a-tool.1",
            "man/man1/a-tool-look.1",
            "bash-completion/completions/a-tool",
            "zsh/site-functions/_a-tool",
            "fish/vendor_completions.d/a-tool.fish",
        ] {
            assert!(fs::read_to_string(directory.path().join(file)).expect(file).contains("look"), "{file}");
        }
        assert!(!directory.path().join("man/man1/a-tool-secret.1").exists());
    }

    #[test]
    fn file_that_cannot_be_written_is_named() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("man"), "").unwrap();
        let error = write(Command::new("a-tool"), directory.path()).unwrap_err();
        assert!(error.to_string().contains("man/man1/a-tool.1: cannot write"), "{error}");
    }
}
