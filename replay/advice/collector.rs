//! Rows of operations, which rules see process by process while operations are there (advice 5.3).

use rules::{Names, Over, Rules, Scanner, Schema, Totals};

use super::bounds::Span;
use super::collectives::{COLLECTIVES, CollectiveRow};
use super::event_counts::EventCounts;
use super::instances::{CallSums, InstanceRow, PAIRS, VISITS};
use super::late_sends::{LateMessages, late_messages};
use super::names::ReportNames;
use super::receives::{RECEIVES, ReceiveRow};
use super::sends::{SENDS, SendRow};
use super::sequence::{OfProcess, Sequence, rank_of};
use super::table::RowTable;
use super::tables::Tables;
use super::{collectives, instances, receives, schema, sends};
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
    /// What there was of events.
    pub(super) counts: EventCounts,
    sends: Option<Reader<'r, SendRow>>,
    receives: Option<Reader<'r, ReceiveRow>>,
    collectives: Option<Reader<'r, CollectiveRow>>,
    /// By event that rules are over.
    instances: Vec<(usize, Reader<'r, InstanceRow>)>,
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
        let of_events = rules.tables().into_iter().filter_map(|over| Some((over, over.event?)));
        let instances = of_events.map(|(over, event)| {
            let is_pair = schema.tables[over.table].name == PAIRS.name;
            (event, Reader::over(if is_pair { &PAIRS } else { &VISITS }, tables, over))
        });
        let instances = instances.collect();
        let totals = rules.totals();
        let (late, counts) = (Vec::new(), EventCounts::new(rules.events().len()));
        Ok(Collector { rules, schema, span, totals, late, counts, sends, receives, collectives, instances })
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
        self.collect_events(of, walked, waiting, &names);
    }

    /// Adds visits and pairs of a process.
    fn collect_events(
        &mut self,
        of: OfProcess<'_>,
        walked: &Walked,
        waiting: &WaitingMessages,
        names: &ReportNames<'_>,
    ) {
        let Some(events) = &walked.events else { return };
        self.counts.add_unpaired(&events.unpaired);
        let Some(waiting) = &waiting.calls else { return };
        let sums = CallSums::new(walked.process.range().start, of.operations, waiting);
        let Collector { instances: readers, totals, counts, span, .. } = self;
        for are_pairs in [false, true] {
            instances::rows(of, (events, are_pairs), (&sums, span.begin), |event, row| {
                if let Some((_, reader)) = readers.iter_mut().find(|(of, _)| *of == event) {
                    counts.add_row(event);
                    reader.take(row, names, totals);
                }
            });
        }
        readers.iter_mut().for_each(|(_, reader)| reader.read(names, totals));
    }
}

impl<'r, R> Reader<'r, R> {
    /// For a table, if any rule is over it.
    fn new(table: &'static RowTable<R>, tables: Tables<'r, '_>) -> Option<Reader<'r, R>> {
        Some(Reader::over(table, tables, tables.over(table.name)?))
    }

    /// For a table that rules are over, with the event that its rows are of.
    fn over(table: &'static RowTable<R>, tables: Tables<'r, '_>, over: Over) -> Reader<'r, R> {
        let (scanner, read) = (tables.scanner(over), tables.rules.columns(over));
        Reader { table, scanner, read, rows: Vec::with_capacity(BLOCK) }
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
