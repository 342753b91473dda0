//! Maps: the user's word on which call paths of A are which of B, in lines `old-glob = new-glob`.

use std::path::Path;

use crate::error::{Error, Result};
use crate::paths::Glob;

/// A map of call paths.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mapping {
    /// Globs of A and of B, line by line.
    pub lines: Vec<[Glob; 2]>,
}

impl Mapping {
    /// Reads a file with a line `old-glob = new-glob` for each pair; empty lines and those that begin with `#` are left out.
    ///
    /// # Errors
    /// If it cannot be read, or a line is not of this form.
    pub fn read(path: &Path) -> Result<Mapping> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::new(format!("cannot read the map: {error}; expected lines such as 'main/old = main/new'"))
                .in_file(path)
        })?;
        Mapping::parse(&text).map_err(|error| error.in_file(path))
    }

    /// Reads the lines of a map.
    ///
    /// # Errors
    /// If a line is not of the form `old-glob = new-glob`.
    pub fn parse(text: &str) -> Result<Mapping> {
        let mut lines = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |error: &str| Error::new(format!("line {}: {error}", number + 1));
            let at = separator(line).ok_or_else(|| {
                wrong(&format!("found {line:?}, expected two paths, such as 'main/old = main/new'"))
            })?;
            let glob = |text: &str| Glob::parse(text.trim()).map_err(|error| wrong(&error.to_string()));
            lines.push([glob(&line[..at])?, glob(&line[at + 1..])?]);
        }
        Ok(Mapping { lines })
    }
}

/// The only equals sign between two paths: one outside of quotes, with spaces around it if there are several, as in
/// `operator= = assign`.
fn separator(line: &str) -> Option<usize> {
    let mut is_quoted = false;
    let mut found: Vec<usize> = Vec::new();
    for (at, letter) in line.char_indices() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            '=' if !is_quoted => found.push(at),
            _ => {}
        }
    }
    if let [at] = found[..] {
        return Some(at);
    }
    found.retain(|&at| line[..at].ends_with(' ') && line[at + 1..].starts_with(' '));
    if let [at] = found[..] { Some(at) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_pairs_of_globs() {
        let map = Mapping::parse("# renamed\n\na/b = a/c\n'x=y'=z\noperator== = same\n").unwrap();
        assert_eq!(map.lines.len(), 3);
        assert!(map.lines[1][0].matches(&["x=y"]) && map.lines[1][1].matches(&["z"]));
        assert!(map.lines[2][0].matches(&["operator=="]));
    }

    #[test]
    fn wrong_lines_are_refused_with_their_number() {
        for text in ["a", "\na = b = c = ", "= b", "a ="] {
            let error = Mapping::parse(text).unwrap_err().to_string();
            assert!(error.starts_with("line ") && error.contains("expected"), "{error}");
        }
    }
}
