//! Writing the dialect of XML that CubeLib's scanner accepts: text elements are never self-closed, and all
//! five special characters are escaped everywhere.

use std::fmt::{self, Display, Write as _};
use std::io;

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

/// A document under construction, which goes to `out` as it grows: its names may be many times longer than all that is
/// in memory of them.
pub(crate) struct Document<'w> {
    out: &'w mut dyn io::Write,
    /// The first failure; nothing is written after it.
    written: io::Result<()>,
}

impl<'w> Document<'w> {
    pub(crate) fn new(out: &'w mut dyn io::Write) -> Document<'w> {
        Document { out, written: Ok(()) }
    }

    /// Appends one line as it is.
    pub(crate) fn line(&mut self, line: fmt::Arguments<'_>) {
        if self.written.is_ok() {
            self.written = self.out.write_fmt(line).and_then(|()| self.out.write_all(b"\n"));
        }
    }

    /// Appends an element that contains text.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.line(format_args!("<{name}>{}</{name}>", Escaped(text)));
    }

    /// Whether everything was written.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.written
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
