//! Defaults that a site sets for all users (site 8): variables in `etc/replay.conf` of the installation.
//!
//! A value in it counts less than an option, a variable of the environment, and a file that the user names. Each program takes what it
//! knows; names are checked for all of them, so that one that is misspelt is an error.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Variables of programs other than the recorder.
pub const OTHERS: [&str; 4] = ["REPLAY_HELP", "REPLAY_MPI", "REPLAY_RULES", "REPLAY_SCRATCH"];

/// A variable in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Setting {
    /// Number of its line, from 1.
    line: usize,
    name: String,
    value: String,
}

/// The variables in a file, in their order.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Variables {
    path: PathBuf,
    settings: Vec<Setting>,
}

impl Variables {
    /// Reads a file of lines `NAME=VALUE`; `#` at the begin of a line, or behind a blank, begins a comment.
    ///
    /// # Errors
    /// If it cannot be read, or a line is none of these: a sentence with the path and the line.
    pub fn read(path: &Path) -> Result<Variables, String> {
        let text = fs::read_to_string(path)
            .map_err(|cause| format!("{}: cannot read the file: {cause}", path.display()))?;
        parse(&text, path)
    }

    /// The defaults of the site where this program is installed; none if it has set none. They are read once.
    ///
    /// # Errors
    /// As of [`read`](Variables::read).
    pub fn of_site() -> Result<&'static Variables, &'static str> {
        static OF_SITE: OnceLock<Result<Variables, String>> = OnceLock::new();
        OF_SITE.get_or_init(Variables::read_of_site).as_ref().map_err(String::as_str)
    }

    fn read_of_site() -> Result<Variables, String> {
        let program = std::env::current_exe().and_then(|program| program.canonicalize());
        let path = program.ok().and_then(|program| place(program.parent()?));
        let Some(path) = path else { return Ok(Variables::default()) };
        match fs::metadata(&path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Variables::default()),
            _ => Variables::read(&path),
        }
    }

    /// The value of a variable that is set to something; of several lines the last counts.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.settings.iter().rev().find(|setting| setting.name == name)?;
        Some(found.value.as_str()).filter(|value| !value.is_empty())
    }

    /// Checks the names of all variables.
    ///
    /// # Errors
    /// If there is one that `is_known` does not know: a sentence with the path and the line.
    pub fn check(&self, is_known: impl Fn(&str) -> bool) -> Result<(), String> {
        match self.settings.iter().find(|setting| !is_known(&setting.name)) {
            None => Ok(()),
            Some(Setting { line, name, .. }) => {
                Err(format!("{}: line {line}: there is no variable {name:?}", self.path.display()))
            }
        }
    }
}

/// Returns a variable of the environment that is set to something, or else the default of the site. What is wrong with the defaults is
/// not said here: whoever asks has looked at them before ([`Variables::of_site`]).
pub fn variable(name: &str) -> Option<OsString> {
    let of_environment = std::env::var_os(name).filter(|value| !value.is_empty());
    of_environment.or_else(|| Variables::of_site().ok()?.get(name).map(OsString::from))
}

/// The file of defaults for programs that are installed in this folder: in `etc` beside it, and in `/etc` for those of the system.
fn place(programs: &Path) -> Option<PathBuf> {
    let prefix = programs.parent()?;
    let root = if prefix == Path::new("/usr") { Path::new("/") } else { prefix };
    Some(root.join("etc/replay.conf"))
}

fn parse(text: &str, path: &Path) -> Result<Variables, String> {
    let mut settings = Vec::new();
    for (line, words) in (1..).zip(text.lines().map(str::trim)) {
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        let Some((name, value)) = words.split_once('=') else {
            return Err(format!("{}: line {line}: expected NAME=VALUE", path.display()));
        };
        // A value ends where a comment begins, as in `REPLAY_DEPTH=8  # enough`.
        let value = value.split(" #").next().unwrap_or(value).trim();
        settings.push(Setting { line, name: name.trim().to_owned(), value: value.to_owned() });
    }
    Ok(Variables { path: path.to_owned(), settings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_of_several_lines_counts_and_comments_do_not() {
        let file =
            parse("# all\nREPLAY_DEPTH = 1\n\nREPLAY_DEPTH=2 # two\nREPLAY_MPI=\n", Path::new("f")).unwrap();
        assert_eq!(
            (file.get("REPLAY_DEPTH"), file.get("REPLAY_MPI"), file.get("X")),
            (Some("2"), None, None)
        );
        assert!(file.check(|name| name.starts_with("REPLAY_")).is_ok());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let path = Path::new("f");
        assert_eq!(parse("\nREPLAY_DEPTH", path).unwrap_err(), "f: line 2: expected NAME=VALUE");
        let unknown = parse("#\n\nREPLAY_DEEP=1", path).unwrap().check(|name| name == "REPLAY_DEPTH");
        assert_eq!(unknown.unwrap_err(), "f: line 3: there is no variable \"REPLAY_DEEP\"");
        assert!(
            Variables::read(Path::new("/nowhere"))
                .unwrap_err()
                .starts_with("/nowhere: cannot read the file: ")
        );
    }

    #[test]
    fn defaults_are_in_the_installation() {
        let of = |programs: &str| place(Path::new(programs)).unwrap();
        assert_eq!(of("/opt/replay/bin"), Path::new("/opt/replay/etc/replay.conf"));
        assert_eq!(of("/usr/bin"), Path::new("/etc/replay.conf"));
        // Tests are not installed.
        assert_eq!(Variables::of_site(), Ok(&Variables::default()));
    }
}
