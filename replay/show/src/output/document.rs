//! Documents: what a command has to say, before it is rendered as text, JSON or CSV.
//!
//! A command makes a [`Document`] of facts, text and tables. Text renders the texts and tables, JSON the facts and tables,
//! CSV and TSV the first table.

use serde_json::{Map, Value};

use super::line::{Line, Style};
use crate::values::{Quantity, Unit};

/// What a command has to say.
#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    /// The command, for the schema `replay-show.COMMAND/1`.
    pub command: &'static str,
    /// Facts that only JSON shows, in this order.
    pub facts: Map<String, Value>,
    /// Texts and tables in order.
    pub parts: Vec<Part>,
}

impl Document {
    /// A document without anything.
    pub fn new(command: &'static str) -> Document {
        Document { command, facts: Map::new(), parts: Vec::new() }
    }

    /// Adds a fact for JSON.
    pub fn fact(&mut self, key: &str, value: impl Into<Value>) {
        self.facts.insert(key.to_owned(), value.into());
    }

    /// Adds a paragraph.
    pub fn text(&mut self, line: impl Into<Line>) {
        self.parts.push(Part::Text(line.into()));
    }

    /// Adds an empty line.
    pub fn gap(&mut self) {
        self.text(Line::default());
    }

    /// Adds a line that is as wide as it should be, such as a picture.
    pub fn picture(&mut self, line: impl Into<Line>) {
        self.parts.push(Part::Picture(line.into()));
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.parts.push(Part::Table(table));
    }

    /// Says how many of so many rows are not among the first ones, which are shown, and with which option all are.
    pub fn more(&mut self, count: usize, shown: usize, option: &str) {
        if count > shown {
            let text = format!("and {} more ({option}\u{a0}{count})", count - shown);
            self.text(Line::styled(text, Style::Dim));
        }
    }
}

/// A part of a document.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// A paragraph: lines break at spaces. Only in text.
    Text(Line),
    /// A line that is not broken. Only in text.
    Picture(Line),
    /// A table.
    Table(Table),
}

/// A table with typed cells.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Key in JSON.
    pub key: &'static str,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Where it is shown.
    pub shown: Shown,
}

impl Table {
    /// A table without rows, shown everywhere.
    pub fn new(key: &'static str, columns: Vec<Column>) -> Table {
        Table { key, columns, rows: Vec::new(), shown: Shown::Everywhere }
    }

    /// This table, shown to scripts only: text has a picture of it.
    #[must_use]
    pub fn data_only(self) -> Table {
        Table { shown: Shown::DataOnly, ..self }
    }

    /// This table, shown in text only: scripts have other columns.
    #[must_use]
    pub fn text_only(self) -> Table {
        Table { shown: Shown::TextOnly, ..self }
    }
}

/// Where a table or a column is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// In text, JSON, CSV and TSV.
    Everywhere,
    /// In JSON, CSV and TSV.
    DataOnly,
    /// In text.
    TextOnly,
}

/// A column of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Key in JSON and title in CSV.
    pub key: String,
    /// Title in text.
    pub title: String,
    /// Where it is shown.
    pub shown: Shown,
    /// Columns of one group have as many decimals: their numbers are compared with each other.
    pub group: Option<&'static str>,
}

impl Column {
    /// A column, shown everywhere. The title may be empty.
    pub fn new(key: impl Into<String>, title: impl Into<String>) -> Column {
        Column { key: key.into(), title: title.into(), shown: Shown::Everywhere, group: None }
    }

    /// A column for scripts.
    pub fn data(key: impl Into<String>) -> Column {
        Column { shown: Shown::DataOnly, ..Column::new(key, "") }
    }

    /// This column, with as many decimals as others of the group.
    #[must_use]
    pub fn of_group(self, group: &'static str) -> Column {
        Column { group: Some(group), ..self }
    }

    /// A column for people.
    pub fn text(title: impl Into<String>) -> Column {
        Column { shown: Shown::TextOnly, ..Column::new("", title) }
    }
}

/// A cell of a table.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// Nothing: `·` in text, null in JSON, empty in CSV. It is no zero.
    Nothing,
    /// Why there is no number, such as `n/a (derived)`; null in JSON, empty in CSV.
    Obstacle(&'static str),
    /// A name, which may be cut in the middle. The last column of names gets the room that is left.
    Name(String),
    /// A title of ours, such as that of a wait state, which is not cut beside others: then rows stand below each other.
    Title(String),
    /// The name of a location, as [`places::name`](crate::places::name) makes it: its numbers are not cut.
    Location(String),
    /// A name in a tree, with lines to the names around it.
    Node {
        /// For each node above but the root, from the root on, whether siblings follow it.
        above: Vec<bool>,
        /// Whether siblings follow; `None` for a root.
        is_followed: Option<bool>,
        /// The name.
        name: String,
    },
    /// Words of ours, which are not cut.
    Words(Line),
    /// A number of a unit.
    Number(f64, Unit),
    /// A number of a unit where most are 0: a 0 is `·` in text.
    Sparse(f64, Unit),
    /// A share from 0 to 1; a number in JSON and CSV.
    Share(f64),
    /// How often one number is in another one.
    Ratio(f64),
    /// A change of a number of a unit, with its sign.
    Signed(f64, Unit, Style),
    /// A change as a fraction, with its sign, as `+5 %`; infinite is a change from 0.
    Change(f64, Style),
    /// An integer.
    Integer(i64),
    /// A bar, from 0 to 1: as long as there is room, and not there if there is none. Not for scripts.
    Bar(f64),
    /// A value that only scripts need.
    Data(Value),
}

impl Cell {
    /// A value of a quantity: nothing if no call path or location has one, as for a minimum or a ratio of nothing.
    pub fn value(value: f64, quantity: &Quantity) -> Cell {
        match quantity.known(value) {
            None => Cell::Nothing,
            Some(value) if quantity.has_zero() => Cell::Number(value, quantity.unit.clone()),
            Some(value) => Cell::Sparse(value, quantity.unit.clone()),
        }
    }

    /// A count of things.
    pub fn count(count: usize) -> Cell {
        Cell::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }
}
