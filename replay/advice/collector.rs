//! Rows of operations, which rules see process by process while operations are there (advice 5.3).

use rules::{Names, Rules, Scanner, Schema, Totals};

use super::bounds::Span;
use super::collectives::{COLLECTIVES, CollectiveRow};
use super::late_sends::{LateMessages, late_messages};
use super::names::ReportNames;
use super::receives::{RECEIVES, ReceiveRow};
use super::sends::{SENDS, SendRow};
use super::sequence::{OfProcess, Sequence, rank_of};
use super::table::RowTable;
use super::tables::Tables;
use super::{collectives, receives, schema, sends};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::matching::Matches;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;
use crate::what_if::TimedGraph;

/// What rules have gathered of the operations of this worker's processes.
#[derive(Debug)]
pub struct Collector<'r> {
    pub(super) rules: &'r Rules,
    pub(super) schema: Schema,
    pub(super) span: Span,
    pub(super) totals: Totals,
    /// Late messages by process.
    pub(super) late: Vec<LateMessages>,
    sends: Option<Reader<'r, SendRow>>,
    receives: Option<Reader<'r, ReceiveRow>>,
    collectives: Option<Reader<'r, CollectiveRow>>,
}

/// Rows that are gone through at a time.
const BLOCK: usize = 1024;

/// Goes through rows of a table for all rules over it, with the columns that they read.
#[derive(Debug)]
struct Reader<'r, R: 'static> {
    table: &'static RowTable<R>,
    scanner: Scanner<'r>,
    read: Vec<usize>,
    rows: Vec<R>,
}

impl<'r> Collector<'r> {
    /// For these rules.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn new(
        tools: &Tools<'_>,
        rules: &'r Rules,
        (timed, walked): (&TimedGraph, &[Walked]),
        exchange: &mut dyn Exchange,
    ) -> Result<Collector<'r>, Error> {
        let schema = schema::schema();
        let span = Span::find(timed, walked, exchange)?;
        let run = span.facts(tools);
        let tables = Tables { rules, schema: &schema, run: &run };
        let sends = Reader::new(&SENDS, tables);
        let receives = Reader::new(&RECEIVES, tables);
        let collectives = Reader::new(&COLLECTIVES, tables);
        let totals = rules.totals();
        Ok(Collector { rules, schema, span, totals, late: Vec::new(), sends, receives, collectives })
    }

    /// Adds the next process, at this position among those of the worker, once its wait states are known.
    pub fn collect(
        &mut self,
        tools: &Tools<'_>,
        (at, paths): (usize, &ReportPaths),
        walked: &Walked,
        (matches, waiting): (&Matches, &WaitingMessages),
    ) {
        self.late.push(late_messages(tools, walked, matches, waiting));
        let operations = &*walked.operations;
        let process = walked.process.number;
        let rank = rank_of(tools, process);
        let names = ReportNames { trace: tools.trace, paths };
        let sequence = Sequence::new(operations);
        let numbers = &paths.numbers[at][..];
        let of = OfProcess { process, rank, operations, sequence: &sequence, paths, numbers };
        let totals = &mut self.totals;
        if let Some(reader) = &mut self.sends {
            sends::rows(tools, of, waiting, |row| reader.take(row, &names, totals));
            reader.read(&names, totals);
        }
        if let Some(reader) = &mut self.receives {
            receives::rows(tools, of, (matches, waiting), |row| reader.take(row, &names, totals));
            reader.read(&names, totals);
        }
        if let Some(reader) = &mut self.collectives {
            collectives::rows(tools, of, matches, |row| reader.take(row, &names, totals));
            reader.read(&names, totals);
        }
    }
}

impl<'r, R> Reader<'r, R> {
    /// For a table, if any rule is over it.
    fn new(table: &'static RowTable<R>, tables: Tables<'r, '_>) -> Option<Reader<'r, R>> {
        let over = tables.over(table.name)?;
        let (scanner, read) = (tables.scanner(over), tables.rules.columns(over));
        Some(Reader { table, scanner, read, rows: Vec::with_capacity(BLOCK) })
    }

    /// Takes a row, which is read with others.
    fn take(&mut self, row: R, names: &dyn Names, totals: &mut Totals) {
        self.rows.push(row);
        if self.rows.len() == BLOCK {
            self.read(names, totals);
        }
    }

    /// Reads the rows that were taken.
    fn read(&mut self, names: &dyn Names, totals: &mut Totals) {
        self.table.scan(&self.rows, (&mut self.scanner, &self.read), names, totals);
        self.rows.clear();
    }
}
