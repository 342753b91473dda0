//! Rows of operations, which rules see process by process while operations are there (advice 5.3).

use rules::{Rules, Schema, Totals};

use super::bounds::Span;
use super::collectives::{COLLECTIVES, CollectiveRow};
use super::event_counts::EventCounts;
use super::files::{FILES, FileRow};
use super::instances::{CallSums, InstanceRow, PAIRS, VISITS};
use super::late_sends::{LateMessages, late_messages};
use super::messages::{MESSAGES, MessageRow};
use super::names::ReportNames;
use super::reader::Reader;
use super::received::Kept;
use super::receives::{RECEIVES, ReceiveRow};
use super::sends::{SENDS, SendRow};
use super::sequence::{OfProcess, Sequence, rank_of};
use super::tables::Tables;
use super::{collectives, files, instances, messages, received, receives, schema, sends};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::matching::Matches;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;
use crate::what_if::{Nodes, TimedGraph};

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
    files: Option<Reader<'r, FileRow>>,
    /// With what is kept of each process for it.
    messages: Option<(Reader<'r, MessageRow>, Vec<Kept>)>,
    /// By event that rules are over.
    instances: Vec<(usize, Reader<'r, InstanceRow>)>,
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
        let files = Reader::new(&FILES, tables);
        let messages = Reader::new(&MESSAGES, tables).map(|reader| (reader, Vec::new()));
        let of_events = rules.tables().into_iter().filter_map(|over| Some((over, over.event?)));
        let instances = of_events.map(|(over, event)| {
            let is_pair = schema.tables[over.table].name == PAIRS.name;
            (event, Reader::over(if is_pair { &PAIRS } else { &VISITS }, tables, over))
        });
        let instances = instances.collect();
        let totals = rules.totals();
        let (late, counts) = (Vec::new(), EventCounts::new(rules.events().len()));
        Ok(Collector {
            rules,
            schema,
            span,
            totals,
            late,
            counts,
            sends,
            receives,
            collectives,
            files,
            messages,
            instances,
        })
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
        if let Some(reader) = &mut self.files {
            files::rows(of, &walked.file_operations, |row| reader.take(row, &names, totals));
            reader.read(&names, totals);
        }
        self.collect_events(of, walked, waiting, &names);
    }

    /// Takes what rows of messages need of the process that was added last, if any rule is over them.
    pub fn keep(&mut self, walked: &Walked, matches: Matches, waiting: &WaitingMessages) {
        if let Some((_, kept)) = &mut self.messages {
            kept.push(Kept::new(walked, matches, waiting));
        }
    }

    /// Adds the messages of all processes, if any rule is over them. Both sides have their wait states by now.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn collect_messages(
        &mut self,
        tools: &Tools<'_>,
        paths: &ReportPaths,
        exchange: &mut dyn Exchange,
    ) -> Result<(), Error> {
        let Some((mut reader, kept)) = self.messages.take() else { return Ok(()) };
        let names = ReportNames { trace: tools.trace, paths };
        let (nodes, begin) = (Nodes::of_trace(tools.trace), self.span.begin);
        let totals = &mut self.totals;
        received::for_each_sender(tools, (&kept, paths), exchange, |at, of_sender| {
            let (numbers, known) = (&paths.numbers[at], (&nodes, begin));
            messages::rows(tools, (paths, numbers), known, (&kept[at], of_sender), |row| {
                reader.take(row, &names, totals);
            });
        })?;
        reader.read(&names, totals);
        Ok(())
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
