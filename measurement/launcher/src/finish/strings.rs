//! Strings, each once.

use std::collections::HashMap;

/// Strings by their numbers.
#[derive(Clone, Default, Debug)]
pub(crate) struct Strings {
    list: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Strings {
    /// Returns the number of a string, which is added if it is new.
    pub(crate) fn number(&mut self, string: &str) -> u32 {
        if let Some(&known) = self.numbers.get(string) {
            return known;
        }
        let number = self.list.len() as u32;
        self.list.push(string.to_string());
        self.numbers.insert(string.to_string(), number);
        number
    }

    /// Iterates over all of them, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(String::as_str)
    }
}
