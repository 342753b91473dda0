//! Writing the dialect of XML that CubeLib's scanner accepts: text elements are never self-closed, and all
//! five special characters are escaped everywhere.

use std::fmt::{self, Display, Write};

/// Text in which nothing is left that could break the file.
///
/// Line ends and tabs become blanks (readers do that anyway); other characters that XML forbids become
/// U+FFFD.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '\'' => f.write_str("&apos;"),
            '"' => f.write_str("&quot;"),
            '\n' | '\r' | '\t' => f.write_char(' '),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => f.write_char(char::REPLACEMENT_CHARACTER),
            _ => f.write_char(c),
        })
    }
}

/// A document under construction.
#[derive(Debug, Default)]
pub(crate) struct Document(String);

impl Document {
    /// Appends one line as it is.
    pub(crate) fn line(&mut self, line: fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.0.write_fmt(line);
        self.0.push('\n');
    }

    /// Appends an element that contains text.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.line(format_args!("<{name}>{}</{name}>", Escaped(text)));
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped_and_controls_replaced() {
        let escaped = Escaped("a<b> & 'c' \"d\"\n\x1b€").to_string();
        assert_eq!(escaped, "a&lt;b&gt; &amp; &apos;c&apos; &quot;d&quot; \u{fffd}€");
    }
}
