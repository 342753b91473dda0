//! Writing the dialect of XML that CubeLib's scanner accepts: text elements are never self-closed, tags stand on lines of
//! their own, and all five special characters are escaped everywhere.

use std::borrow::Cow;
use std::fmt::Display;
use std::io;

use quick_xml::Writer;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

/// Text without characters that XML forbids, which become U+FFFD. Line ends and tabs become blanks, as readers take them
/// for such anyway.
fn clean(text: &str) -> Cow<'_, str> {
    let replacement = |c: char| match c {
        '\n' | '\r' | '\t' => Some(' '),
        '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    };
    match text.contains(|c| replacement(c).is_some()) {
        true => text.chars().map(|c| replacement(c).unwrap_or(c)).collect::<String>().into(),
        false => text.into(),
    }
}

/// The name and the attributes of an element.
pub(crate) struct Tag(BytesStart<'static>);

impl Tag {
    /// Adds an attribute.
    pub(crate) fn with(mut self, key: &str, value: &str) -> Tag {
        self.0.push_attribute((key, clean(value)));
        self
    }

    /// Adds an attribute whose text has nothing to be escaped, such as a number.
    pub(crate) fn with_plain(mut self, key: &str, value: impl Display) -> Tag {
        self.0.push_attribute(Attribute::from((key.as_bytes(), value.to_string().as_bytes())));
        self
    }

    /// Adds an attribute unless its value is empty.
    pub(crate) fn with_any(self, key: &str, value: &str) -> Tag {
        if value.is_empty() { self } else { self.with(key, value) }
    }
}

impl From<&'static str> for Tag {
    fn from(name: &'static str) -> Tag {
        Tag(BytesStart::new(name))
    }
}

/// A document under construction, which goes to `out` as it grows, element by element: its names may be many times longer
/// than all that is in memory of them.
pub(crate) struct Document<'w> {
    xml: Writer<&'w mut dyn io::Write>,
    /// The first failure; nothing is written after it.
    written: io::Result<()>,
}

impl<'w> Document<'w> {
    /// A document with its declaration.
    pub(crate) fn new(out: &'w mut dyn io::Write) -> Document<'w> {
        let mut document = Document { xml: Writer::new(out), written: Ok(()) };
        document.put(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)));
        document.end_line();
        document.end_line();
        document
    }

    fn put(&mut self, event: Event<'_>) {
        if self.written.is_ok() {
            self.written = self.xml.write_event(event);
        }
    }

    fn end_line(&mut self) {
        self.put(Event::Text(BytesText::from_escaped("\n")));
    }

    /// Begins an element with others inside.
    pub(crate) fn open(&mut self, tag: impl Into<Tag>) {
        self.put(Event::Start(tag.into().0));
        self.end_line();
    }

    /// Ends an element with others inside.
    pub(crate) fn close(&mut self, name: &str) {
        self.put(Event::End(BytesEnd::new(name)));
        self.end_line();
    }

    /// Appends an element that has attributes only.
    pub(crate) fn empty(&mut self, tag: Tag) {
        self.put(Event::Empty(tag.0));
        self.end_line();
    }

    /// Appends an element that contains text.
    pub(crate) fn text(&mut self, tag: impl Into<Tag>, text: &str) {
        let Tag(start) = tag.into();
        self.put(Event::Start(start.borrow()));
        self.put(Event::Text(BytesText::new(&clean(text))));
        self.put(Event::End(start.to_end()));
        self.end_line();
    }

    /// Whether everything was written.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: &str = "a<b> & 'c' \"d\"\n\x1b€";

    const ESCAPED: &str = "a&lt;b&gt; &amp; &apos;c&apos; &quot;d&quot; \u{fffd}€";

    fn written(write: impl FnOnce(&mut Document<'_>)) -> String {
        let mut out = Vec::new();
        let mut document = Document::new(&mut out);
        write(&mut document);
        document.finish().unwrap();
        let text = String::from_utf8(out).unwrap();
        text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\n").unwrap().into()
    }

    #[test]
    fn special_characters_are_escaped_and_controls_replaced() {
        assert_eq!(written(|out| out.text("name", ODD)), format!("<name>{ESCAPED}</name>\n"));
        let tag = || Tag::from("attr").with("key", ODD);
        assert_eq!(written(|out| out.empty(tag())), format!("<attr key=\"{ESCAPED}\"/>\n"));
    }

    #[test]
    fn elements_without_text_have_two_tags() {
        assert_eq!(written(|out| out.text("url", "")), "<url></url>\n");
    }

    #[test]
    fn tags_stand_on_lines_of_their_own() {
        let text = written(|out| {
            out.open(Tag::from("cnode").with_plain("id", 7).with_any("mod", ""));
            out.close("cnode");
        });
        assert_eq!(text, "<cnode id=\"7\">\n</cnode>\n");
    }
}
