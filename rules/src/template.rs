//! Texts with placeholders: `{waiting}`, `{waiting:s}`, `{most(last_rank, wait)}`.

use crate::code::{Code, LINES};
use crate::schema::Names;
use crate::source::{Problems, Text, quoted};
use crate::{Type, check, parse};

/// Placeholders of a text at most.
const MOST_PLACEHOLDERS: usize = 64;

/// A text with placeholders.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Template {
    pub(crate) pieces: Vec<Piece>,
}

/// A piece of a text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Piece {
    /// Letters.
    Plain(String),
    /// A value, and how it is printed.
    Value(Code, Format),
}

/// How a value is printed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Format {
    /// As its type is.
    Usual,
    /// In a unit: its name, and how many of it one second, byte or 1 is.
    Unit(&'static str, f64),
    /// With so many digits behind the point.
    Digits(usize),
}

/// Formats by name, with the type that they are for.
const FORMATS: [(&str, Type, f64); 8] = [
    ("s", Type::Time, 1.0),
    ("ms", Type::Time, 1e3),
    ("us", Type::Time, 1e6),
    ("B", Type::Bytes, 1.0),
    ("KiB", Type::Bytes, 1.0 / 1024.0),
    ("MiB", Type::Bytes, 1.0 / 1_048_576.0),
    ("GiB", Type::Bytes, 1.0 / 1_073_741_824.0),
    ("%", Type::Number, 100.0),
];

impl Template {
    /// Reads a text and checks its placeholders.
    pub(crate) fn read(scope: &mut check::Scope<'_>, text: &Text, problems: &mut Problems) -> Template {
        let mut template = Template::default();
        let mut at = 0;
        let mut plain = String::new();
        let mut count = 0;
        scope.is_text = true;
        while let Some(found) = text.text[at..].find(['{', '}']) {
            plain.push_str(&text.text[at..at + found]);
            at += found;
            let rest = &text.text[at..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                plain.push_str(&rest[..1]);
                at += 2;
                continue;
            }
            count += 1;
            let end = rest.find('}').filter(|&end| end > 0);
            let (Some(end), true) = (end, count <= MOST_PLACEHOLDERS) else {
                let message = match (end, rest.starts_with('{')) {
                    (Some(_), _) => format!("text with more than {MOST_PLACEHOLDERS} placeholders"),
                    (_, true) => "placeholder without \"}\", expected {name}, or {{ for a brace".to_owned(),
                    (_, false) => "\"}\" without a placeholder, expected }} for a brace".to_owned(),
                };
                problems.add(text.place(at), message);
                break;
            };
            if let Some(value) = placeholder(scope, text, at + 1..at + end, problems) {
                template.pieces.push(Piece::Plain(std::mem::take(&mut plain)));
                template.pieces.push(value);
            }
            at += end + 1;
        }
        plain.push_str(&text.text[at..]);
        template.pieces.push(Piece::Plain(plain));
        scope.is_text = false;
        template
    }

    /// Expressions in it.
    pub(crate) fn codes(&self) -> impl Iterator<Item = &Code> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(code, _) => Some(code),
            Piece::Plain(_) => None,
        })
    }
}

/// Reads what stands between braces.
fn placeholder(
    scope: &mut check::Scope<'_>,
    text: &Text,
    at: std::ops::Range<usize>,
    problems: &mut Problems,
) -> Option<Piece> {
    let inside = &text.text[at.clone()];
    let (expression, format) = match inside.rsplit_once(':') {
        // A colon may also stand in a text.
        Some((expression, format)) if format.chars().all(|c| c.is_alphanumeric() || c == '%') => {
            (expression, Some(format))
        }
        _ => (inside, None),
    };
    let tree = match parse::parse(expression) {
        Ok(tree) => tree,
        Err(wrong) => {
            problems.add(text.place(at.start + wrong.at), wrong.message);
            return None;
        }
    };
    let part = text.part(at.start, expression);
    let code = check::check(scope, check::Over::Group, &part, &tree, problems)?;
    let kind = code.kind().kind;
    let format = match format {
        None => Some(Format::Usual),
        Some(digit) if digit.len() == 1 && digit.as_bytes()[0].is_ascii_digit() => {
            let digits = usize::from(digit.as_bytes()[0] - b'0');
            kind.is_plain().then_some(Format::Digits(digits))
        }
        Some(name) => {
            let fits = |of: Type| of == kind || of.is_plain() && kind.is_plain();
            let known = FORMATS.iter().find(|format| format.0 == name && fits(format.1));
            known.map(|&(name, _, factor)| Format::Unit(name, factor))
        }
    };
    if format.is_none() {
        let formats: Vec<&str> =
            FORMATS.iter().filter(|format| format.1 == kind).map(|format| format.0).collect();
        let expected = match (kind.is_plain(), formats.as_slice()) {
            (true, _) => "expected % or a number of digits".to_owned(),
            (false, []) => "expected none".to_owned(),
            (false, formats) => format!("expected {}", formats.join(", ")),
        };
        let place = text.place(at.start + expression.len() + 1);
        let name = quoted(&inside[expression.len() + 1..]);
        problems.add(place, format!("format {name} for {kind}, {expected}"));
    }
    Some(Piece::Value(code, format?))
}

