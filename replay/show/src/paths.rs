//! Call paths by name, and globs that select them.
//!
//! A glob is names joined by `/`, from the root of the call tree on: `*` is one name, `**` any number of names, also none,
//! and `MPI_*` a name that begins so. A name with one of `/ * '` stands in quotes: `'operator/'`; a quote in quotes is
//! doubled.

use cubex::{CnodeId, Cube, Forest, Step};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::values::Values;

/// The name of a call path's region.
pub fn name(cube: &Cube, cnode: CnodeId) -> &str {
    let region = cube.cnodes.get(cnode.0).and_then(|cnode| cube.regions.get(cnode.region.0));
    region.map_or("", |region| region.name.as_str())
}

/// The names of a call path from the root on.
pub fn names(cube: &Cube, cnode: CnodeId) -> Vec<&str> {
    // Parents stand before their children, so this ends.
    let mut names = Vec::new();
    let mut next = Some(cnode);
    while let Some(cnode) = next {
        names.push(name(cube, cnode));
        next = cube.cnodes.get(cnode.0).and_then(|cnode| cnode.parent);
    }
    names.reverse();
    names
}

/// A hash of the names of a call path: the same in all runs of the same code.
pub fn hash(cube: &Cube, cnode: CnodeId) -> u32 {
    let mut hash = Sha256::new();
    for name in names(cube, cnode) {
        hash.update(name.as_bytes());
        hash.update([0]);
    }
    let [first, second, third, fourth, ..] = hash.finalize().0;
    u32::from_be_bytes([first, second, third, fourth])
}

/// Names of a path that are shown: more are as many as nobody reads, and paths of all calls would take memory for a product.
const SHOWN: usize = 128;

/// A call path for people: its names with slashes between them. The middle of a very deep one is left out.
pub fn path(cube: &Cube, cnode: CnodeId) -> String {
    joined(names(cube, cnode))
}

/// The names of a call path with slashes between them, likewise.
pub fn joined(mut names: Vec<&str>) -> String {
    if names.len() > SHOWN {
        names.splice(SHOWN / 2..names.len() - SHOWN / 2, ["…"]);
    }
    names.join("/")
}

/// A call path as a glob that matches those of the same names and no others.
pub fn quoted_path(cube: &Cube, cnode: CnodeId) -> String {
    let quoted = names(cube, cnode).into_iter().map(|name| {
        if name.is_empty() || name.contains(['/', '*', '\'']) {
            format!("'{}'", name.replace('\'', "''"))
        } else {
            name.to_owned()
        }
    });
    quoted.collect::<Vec<_>>().join("/")
}

/// A part of a glob.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    /// Any number of names.
    AnyNumber,
    /// A name: these pieces, with anything between them.
    Name(Vec<String>),
}

/// A glob of call paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glob(Vec<Part>);

impl Glob {
    /// Reads a glob.
    ///
    /// # Errors
    /// If a quote is not closed, or a name is missing.
    pub fn parse(text: &str) -> Result<Glob> {
        let wrong = |what: &str| {
            Error::new(format!(
                "path {text:?}: {what}; expected names joined by /, such as 'main/**/MPI_*', where * is one name, \
                 ** any number, and names with such signs stand in single quotes"
            ))
        };
        let mut parts = Vec::new();
        let mut letters = text.chars().peekable();
        loop {
            let mut pieces = vec![String::new()];
            let (mut is_quoted, mut is_empty) = (false, true);
            while let Some(letter) = letters.next_if(|&letter| letter != '/') {
                is_empty = false;
                match letter {
                    '*' => pieces.push(String::new()),
                    '\'' => {
                        is_quoted = true;
                        quoted(&mut letters, &mut pieces).ok_or_else(|| wrong("a quote is not closed"))?;
                    }
                    letter => push(&mut pieces, letter),
                }
            }
            if is_empty {
                return Err(wrong("a name is missing"));
            }
            let is_any_number = !is_quoted && pieces.len() == 3 && pieces.iter().all(String::is_empty);
            parts.push(if is_any_number { Part::AnyNumber } else { Part::Name(pieces) });
            if letters.next().is_none() {
                return Ok(Glob(parts));
            }
        }
    }

    /// Whether the glob matches names from the root on.
    pub fn matches(&self, names: &[&str]) -> bool {
        let places = names.iter().fold(self.start(), |places, name| self.step(&places, name));
        places.last().copied().unwrap_or(false)
    }

    /// The call paths that match, by position. Takes time in proportion to the call tree.
    pub fn select(&self, values: &Values<'_>) -> Vec<bool> {
        let cube = values.cube();
        self.select_in(values.calls(), cube.cnodes.len(), |cnode| name(cube, CnodeId(cnode)))
    }

