//! Names from files on a terminal: nothing that controls it, and no wider than there is room.

use super::numbers::JOINT;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What is shown in the place of characters that a terminal would obey.
pub(crate) const REPLACEMENT: char = '\u{fffd}';

/// Whether a character controls a terminal, breaks the line, or changes the direction of text.
pub(crate) fn is_hostile(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text without hostile characters.
pub fn printable(text: &str) -> String {
    text.replace(is_hostile, &REPLACEMENT.to_string())
}

/// Columns that a text takes on a terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

/// A text of at most so many columns: if it is wider, the middle is left out, as the ends of names tell most.
pub fn cut(text: &str, columns: usize, dots: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(width(dots)) else { return dots.chars().take(columns).collect() };
    let front: String = taken(text.chars(), room - room / 2).collect();
    let mut back: Vec<char> = taken(text.chars().rev(), room - width(&front)).collect();
    back.reverse();
    format!("{front}{dots}{}", back.into_iter().collect::<String>())
}

/// The name of a location cut to so many columns: of `rank 3 thread 12` and `rank 3, stream 12` the words behind the rank, as
/// long as there is room for all numbers.
pub(crate) fn cut_location(name: &str, columns: usize, dots: &str) -> String {
    if width(name) <= columns || columns < least_of_location(name, dots) {
        return cut(name, columns, dots);
    }
    let (process, thread) = split(name).unwrap_or((name, ""));
    let thread = cut(thread, columns - width(process), dots);
    format!("{process}{thread}")
}

/// Columns that the name of a location takes at least: its process and the number of its thread.
pub(crate) fn least_of_location(name: &str, dots: &str) -> usize {
    let Some((process, thread)) = split(name) else { return width(name) };
    let digits = thread.chars().rev().take_while(char::is_ascii_digit).count();
    // Half of what is left of the name is its end.
    (width(process) + width(dots) + 2 * digits).min(width(name))
}

/// The process of a location with what separates it, and the rest of the name.
fn split(name: &str) -> Option<(&str, &str)> {
    let at = name.find(", ").map(|at| at + 2).or_else(|| name.find(" thread ").map(|at| at + 1))?;
    Some(name.split_at(at))
}

/// The first letters, as many as there is room for.
fn taken(letters: impl Iterator<Item = char>, room: usize) -> impl Iterator<Item = char> {
    let mut used = 0;
    letters.take_while(move |letter| {
        used += letter.width().unwrap_or(0);
        used <= room
    })
}

/// A text in ASCII but for [`JOINT`]: signs of our own have a plain form, anything else becomes `?`.
pub(crate) fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            _ if letter.is_ascii() => plain.push(letter),
            '·' => plain.push('.'),
            '–' | '−' => plain.push('-'),
            '…' => plain.push('~'),
            '→' => plain.push_str("->"),
            '←' => plain.push_str("<-"),
            'µ' => plain.push('u'),
            '×' => plain.push('x'),
            '≥' => plain.push_str(">="),
            '≤' => plain.push_str("<="),
            // A number and its unit stay in a line; a space takes its place when that is written.
            JOINT => plain.push(JOINT),
            _ => plain.push('?'),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_controls_a_terminal_is_printed() {
        assert_eq!(printable("a\x1b[31m\u{202e}b\u{2028}\n"), "a\u{fffd}[31m\u{fffd}b\u{fffd}\u{fffd}");
    }

    #[test]
    fn names_are_cut_in_the_middle() {
        assert_eq!(cut("abcdefghij", 7, "…"), "abc…hij");
        assert_eq!(cut("abc", 3, "…"), "abc");
        assert_eq!(cut("abcdef", 1, "…"), "…");
        assert_eq!(cut("abcdef", 0, "…"), "");
        assert_eq!(cut("你好世界", 5, "…"), "你…界", "wide letters take two columns");
    }

    #[test]
    fn numbers_of_locations_are_not_cut() {
        let name = "rank 1234, OMP thread 56";
        assert_eq!(cut_location(name, 18, "…"), "rank 1234, OMP… 56");
        assert_eq!(least_of_location(name, "…"), 16);
        assert_eq!(cut_location(name, 16, "…"), "rank 1234, OM…56");
        assert_eq!(least_of_location("rank 123456789012345", "…"), 20);
        let name = "rank 1234 thread 56";
        assert_eq!(
            (least_of_location(name, "…"), cut_location(name, 17, "…").as_str()),
            (15, "rank 1234 thr… 56")
        );
        assert_eq!(cut_location(name, 15, "…"), "rank 1234 th…56");
    }

    #[test]
    fn ascii_has_no_other_letters() {
        assert_eq!(ascii("a · b – ü"), "a . b - ?");
    }
}
