//! Attributes of XML tags, and entities.

use quick_xml::events::BytesStart;
use quick_xml::events::attributes::AttrError;

use crate::error::{Error, Result};

/// The attributes of an opening tag.
#[derive(Debug)]
pub(super) struct Tag(Vec<(String, String)>);

impl Tag {
    /// Collects the attributes; reference writers omit the quotes in some places.
    pub(super) fn new(start: &BytesStart<'_>) -> Result<Tag> {
        let attribute =
            |attribute: std::result::Result<quick_xml::events::attributes::Attribute<'_>, AttrError>| {
                let attribute = attribute.map_err(|error| Error::invalid(error.to_string()))?;
                let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
                Ok((key, plain(&String::from_utf8_lossy(&attribute.value))))
            };
        start.html_attributes().with_checks(false).map(attribute).collect::<Result<_>>().map(Tag)
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The attribute's text, empty if it is missing.
    pub(super) fn text(&self, key: &str) -> String {
        self.get(key).unwrap_or_default().to_owned()
    }

    /// A number that must be present.
    pub(super) fn number(&self, key: &str) -> Result<u64> {
        self.get(key).map_or_else(|| Err(Error::invalid(format!("attribute {key} is missing"))), number)
    }

    /// The number of an element; both spellings are in use.
    pub(super) fn id(&self) -> Result<u64> {
        self.number(if self.get("Id").is_some() { "Id" } else { "id" })
    }

    /// A line of source code; `None` unless it is a positive number.
    pub(super) fn line(&self, key: &str) -> Option<u32> {
        self.get(key)?.trim().parse().ok().filter(|line| *line > 0)
    }
}

/// Parses a number.
pub(super) fn number(text: &str) -> Result<u64> {
    text.trim().parse().map_err(|_| Error::invalid(format!("\"{}\" is not a number", text.escape_debug())))
}

/// Text with line ends replaced by blanks and the five entities of XML decoded; other entities stay.
pub(super) fn plain(text: &str) -> String {
    decoded(text).replace('\n', " ")
}

/// Text with the five entities of XML decoded; other entities stay.
pub(super) fn decoded(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split('&');
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let entity = part.split_once(';').and_then(|(name, rest)| Some((entity(name)?, rest)));
        let (c, rest) = entity.unwrap_or(('&', part));
        plain.push(c);
        plain.push_str(rest);
    }
    plain
}

/// The character of an entity.
pub(super) fn entity(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "apos" => '\'',
        "quot" => '"',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_entities_are_decoded_and_others_kept() {
        assert_eq!(plain("a&lt;b&amp;lt;&#65;&x;&\nc"), "a<b&lt;&#65;&x;& c");
    }

    #[test]
    fn attributes_without_quotes_are_understood() {
        let tag = Tag::new(&BytesStart::from_content("cubepl rowwise=false a='1' b=\"2\"", 6)).unwrap();
        assert_eq!([tag.get("rowwise"), tag.get("a"), tag.get("b")], [Some("false"), Some("1"), Some("2")]);
    }

    #[test]
    fn lines_that_are_not_positive_are_unknown() {
        let tag = Tag::new(&BytesStart::from_content("region begin=\"-1\" end=\"7\"", 6)).unwrap();
        assert_eq!((tag.line("begin"), tag.line("end"), tag.line("none")), (None, Some(7), None));
    }
}
