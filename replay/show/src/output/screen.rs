//! The screen: how wide it is, and whether it has colour and more than ASCII.

use std::collections::HashMap;
use std::io::IsTerminal;

use clap::ValueEnum;

use super::names::{ascii, printable};

/// Columns where nobody says how many there are.
const WIDTH: usize = 100;

/// The least width that is used: numbers need some room.
const LEAST_WIDTH: usize = 20;

/// What the program is told by its surroundings. Read once, so that tests can make some up.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Surroundings {
    /// Columns and lines of the terminal that standard output is; `None` if it is none.
    pub terminal: Option<(usize, usize)>,
    /// Whether standard error is a terminal.
    pub has_terminal_for_messages: bool,
    /// Variables of the environment.
    pub variables: HashMap<String, String>,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_process() -> Surroundings {
        let size = terminal_size::terminal_size_of(std::io::stdout());
        let terminal = size.map(|(width, height)| (width.0.into(), height.0.into()));
        let is_needed = |name: &str| {
            name.starts_with("LC_")
                || matches!(
                    name,
                    "LANG"
                        | "NO_COLOR"
                        | "CLICOLOR_FORCE"
                        | "TERM"
                        | "COLUMNS"
                        | "REPLAY_PAGER"
                        | "PAGER"
                        | "LESS"
                        | "SSH_CONNECTION"
                        | "USER"
                        | "LOGNAME"
                )
        };
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        });
        Surroundings {
            terminal,
            has_terminal_for_messages: std::io::stderr().is_terminal(),
            variables: variables.filter(|(name, _)| is_needed(name)).collect(),
        }
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// When to use colour.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set; `CLICOLOR_FORCE` uses it elsewhere, too.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How text is rendered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Screen {
    /// Columns of a line.
    pub width: usize,
    /// Whether styles show.
    pub is_coloured: bool,
    /// Whether there is more than ASCII.
    pub is_unicode: bool,
}

impl Screen {
    /// The screen in these surroundings.
    pub fn new(surroundings: &Surroundings, colour: Colour, is_ascii: bool) -> Screen {
        let columns = surroundings.variable("COLUMNS").and_then(|columns| columns.parse().ok());
        let width = surroundings.terminal.map(|(width, _)| width).filter(|&width| width > 0).or(columns);
        let is_coloured = match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => is_coloured(surroundings),
        };
        Screen {
            width: width.unwrap_or(WIDTH).max(LEAST_WIDTH),
            is_coloured,
            is_unicode: !is_ascii && is_utf8(surroundings),
        }
    }

    /// A text as it may be shown here: without hostile characters, and in ASCII where there is nothing else.
    pub fn shown(&self, text: &str) -> String {
        let text = printable(text);
        if self.is_unicode { text } else { ascii(&text) }
    }

    /// What is in the place of what is cut out of a name.
    pub fn dots(&self) -> &'static str {
        if self.is_unicode { "…" } else { "~" }
    }
}

fn is_coloured(surroundings: &Surroundings) -> bool {
    if surroundings.variable("NO_COLOR").is_some() {
        return false;
    }
    let is_forced = surroundings.variable("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    is_forced || surroundings.terminal.is_some() && surroundings.variable("TERM") != Some("dumb")
}

/// Whether the locale is one of UTF-8: the first of the variables that is set decides, as in the C library.
fn is_utf8(surroundings: &Surroundings) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| surroundings.variable(name));
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(terminal: Option<(usize, usize)>, variables: &[(&str, &str)]) -> Surroundings {
        let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        Surroundings { terminal, variables: variables.collect(), ..Surroundings::default() }
    }

    fn is_coloured(terminal: bool, variables: &[(&str, &str)]) -> bool {
        let terminal = terminal.then_some((80, 24));
        Screen::new(&surroundings(terminal, variables), Colour::Auto, false).is_coloured
    }

    #[test]
    fn colour_follows_the_conventions() {
        assert!(is_coloured(true, &[]) && !is_coloured(false, &[]));
        assert!(is_coloured(true, &[("NO_COLOR", "")]) && !is_coloured(true, &[("NO_COLOR", "1")]));
        assert!(!is_coloured(true, &[("TERM", "dumb")]));
        assert!(is_coloured(false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!is_coloured(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!is_coloured(true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    }

    #[test]
    fn width_is_the_terminals_or_what_is_said() {
        let width = |terminal, variables: &[(&str, &str)]| {
            Screen::new(&surroundings(terminal, variables), Colour::Auto, false).width
        };
        assert_eq!(width(Some((70, 24)), &[("COLUMNS", "90")]), 70);
        assert_eq!(width(None, &[("COLUMNS", "90")]), 90);
        assert_eq!(width(None, &[("COLUMNS", "many")]), 100);
        assert_eq!(width(None, &[("COLUMNS", "3")]), 20);
    }

    #[test]
    fn unicode_follows_the_locale() {
        let is_unicode = |variables: &[(&str, &str)], is_ascii| {
            Screen::new(&surroundings(None, variables), Colour::Auto, is_ascii).is_unicode
        };
        assert!(is_unicode(&[("LANG", "de_DE.UTF-8")], false) && !is_unicode(&[("LANG", "C")], false));
        assert!(is_unicode(&[("LC_ALL", "C.utf8"), ("LANG", "C")], false));
        assert!(!is_unicode(&[("LANG", "C.UTF-8")], true) && !is_unicode(&[], false));
    }
}
