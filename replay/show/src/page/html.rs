//! HTML in the making: elements with attributes and text, both escaped, so that no name can be anything but text.

use crate::output::names::printable;

/// A piece of a page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Html(String);

impl Html {
    /// Adds the begin of an element.
    pub(crate) fn open(&mut self, tag: &str, attributes: &[(&str, &str)]) -> &mut Html {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.extend([" ", name, "=\"", &escaped(value), "\""]);
        }
        self.0.push('>');
        self
    }

    /// Adds the end of an element.
    pub(crate) fn close(&mut self, tag: &str) -> &mut Html {
        self.0.extend(["</", tag, ">\n"]);
        self
    }

    /// Adds text.
    pub(crate) fn text(&mut self, text: &str) -> &mut Html {
        self.0.push_str(&escaped(text));
        self
    }

    /// Adds an element with text.
    pub(crate) fn element(&mut self, tag: &str, attributes: &[(&str, &str)], text: &str) -> &mut Html {
        self.open(tag, attributes).text(text);
        self.0.extend(["</", tag, ">\n"]);
        self
    }

    /// Adds words in a line: an element with text, and no line end behind it.
    pub(crate) fn inline(&mut self, tag: &str, text: &str) -> &mut Html {
        self.open(tag, &[]).text(text);
        self.0.extend(["</", tag, ">"]);
        self
    }

    /// Adds what is HTML already, of our own making.
    pub(crate) fn raw(&mut self, html: &str) -> &mut Html {
        self.0.push_str(html);
        self
    }

    /// The text of the page.
    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

/// A text without hostile characters and with those escaped that mean something in HTML, also in quoted attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in printable(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut html = Html::default();
        html.element("p", &[("title", "\"onload='x'")], "</p><script>&\u{202e}");
        assert_eq!(
            html.into_text(),
            "<p title=\"&quot;onload=&#39;x&#39;\">&lt;/p&gt;&lt;script&gt;&amp;\u{fffd}</p>\n"
        );
    }
}
