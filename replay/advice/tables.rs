//! Goes through rows of tables for all rules.

use rules::{Context, Names, Outcome, Over, Rows, Rules, Run, Scanner, Schema, Totals};

/// What rules need to go through tables and to be judged.
#[derive(Clone, Copy)]
pub(super) struct Tables<'t> {
    pub rules: &'t Rules,
    pub schema: &'t Schema,
    pub run: &'t Run,
    pub names: &'t dyn Names,
}

impl<'t> Tables<'t> {
    /// A table of this name, if any rule is over it.
    pub(super) fn over(&self, table: &str) -> Option<Over> {
        self.rules.tables().into_iter().find(|over| self.schema.tables[over.table].name == table)
    }

    /// Makes ready to go through a table.
    pub(super) fn scanner(&self, over: Over) -> Scanner<'t> {
        self.rules.scanner(over, self.run)
    }

    /// Adds all rows of a table, if any rule is over it.
    pub(super) fn add(&self, table: &str, rows: Rows<'_>, totals: &mut Totals) {
        if let Some(over) = self.over(table) {
            self.scanner(over).add(rows, None, self.names, totals);
        }
    }

    /// Judges all groups.
    pub(super) fn evaluate(&self, totals: &Totals) -> Outcome {
        self.rules.evaluate(totals, &Context { run: self.run, names: self.names, cause: &|_, _| None })
    }
}