    /// The same in any tree with so many nodes, which have these names.
    pub fn select_in<'n>(&self, tree: &Forest, count: usize, name: impl Fn(usize) -> &'n str) -> Vec<bool> {
        let mut matches = vec![false; count];
        let mut above = vec![self.start()];
        for step in tree.walk() {
            match step {
                Step::Enter(node) => {
                    let places = above.last().map(|places| self.step(places, name(node))).unwrap_or_default();
                    matches[node] = places.last().copied().unwrap_or(false);
                    above.push(places);
                }
                Step::Leave(_) => {
                    above.pop();
                }
            }
        }
        matches
    }

    /// Whether the first n parts match the names so far, by n: at the begin, without any name.
    fn start(&self) -> Vec<bool> {
        let mut places = vec![false; self.0.len() + 1];
        places[0] = true;
        self.skip(&mut places);
        places
    }

    /// The same with one more name.
    fn step(&self, before: &[bool], name: &str) -> Vec<bool> {
        let mut places = vec![false; self.0.len() + 1];
        for (at, part) in self.0.iter().enumerate() {
            match part {
                Part::AnyNumber => places[at] |= before[at],
                Part::Name(pieces) => places[at + 1] |= before[at] && is_made_of(name, pieces),
            }
        }
        self.skip(&mut places);
        places
    }

    /// `**` may match no name.
    fn skip(&self, places: &mut [bool]) {
        for (at, part) in self.0.iter().enumerate() {
            if *part == Part::AnyNumber && places[at] {
                places[at + 1] = true;
            }
        }
    }
}

/// Selected call paths with all below them.
pub fn with_those_below(values: &Values<'_>, mut is_selected: Vec<bool>) -> Vec<bool> {
    // Parents stand before their children.
    for (at, cnode) in values.cube().cnodes.iter().enumerate() {
        is_selected[at] |= cnode.parent.is_some_and(|parent| is_selected[parent.0]);
    }
    is_selected
}

fn push(pieces: &mut [String], letter: char) {
    if let Some(piece) = pieces.last_mut() {
        piece.push(letter);
    }
}

/// Reads letters up to the closing quote; `None` if there is none.
fn quoted(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, pieces: &mut [String]) -> Option<()> {
    loop {
        match letters.next()? {
            '\'' if letters.next_if_eq(&'\'').is_some() => push(pieces, '\''),
            '\'' => return Some(()),
            letter => push(pieces, letter),
        }
    }
}

/// Whether a name consists of these pieces, in this order, with anything between them.
fn is_made_of(name: &str, pieces: &[String]) -> bool {
    let Some((first, rest)) = pieces.split_first() else { return name.is_empty() };
    let Some(mut name) = name.strip_prefix(first.as_str()) else { return false };
    let Some((last, between)) = rest.split_last() else { return name.is_empty() };
    for piece in between {
        let Some((_, behind)) = name.split_once(piece.as_str()) else { return false };
        name = behind;
    }
    name.ends_with(last.as_str())
}

/// The call paths that match a glob.
///
/// # Errors
/// If it is no glob, or there are none.
pub fn matching(values: &Values<'_>, glob: &str) -> Result<Vec<bool>> {
    let matching = Glob::parse(glob)?.select(values);
    match matching.contains(&true) {
        true => Ok(matching),
        false => Err(Error::new(format!(
            "path {glob:?} matches no call path of this report: replay-show tree lists those that it has"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(glob: &str, path: &str) -> bool {
        Glob::parse(glob).unwrap().matches(&path.split('/').collect::<Vec<_>>())
    }

    #[test]
    fn stars_are_one_name_or_any_number() {
        assert!(matches("a/*/c", "a/b/c") && !matches("a/*/c", "a/c") && !matches("*", "a/b"));
        assert!(matches("a/**/c", "a/c") && matches("a/**/c", "a/b/b/c") && !matches("a/**/c", "a/c/b"));
        assert!(matches("**", "a/b") && matches("**/b/**", "a/b") && matches("**/b/**", "a/b/c/d"));
        assert!(!matches("b", "a/b"), "globs begin at the root");
    }

    #[test]
    fn stars_in_names_are_any_letters() {
        assert!(matches("a/MPI_*", "a/MPI_Recv") && matches("*_*v", "MPI_Recv") && !matches("MPI_*", "omp"));
        assert!(!matches("ab*b", "ab") && matches("ab*b", "abb"));
    }

    #[test]
    fn names_with_signs_are_quoted() {
        let glob = Glob::parse("a/'b/*''c'").unwrap();
        assert!(glob.matches(&["a", "b/*'c"]) && !glob.matches(&["a", "b/x'c"]));
        for wrong in ["", "a//b", "a/", "'a"] {
            assert!(Glob::parse(wrong).unwrap_err().to_string().contains("expected names"), "{wrong}");
        }
    }
}
