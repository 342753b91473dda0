//! Goes through rows of a table for all rules over it, a block at a time, as they are made (advice 5.3).

use rules::{Names, Over, Scanner, Totals};

use super::table::RowTable;
use super::tables::Tables;

/// Rows that are gone through at a time.
const BLOCK: usize = 1024;

/// Goes through rows of a table for all rules over it, with the columns that they read.
#[derive(Debug)]
pub(super) struct Reader<'r, R: 'static> {
    table: &'static RowTable<R>,
    scanner: Scanner<'r>,
    read: Vec<usize>,
    rows: Vec<R>,
}

impl<'r, R> Reader<'r, R> {
    /// For a table, if any rule is over it.
    pub(super) fn new(table: &'static RowTable<R>, tables: Tables<'r, '_>) -> Option<Reader<'r, R>> {
        Some(Reader::over(table, tables, tables.over(table.name)?))
    }

    /// For a table that rules are over, with the event that its rows are of.
    pub(super) fn over(table: &'static RowTable<R>, tables: Tables<'r, '_>, over: Over) -> Reader<'r, R> {
        let (scanner, read) = (tables.scanner(over), tables.rules.columns(over));
        Reader { table, scanner, read, rows: Vec::with_capacity(BLOCK) }
    }

    /// Takes a row, which is read with others.
    pub(super) fn take(&mut self, row: R, names: &dyn Names, totals: &mut Totals) {
        self.rows.push(row);
        if self.rows.len() == BLOCK {
            self.read(names, totals);
        }
    }

    /// Reads the rows that were taken.
    pub(super) fn read(&mut self, names: &dyn Names, totals: &mut Totals) {
        self.table.scan(&self.rows, (&mut self.scanner, &self.read), names, totals);
        self.rows.clear();
    }
}
