//! Words of expressions (advice 5.2).

use std::ops::Range;

use crate::Type;
use crate::source::quoted;
use crate::types::{UNIT_NAMES, unit};

/// A word with its place.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) at: Range<usize>,
}

/// What words are.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TokenKind {
    /// A number in its base unit; times in seconds.
    Number(f64, Type),
    /// A text in quotes.
    Text(String),
    /// A name, with dots.
    Name(String),
    /// A word of the language.
    Word(&'static str),
    /// The end of the expression.
    End,
}

/// What is wrong in an expression, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wrong {
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl Wrong {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Wrong {
        Wrong { at, message: message.into() }
    }
}

/// Words that are no names.
const WORDS: [&str; 7] = ["and", "or", "not", "in", "if", "then", "else"];

/// Signs; a longer one before one that it begins with.
const SIGNS: [&str; 15] = ["<=", "==", "!=", ">=", "<", ">", "+", "-", "*", "/", "(", ")", "[", "]", ","];

/// Reads the word that begins at `at` or behind spaces there.
pub(crate) fn token(text: &str, at: usize) -> Result<Token, Wrong> {
    let at = text.len() - text[at..].trim_start().len();
    let rest = &text[at..];
    let Some(first) = rest.chars().next() else {
        return Ok(Token { kind: TokenKind::End, at: at..at });
    };
    if first.is_ascii_digit() || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return number(text, at);
    }
    if first == '"' || first == '\'' {
        let end = rest[1..].find(first).ok_or_else(|| Wrong::new(at, "a text without its closing quote"))?;
        return Ok(Token { kind: TokenKind::Text(rest[1..=end].to_owned()), at: at..at + end + 2 });
    }
    if is_letter(first) {
        let length = name(rest);
        let kind = match WORDS.iter().find(|&&word| word == &rest[..length]) {
            Some(word) => TokenKind::Word(word),
            None => TokenKind::Name(rest[..length].to_owned()),
        };
        return Ok(Token { kind, at: at..at + length });
    }
    match SIGNS.iter().find(|&&sign| rest.starts_with(sign)) {
        Some(sign) => Ok(Token { kind: TokenKind::Word(sign), at: at..at + sign.len() }),
        None => {
            let hint = match first {
                '=' => ", equal is written ==",
                '&' => ", both is written \"and\"",
                '|' => ", either is written \"or\"",
                '!' => ", the opposite is written \"not\"",
                '%' => ", a unit follows a number",
                _ => "",
            };
            Err(Wrong::new(at, format!("unexpected character \"{first}\"{hint}")))
        }
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// The length of a name: letters, digits and underscores, and such behind dots.
fn name(text: &str) -> usize {
    let mut length = 0;
    loop {
        let part = &text[length..];
        length += part.find(|c: char| !is_letter(c) && !c.is_ascii_digit()).unwrap_or(part.len());
        match text[length..].strip_prefix('.') {
            Some(rest) if rest.starts_with(is_letter) => length += 1,
            _ => return length,
        }
    }
}

/// Reads a number, and its unit if there is one behind it.
fn number(text: &str, at: usize) -> Result<Token, Wrong> {
    let rest = &text[at..];
    let digits =
        |from: usize| from + rest[from..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - from);
    let whole = digits(0);
    let mut end = whole;
    if rest[end..].starts_with('.') && rest[end + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        end = digits(end + 1);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = end + 1 + usize::from(rest[end + 1..].starts_with(['+', '-']));
        if rest[sign..].starts_with(|c: char| c.is_ascii_digit()) {
            end = digits(sign);
        }
    }
    let value: f64 = rest[..end].parse().map_err(|_| Wrong::new(at, "not a number"))?;
    if !value.is_finite() {
        return Err(Wrong::new(at, format!("number too large: {}", quoted(&rest[..end]))));
    }
    let behind = &rest[end..];
    let spaces = behind.len() - behind.trim_start().len();
    let behind = behind.trim_start();
    let length = match behind.chars().next() {
        Some('%') => 1,
        Some(c) if is_letter(c) => name(behind),
        _ => 0,
    };
    let word = &behind[..length];
    if length == 0 || WORDS.contains(&word) {
        let kind = if end == whole { Type::Count } else { Type::Number };
        return Ok(Token { kind: TokenKind::Number(value, kind), at: at..at + end });
    }
    let Some((kind, factor)) = unit(word) else {
        let place = at + end + spaces;
        return Err(Wrong::new(place, format!("unknown unit {}, expected {UNIT_NAMES}", quoted(word))));
    };
    // Of all types with units only a percentage is a fraction by its factor: 10 % is 0.1 to the last bit.
    let value = if word == "%" { value / 100.0 } else { value * factor };
    Ok(Token { kind: TokenKind::Number(value, kind), at: at..at + end + spaces + length })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> TokenKind {
        token(text, 0).unwrap().kind
    }

    #[test]
    fn numbers_have_the_type_of_their_unit() {
        assert_eq!(first("5 ms"), TokenKind::Number(0.005, Type::Time));
        assert_eq!(first("5ms"), TokenKind::Number(0.005, Type::Time));
        assert_eq!(first("2 µs"), TokenKind::Number(2e-6, Type::Time));
        assert_eq!(first("64 KiB"), TokenKind::Number(65536.0, Type::Bytes));
        assert_eq!(first("10 %"), TokenKind::Number(0.1, Type::Number));
        assert_eq!(first("1e3"), TokenKind::Number(1000.0, Type::Number));
        assert_eq!(first("12 and"), TokenKind::Number(12.0, Type::Count));
        assert_eq!(first(".5"), TokenKind::Number(0.5, Type::Number));
    }

    #[test]
    fn names_have_dots_and_words_are_no_names() {
        assert_eq!(first(" run.all "), TokenKind::Name("run.all".to_owned()));
        assert_eq!(first("not x"), TokenKind::Word("not"));
        assert_eq!(first("nothing"), TokenKind::Name("nothing".to_owned()));
    }

    #[test]
    fn what_is_no_word_is_said_with_what_may_be_meant() {
        let message = |text: &str| token(text, 0).unwrap_err().message;
        assert_eq!(message("= 1"), "unexpected character \"=\", equal is written ==");
        assert_eq!(message("&& x"), "unexpected character \"&\", both is written \"and\"");
        assert_eq!(message("|| x"), "unexpected character \"|\", either is written \"or\"");
        assert_eq!(message("! x"), "unexpected character \"!\", the opposite is written \"not\"");
        assert_eq!(message("% 2"), "unexpected character \"%\", a unit follows a number");
        assert_eq!(message("#"), "unexpected character \"#\"");
        assert_eq!(message("'abc"), "a text without its closing quote");
        assert_eq!(message("1e999"), "number too large: \"1e999\"");
        assert_eq!(
            message("5 sec"),
            "unknown unit \"sec\", expected s, ms, us, ns, B, KiB, MiB, GiB, TiB or %"
        );
    }
}