/// Prints a value. Times are ticks.
pub(crate) fn print(
    value: f64,
    kind: crate::code::Kind,
    format: Format,
    ticks_per_second: f64,
    names: &dyn Names,
) -> String {
    let in_units = match kind.kind {
        Type::Time | Type::Instant => value / ticks_per_second,
        Type::Rate => value * ticks_per_second,
        _ => value,
    };
    match format {
        Format::Digits(digits) => return format!("{value:.digits$}"),
        Format::Unit(name, factor) => return format!("{} {name}", significant(in_units * factor)),
        Format::Usual => {}
    }
    match kind.kind {
        Type::Bool => (if value == 0.0 { "no" } else { "yes" }).to_owned(),
        Type::Count => format!("{value:.0}"),
        Type::Number => significant(value),
        Type::Time | Type::Instant => {
            scaled(in_units, &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)])
        }
        Type::Bytes => bytes(in_units),
        Type::Rate => format!("{}/s", bytes(in_units)),
        Type::Rank => format!("rank {value:.0}"),
        Type::Path | Type::Operation | Type::Text => {
            let number = whole(value);
            let name = match kind.domain {
                LINES => names.line(number),
                domain => names.printed(kind.kind, domain, number),
            };
            name.unwrap_or_else(|| "unknown".to_owned())
        }
    }
}

/// A number of a name; those are below 2^53.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn whole(value: f64) -> i64 {
    value as i64
}

fn bytes(value: f64) -> String {
    scaled(value, &[("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0), ("B", 1.0)])
}

/// A value in the largest unit of which it has one at least.
fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    let fitting = units.iter().find(|unit| value.abs() >= unit.1);
    let (name, factor) = match fitting {
        Some(unit) => *unit,
        None if value == 0.0 => units[if units[0].1 > 1.0 { units.len() - 1 } else { 0 }],
        None => units[units.len() - 1],
    };
    format!("{} {name}", significant(value / factor))
}

/// A number with three digits at least, and at most three behind the point that say something.
fn significant(value: f64) -> String {
    let size = value.abs();
    let mut digits = 2;
    let mut limit = 10.0;
    while digits > 0 && size >= limit {
        digits -= 1;
        limit *= 10.0;
    }
    let mut limit = 1.0;
    while size > 0.0 && digits < 9 && size < limit && limit > 1e-6 {
        digits += 1;
        limit /= 10.0;
    }
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_say_something() {
        assert_eq!(significant(1.114), "1.11");
        assert_eq!(significant(0.30412), "0.304");
        assert_eq!(significant(0.012_34), "0.0123");
        assert_eq!(significant(24.44), "24.4");
        assert_eq!(significant(1234.6), "1235");
        assert_eq!(significant(0.0), "0.00");
    }

    #[test]
    fn times_and_bytes_have_the_largest_unit_of_which_there_is_one() {
        assert_eq!(scaled(0.0042, &[("s", 1.0), ("ms", 1e-3)]), "4.20 ms");
        assert_eq!(bytes(3200.0), "3.12 KiB");
        assert_eq!(bytes(8.0), "8.00 B");
        assert_eq!(bytes(0.0), "0.00 B");
        assert_eq!(scaled(0.0, &[("s", 1.0), ("ms", 1e-3)]), "0.00 s");
    }
}
