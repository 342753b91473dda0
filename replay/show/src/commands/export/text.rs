//! Texts from files in the formats of others: nothing in a name breaks a line, ends a string, or becomes a formula.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::output::names::{is_hostile, printable};

/// Stands for a name that is empty, where a format cannot have such.
const NAMELESS: &str = "(no name)";

/// A name on one line, never empty.
pub(super) fn name(text: &str) -> String {
    if text.is_empty() { NAMELESS.to_owned() } else { printable(text) }
}

/// A string of JSON, with the quotes (RFC 8259). What a terminal or an editor would obey is escaped, and `<`, so that no
/// HTML around it ends.
pub(super) fn json_string(text: &str) -> String {
    let mut string = String::with_capacity(text.len() + 2);
    string.push('"');
    for letter in text.chars() {
        match letter {
            '"' => string.push_str("\\\""),
            '\\' => string.push_str("\\\\"),
            letter if is_hostile(letter) || letter == '<' => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    // Strings take everything.
                    let _ = write!(string, "\\u{unit:04x}");
                }
            }
            letter => string.push(letter),
        }
    }
    string.push('"');
    string
}

/// A number of JSON with all digits; null if it is none.
pub(super) fn json_number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { "null".to_owned() }
}

/// A field of CSV (RFC 4180): on one line, and no formula of a spreadsheet.
pub(super) fn csv_field(text: &str) -> String {
    let text = printable(text);
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text };
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Writes items with commas between them.
pub(super) fn separated<T>(
    out: &mut dyn Write,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut dyn Write, T) -> io::Result<()>,
) -> io::Result<()> {
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.write_all(b",\n")?;
        }
        write(out, item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_in_every_format() {
        assert_eq!((name(""), name("a\nb")), (NAMELESS.into(), "a\u{fffd}b".into()));
        let text = "</script>\"\\\u{202e}\u{2028}\n😀";
        let string = json_string(text);
        assert!(string.is_ascii() || string.contains('😀'));
        assert!(!string.contains('<') && !string.contains('\u{2028}'));
        assert_eq!(serde_json::from_str::<String>(&string).unwrap(), text);
        assert_eq!(csv_field("=1+2,\"x\"\n"), "\"'=1+2,\"\"x\"\"\u{fffd}\"");
    }

    #[test]
    fn numbers_keep_all_digits() {
        for value in [0.1 + 0.2, 1e300, 5e-324, -0.0, 123_456_789.123_456_78] {
            assert_eq!(serde_json::from_str::<f64>(&json_number(value)).unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(json_number(f64::NAN), "null");
    }
}
