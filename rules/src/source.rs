//! Files of rules, places in them, and what is wrong there.

use std::fmt::{self, Write};
use std::ops::Range;

/// More problems of all files than these are not listed: nobody reads them, and a hostile file has a million.
const MOST_PROBLEMS: usize = 100;

/// Characters of a line that are shown, around the place.
const SHOWN: usize = 110;

/// A file of rules that has been read into memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its name in messages.
    pub name: String,
    /// What is in it.
    pub text: String,
}

impl Source {
    /// A file of this name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into() }
    }
}

/// Something wrong in a file of rules. Prints as `file:line:column: message`, the line, and a caret below the place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What was found and what was expected, in one line.
    pub message: String,
    /// The line, or the part of it around the place.
    pub excerpt: String,
    /// Characters of the excerpt before the place.
    pub before: usize,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        write!(f, "\n{}\n{:>width$}", self.excerpt, '^', width = self.before + 1)
    }
}

impl std::error::Error for Problem {}

/// A piece of text from a file: a string of TOML, without its quotes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Text {
    /// Its file, by position.
    pub(crate) file: usize,
    /// Where it begins in the file.
    at: usize,
    /// Whether it stands in the file letter by letter, so that places in it are places in the file.
    is_literal: bool,
    /// The text.
    pub(crate) text: String,
}

impl Text {
    /// The text of a string whose quotes and content are at `span` of a file.
    pub(crate) fn new(file: usize, source: &str, span: Range<usize>, text: &str) -> Text {
        let raw = source.get(span.clone()).unwrap_or_default();
        // Quotes are one or three characters; a line end after three is no part of the text.
        let before = raw.find(text).filter(|&before| {
            before <= 5 && raw[..before].chars().all(|c| matches!(c, '"' | '\'' | '\r' | '\n'))
        });
        Text {
            file,
            at: span.start + before.unwrap_or(0),
            is_literal: before.is_some(),
            text: text.to_owned(),
        }
    }

    /// Another text in its place.
    pub(crate) fn changed(&self, text: String) -> Text {
        Text { is_literal: false, text, ..*self }
    }

    /// The place in the file of a place in the text.
    pub(crate) fn place(&self, at: usize) -> Place {
        Place { file: self.file, at: self.at + if self.is_literal { at } else { 0 } }
    }

    /// A part of the text that begins at `at`.
    pub(crate) fn part(&self, at: usize, text: &str) -> Text {
        let start = self.place(at);
        Text { file: self.file, at: start.at, is_literal: self.is_literal, text: text.to_owned() }
    }

    /// The place where it begins.
    pub(crate) fn start(&self) -> Place {
        self.place(0)
    }
}

/// A place in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    /// The file, by position.
    pub(crate) file: usize,
    /// The byte in it.
    pub(crate) at: usize,
}

/// Problems found so far.
#[derive(Default, Debug)]
pub(crate) struct Problems {
    found: Vec<(Place, String)>,
}

impl Problems {
    /// Adds one, unless there are enough, or the same is known from another use of a definition.
    pub(crate) fn add(&mut self, place: Place, message: impl Into<String>) {
        let problem = (place, message.into());
        if !self.is_full() && !self.found.contains(&problem) {
            self.found.push(problem);
        }
    }

    /// Whether further problems are dropped, so that there is no use in looking for them.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= MOST_PROBLEMS
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// All problems in the order of files and places.
    pub(crate) fn finish(mut self, sources: &[Source]) -> Vec<Problem> {
        self.found.sort();
        self.found.iter().map(|(place, message)| problem(&sources[place.file], place.at, message)).collect()
    }
}

/// Makes a problem of a place and a message.
fn problem(source: &Source, at: usize, message: &str) -> Problem {
    let mut at = at.min(source.text.len());
    while !source.text.is_char_boundary(at) {
        at -= 1;
    }
    let (before, after) = source.text.split_at(at);
    let begin = before.rfind('\n').map_or(0, |end| end + 1);
    let left: Vec<char> = before[begin..].chars().collect();
    let right = after.lines().next().unwrap_or_default();
    // Of a long line the part around the place.
    let cut = left.len().saturating_sub(SHOWN * 2 / 3);
    let cut = if left.len() + right.chars().take(SHOWN).count() <= SHOWN { 0 } else { cut };
    let excerpt: String =
        left[cut..].iter().copied().chain(right.chars()).take(SHOWN).map(harmless).collect();
    Problem {
        file: one_line(&source.name),
        line: before.matches('\n').count() + 1,
        column: left.len() + 1,
        message: one_line(message),
        excerpt,
        before: left.len() - cut,
    }
}

/// A character as it may reach a terminal, as wide as before.
fn harmless(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// A message without control characters of the file that it quotes.
fn one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for c in message.chars() {
        match c.is_control() {
            true => write!(line, "{}", c.escape_debug()).expect("a string takes any text"),
            false => line.push(c),
        }
    }
    line
}

/// A text in quotes, cut if it is long.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("\"{}…\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_prints_place_message_line_and_caret() {
        let source = Source::new("a.toml", "x = 1\nµ = \"wat\"\n");
        let at = source.text.find("wat").unwrap();
        let text = problem(&source, at, "unknown name").to_string();
        assert_eq!(text, "a.toml:2:6: unknown name\nµ = \"wat\"\n     ^");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let source = Source::new("a\n.toml", "\u{1b}[31m");
        let text = problem(&source, 0, "odd \u{7}").to_string();
        assert_eq!(text, "a\\n.toml:1:1: odd \\u{7}\n\u{fffd}[31m\n^");
    }

    #[test]
    fn of_a_long_line_the_part_around_the_place_is_shown() {
        let source = Source::new("a", format!("{}x{}", "a".repeat(500), "b".repeat(500)));
        let problem = problem(&source, 500, "here");
        assert_eq!(problem.column, 501);
        assert_eq!(problem.excerpt.chars().nth(problem.before), Some('x'));
        assert_eq!(problem.excerpt.chars().count(), SHOWN);
    }

    #[test]
    fn places_in_a_string_with_escapes_are_its_begin() {
        let source = r#"a = "x \" y""#;
        assert_eq!(Text::new(0, source, 4..12, "x \" y").place(3).at, 4);
        assert_eq!(Text::new(0, "a = '''\nx'''", 4..12, "x").place(0).at, 8);
    }

    #[test]
    fn a_place_behind_the_end_is_the_end() {
        assert_eq!(problem(&Source::new("a", "é"), 1, "m").column, 1);
        assert_eq!(problem(&Source::new("a", "é"), 99, "m").column, 2);
    }
}
