//! Tables of rules over rows of a type: what each column is called, and where a row has its value (advice 5.2).

use rules::{Column, Grouping, Names, OwnedValues, Rows, Scanner, Table, Totals, Type, Values};

use super::schema::{FILES, LINES, NODES, REGION, REGIONS};
use crate::ids::ReportPath;

/// Columns in front of all others: call path, function, line.
const OF_SITE: usize = 3;

/// Where a row has the value of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of<R> {
    /// [`rules::ABSENT`] if there is none.
    Whole(fn(&R) -> i64),
    /// The number of a region; [`rules::ABSENT`] if there is none.
    Region(fn(&R) -> i64),
    /// The number of a file; [`rules::ABSENT`] if there is none.
    File(fn(&R) -> i64),
    /// Not a number if there is none.
    Number(fn(&R) -> f64),
    Flag(fn(&R) -> bool),
}

/// A column behind those of the call site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<R> {
    /// What rules call it.
    pub name: &'static str,
    /// Type of its values.
    pub kind: Type,
    /// What it is, for users.
    pub about: &'static str,
    /// Where a row has it.
    pub of: Of<R>,
}

/// What rows of a table are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowsAre {
    /// Of groups that rules make.
    Plain,
    /// The only ones of their call paths, so that rules use columns as they are.
    Groups,
    /// Visits of an event.
    Visits,
    /// Pairs of an event.
    Pairs,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowTable<R: 'static> {
    /// What rules call it.
    pub name: &'static str,
    /// What a row is, for users.
    pub about: &'static str,
    /// What its rows are.
    pub rows: RowsAre,
    /// The call path of a row, and the region of its function.
    pub site: fn(&R) -> (ReportPath, u32),
    /// Its other columns.
    pub fields: &'static [Field<R>],
}

/// Columns that all tables begin with.
pub(super) fn columns_of_site() -> Vec<Column> {
    vec![
        Column::new("path", Type::Path, "call path").of_site(),
        Column::new("region", Type::Text, "the function that it ends with").of_site().of_domain(REGIONS),
        Column::new("line", Type::Text, "file and line of the call").of_site().of_domain(LINES),
    ]
}

impl<R> RowTable<R> {
    /// The table as the schema has it.
    pub(super) fn schema(&self) -> Table {
        let mut columns = columns_of_site();
        columns.extend(self.fields.iter().map(|field| {
            let column = Column::new(field.name, field.kind, field.about);
            match (&field.of, field.kind) {
                (Of::Region(_), _) => column.of_domain(REGIONS),
                (Of::File(_), _) => column.of_domain(FILES),
                // Other texts than those of the call site, of regions and of files are nodes.
                (_, Type::Text) => column.of_domain(NODES),
                _ => column,
            }
        }));
        let grouping = match self.rows {
            RowsAre::Plain => Grouping::Plain,
            RowsAre::Groups => Grouping::Groups(vec!["path".to_owned()]),
            RowsAre::Visits => Grouping::Visits,
            RowsAre::Pairs => Grouping::Pairs,
        };
        Table { name: self.name.to_owned(), about: self.about.to_owned(), columns, grouping }
    }

    /// Adds rows, with those columns that rules read.
    pub(super) fn scan(
        &self,
        rows: &[R],
        (scanner, read): (&mut Scanner<'_>, &[usize]),
        names: &dyn Names,
        totals: &mut Totals,
    ) {
        let column = |column: usize| {
            if !read.contains(&column) {
                return OwnedValues::Missing;
            }
            let Some(field) = column.checked_sub(OF_SITE).map(|at| &self.fields[at]) else {
                let path = |row: &R| (self.site)(row).0.index() as i64;
                let region = |row: &R| (self.site)(row).1.into();
                // The line is that of the path.
                let is_region = column == REGION;
                return OwnedValues::Whole(
                    rows.iter().map(|row| if is_region { region(row) } else { path(row) }).collect(),
                );
            };
            match field.of {
                Of::Whole(of) | Of::Region(of) | Of::File(of) => {
                    OwnedValues::Whole(rows.iter().map(of).collect())
                }
                Of::Number(of) => OwnedValues::Numbers(rows.iter().map(of).collect()),
                Of::Flag(of) => OwnedValues::Flags(rows.iter().map(|row| of(row).into()).collect()),
            }
        };
        let columns: Vec<OwnedValues> = (0..OF_SITE + self.fields.len()).map(column).collect();
        let columns: Vec<Values<'_>> = columns.iter().map(OwnedValues::values).collect();
        scanner.add(Rows { count: rows.len(), columns: &columns }, None, names, totals);
    }
}
