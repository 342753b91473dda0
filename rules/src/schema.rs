//! What the caller has: tables, their columns, and facts of the run. This crate knows none by itself.

use crate::Type;

/// All that rules can speak of.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Schema {
    /// Tables by name.
    pub tables: Vec<Table>,
    /// Facts of the run; those with the name `all` are written `run.all`.
    pub run: Vec<Column>,
    /// Names of kinds of operations; a value of type operation is a position here.
    pub operations: Vec<String>,
}

/// A table: rows of the same columns.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Table {
    /// What rules call it.
    pub name: String,
    /// What a row is, for users.
    pub about: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// How its rows become groups.
    pub grouping: Grouping,
}

/// How rows become groups.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub enum Grouping {
    /// Rules say which columns make groups.
    #[default]
    Plain,
    /// Each row is a group by these columns, such as a call path over all ranks: expressions of groups use columns as they
    /// are.
    Groups(Vec<String>),
    /// Visits of an event's regions: rules are over `NAME:EVENT`.
    Visits,
    /// Pairs of an event: rules are over `NAME:EVENT`.
    Pairs,
}

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// What rules call it. It may have dots; `cost_by(late_sender)` is a name, too.
    pub name: String,
    /// Type of its values.
    pub kind: Type,
    /// Which texts its numbers stand for, if it is of type text: only columns of the same domain can be compared.
    pub domain: u16,
    /// Whether it depends on the call site only: path, region, operation, event.
    pub is_of_site: bool,
    /// What it is, for users.
    pub about: String,
}

impl Column {
    /// A column of values that differ from row to row.
    pub fn new(name: impl Into<String>, kind: Type, about: impl Into<String>) -> Column {
        Column { name: name.into(), kind, domain: 0, is_of_site: false, about: about.into() }
    }

    /// The column as one that depends on the call site only.
    #[must_use]
    pub fn of_site(self) -> Column {
        Column { is_of_site: true, ..self }
    }

    /// The column as one of texts of this domain.
    #[must_use]
    pub fn of_domain(self, domain: u16) -> Column {
        Column { domain, ..self }
    }
}

impl Table {
    /// The position of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

/// Names of what numbers in columns stand for.
pub trait Names {
    /// The name of a path, an operation or a text of a domain, as patterns are compared with it; of a path its regions from the
    /// root on, with `/` between them.
    fn name(&self, kind: Type, domain: u16, number: i64) -> Option<String>;

    /// The name as texts have it, which may be shorter.
    fn printed(&self, kind: Type, domain: u16, number: i64) -> Option<String> {
        self.name(kind, domain, number)
    }

    /// File and line of the call that a path ends with.
    fn line(&self, path: i64) -> Option<String>;
}
