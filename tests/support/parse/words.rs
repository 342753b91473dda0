//! Words of a line of a script.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The remaining words of a line or statement.
pub(super) struct Words<'a> {
    pub(super) rest: &'a str,
}

impl<'a> Words<'a> {
    pub(super) fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        Some(word)
    }

    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, String> {
        self.next().ok_or_else(|| format!("{what} is missing"))
    }

    /// A word, or several in quotes.
    pub(super) fn quoted(&mut self, what: &str) -> Result<&'a str, String> {
        let Some(quoted) = self.rest.trim_start().strip_prefix('"') else { return self.word(what) };
        let (words, rest) = quoted.split_once('"').ok_or_else(|| format!("{what} has no second quote"))?;
        self.rest = rest;
        Ok(words)
    }

    pub(super) fn number<T: FromStr>(&mut self, what: &str) -> Result<T, String> {
        let word = self.word(what)?;
        word.parse().map_err(|_| format!("{word} is not a {what}"))
    }

    pub(super) fn rest(&mut self) -> &'a str {
        std::mem::take(&mut self.rest).trim()
    }

    /// Pairs of a keyword and a value, up to the end.
    pub(super) fn options(&mut self, known: &[&str]) -> Result<BTreeMap<&'a str, &'a str>, String> {
        let mut options = BTreeMap::new();
        while let Some(key) = self.next() {
            if !known.contains(&key) {
                return Err(format!("unknown word {key}, expected one of {known:?}"));
            }
            options.insert(key, self.word(key)?);
        }
        Ok(options)
    }
}

/// A number among options, or a default.
pub(super) fn number<T: FromStr>(options: &BTreeMap<&str, &str>, key: &str, default: T) -> Result<T, String> {
    options
        .get(key)
        .map_or(Ok(default), |value| value.parse().map_err(|_| format!("{value} is not a number")))
}
