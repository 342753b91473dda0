//! Goes through rows of tables for all rules.

use rules::{Names, Over, Rules, Run, Scanner, Schema, Totals};

use super::table::RowTable;

/// What rules need to go through tables.
#[derive(Clone, Copy)]
pub(super) struct Tables<'r, 't> {
    pub rules: &'r Rules,
    pub schema: &'t Schema,
    pub run: &'t Run,
}

impl<'r> Tables<'r, '_> {
    /// A table of this name, if any rule is over it.
    pub(super) fn over(&self, table: &str) -> Option<Over> {
        self.rules.over(table)
    }

    /// Makes ready to go through a table.
    pub(super) fn scanner(&self, over: Over) -> Scanner<'r> {
        self.rules.scanner(over, self.run)
    }

    /// Adds all rows of a table, if any rule is over it.
    pub(super) fn add<R>(&self, table: &RowTable<R>, rows: &[R], names: &dyn Names, totals: &mut Totals) {
        if let Some(over) = self.over(table.name) {
            let read = self.rules.columns(over);
            table.scan(rows, (&mut self.scanner(over), &read), names, totals);
        }
    }
}
