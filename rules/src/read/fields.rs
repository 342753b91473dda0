//! Access to tables of TOML, with what is wrong in them.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::source::{Place, Problems, Text, quoted};
use crate::suggest::suggestion;

/// A table of a file.
#[derive(Clone, Copy)]
pub(super) struct Fields<'t> {
    pub(super) file: usize,
    /// The whole file.
    pub(super) source: &'t str,
    table: &'t DeTable<'t>,
    /// Where it begins.
    at: usize,
    /// A key that is looked at elsewhere.
    without: Option<&'static str>,
}

impl<'t> Fields<'t> {
    pub(super) fn new(file: usize, source: &'t str, table: &'t Spanned<DeTable<'t>>) -> Fields<'t> {
        Fields { file, source, table: table.get_ref(), at: table.span().start, without: None }
    }

    pub(super) fn place(&self) -> Place {
        Place { file: self.file, at: self.at }
    }

    /// The table as if it had not this key.
    pub(super) fn without(self, key: &'static str) -> Fields<'t> {
        Fields { without: Some(key), ..self }
    }

    fn text_at(&self, span: Range<usize>, text: &str) -> Text {
        Text::new(self.file, self.source, span, text)
    }

    /// All keys with their values in the order of the file.
    fn all(&self) -> Vec<(Text, &'t Spanned<DeValue<'t>>)> {
        let there = self.table.iter().filter(|(key, _)| self.without != Some(key.get_ref()));
        let mut all: Vec<_> =
            there.map(|(key, value)| (self.text_at(key.span(), key.get_ref()), value)).collect();
        all.sort_by_key(|(key, _)| key.start());
        all
    }

    /// Says which keys are none that are known here.
    pub(super) fn check_keys(&self, known: &[&str], problems: &mut Problems) {
        for (key, _) in self.all() {
            if problems.is_full() {
                return;
            }
            if !known.contains(&key.text.as_str()) {
                let hint = suggestion(&key.text, known.iter().copied());
                let expected = known.join(", ");
                let message = match hint.is_empty() {
                    true => format!("unknown key {}, expected {expected}", quoted(&key.text)),
                    false => format!("unknown key {}{hint}", quoted(&key.text)),
                };
                problems.add(key.start(), message);
            }
        }
    }

    /// Whether a key is there, whatever its value.
    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.iter().find(|(known, _)| known.get_ref() == key).map(|(_, value)| value)
    }

    fn expected(&self, value: &Spanned<DeValue<'_>>, key: &str, expected: &str, problems: &mut Problems) {
        let found = value.get_ref().type_str();
        let place = Place { file: self.file, at: value.span().start };
        problems.add(place, format!("\"{key}\" is of type {found}, expected {expected}"));
    }

    /// A string.
    pub(super) fn text(&self, key: &str, problems: &mut Problems) -> Option<Text> {
        let value = self.get(key)?;
        let text = self.string(value);
        if text.is_none() {
            self.expected(value, key, "a string", problems);
        }
        text
    }

    fn string(&self, value: &Spanned<DeValue<'_>>) -> Option<Text> {
        match value.get_ref() {
            DeValue::String(text) => Some(self.text_at(value.span(), text)),
            _ => None,
        }
    }

    /// An expression: a string, or a number as it is.
    pub(super) fn expression(&self, key: &str, problems: &mut Problems) -> Option<Text> {
        let value = self.get(key)?;
        let text = self.expression_of(value);
        if text.is_none() {
            self.expected(value, key, "an expression in quotes", problems);
        }
        text
    }

    fn expression_of(&self, value: &Spanned<DeValue<'_>>) -> Option<Text> {
        match value.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) => {
                Some(self.text_at(value.span(), &self.source[value.span()]))
            }
            _ => self.string(value),
        }
    }

    /// Strings, or one string; at most `most`.
    pub(super) fn texts(&self, key: &str, most: usize, problems: &mut Problems) -> Option<Vec<Text>> {
        let value = self.get(key)?;
        let texts = match value.get_ref() {
            DeValue::Array(list) => list.iter().map(|value| self.string(value)).collect(),
            _ => self.string(value).map(|text| vec![text]),
        };
        match &texts {
            None => self.expected(value, key, "strings", problems),
            Some(texts) if texts.len() > most => {
                let place = texts[most].start();
                problems.add(place, format!("\"{key}\" has {} values, at most {most} are read", texts.len()));
                return None;
            }
            Some(_) => {}
        }
        texts
    }

    /// True or false.
    pub(super) fn flag(&self, key: &str, problems: &mut Problems) -> Option<bool> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            _ => {
                self.expected(value, key, "true or false", problems);
                None
            }
        }
    }

    /// A whole number.
    pub(super) fn number(&self, key: &str, problems: &mut Problems) -> Option<(u64, Place)> {
        let value = self.get(key)?;
        let number = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        if number.is_none() {
            self.expected(value, key, "a whole number", problems);
        }
        number.map(|number| (number, Place { file: self.file, at: value.span().start }))
    }

    /// A table.
    pub(super) fn table(&self, key: &str, problems: &mut Problems) -> Option<Fields<'t>> {
        let value = self.get(key)?;
        let fields = self.fields(value);
        if fields.is_none() {
            self.expected(value, key, "a table", problems);
        }
        fields
    }

    fn fields(&self, value: &'t Spanned<DeValue<'t>>) -> Option<Fields<'t>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Fields { table, at: value.span().start, without: None, ..*self }),
            _ => None,
        }
    }

    /// A list of tables; at most `most`.
    pub(super) fn tables(&self, key: &str, most: usize, problems: &mut Problems) -> Vec<Fields<'t>> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let DeValue::Array(list) = value.get_ref() else {
            self.expected(value, key, &format!("[[{key}]]"), problems);
            return Vec::new();
        };
        if let Some(first) = list.get(most) {
            let place = Place { file: self.file, at: first.span().start };
            problems.add(place, format!("{} of [[{key}]], at most {most} are read", list.len()));
        }
        let mut tables = Vec::new();
        for value in list.iter().take(most) {
            match self.fields(value) {
                Some(fields) => tables.push(fields),
                None => self.expected(value, key, &format!("[[{key}]]"), problems),
            }
        }
        tables
    }

    /// Expressions by name in the order of the file; at most `most`.
    pub(super) fn expressions(&self, most: usize, problems: &mut Problems) -> Vec<(Text, Text)> {
        let all = self.all();
        if let Some((key, _)) = all.get(most) {
            problems.add(key.start(), format!("{} names, at most {most} are read", all.len()));
        }
        let mut expressions = Vec::new();
        for (key, value) in all.into_iter().take(most) {
            match self.expression_of(value) {
                Some(text) => expressions.push((key, text)),
                None => self.expected(value, &key.text, "an expression in quotes", problems),
            }
        }
        expressions
    }

    /// Values by name in the order of the file: numbers, truth, and texts, which may be numbers with a unit; at most `most`.
    pub(super) fn cells(&self, most: usize, problems: &mut Problems) -> Vec<(Text, Text)> {
        let all = self.all();
        if let Some((key, _)) = all.get(most) {
            problems.add(key.start(), format!("{} values, at most {most} are read", all.len()));
        }
        let mut cells = Vec::new();
        for (key, value) in all.into_iter().take(most) {
            let text = match value.get_ref() {
                DeValue::Boolean(_) => Some(self.text_at(value.span(), &self.source[value.span()])),
                _ => self.expression_of(value),
            };
            match text {
                Some(text) => cells.push((key, text)),
                None => {
                    self.expected(value, &key.text, "a number, true, false, or a text in quotes", problems)
                }
            }
        }
        cells
    }

    /// Tables by name in the order of the file.
    pub(super) fn named_tables(&self, problems: &mut Problems) -> Vec<(Text, Fields<'t>)> {
        let mut tables = Vec::new();
        for (key, value) in self.all() {
            match self.fields(value) {
                Some(fields) => tables.push((key, fields)),
                None => self.expected(value, &key.text, "a table", problems),
            }
        }
        tables
    }
}
