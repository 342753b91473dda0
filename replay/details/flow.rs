//! The table `flow`: messages and collective operations of the whole run, by fine bin (`docs/details.md`).

use details::{Column, Table, Unit, Values};
use model::Ticks;

use super::timeline::{BinCursor, Bins, FINE_BINS};
use crate::error::Error;
use crate::exchange::{Batch, Exchange, reduce};
use crate::matching::Matches;
use crate::operations::Operations;
use crate::severity::amount;
use crate::trace::Trace;

/// Sums of a fine bin.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Messages whose send was recorded in it, and their bytes.
    messages: i64,
    bytes: i64,
    /// Messages that were sent in it, less those that were received.
    change: i64,
    /// Collective operations that the first member of their communicator began in it.
    collectives: i64,
}

/// What a worker adds to the table.
#[derive(Debug)]
pub(super) struct FlowTable {
    bins: Bins,
    flows: Vec<Flow>,
}

impl FlowTable {
    /// Makes an empty table.
    pub(super) fn new(bins: Bins) -> FlowTable {
        FlowTable { bins, flows: vec![Flow::default(); usize::from(FINE_BINS)] }
    }

    /// Adds the operations of a process.
    pub(super) fn add(&mut self, trace: &Trace, process: usize, operations: &Operations, matches: &Matches) {
        let mut cursor = BinCursor::new(self.bins);
        // A message whose other end is not known is not known to be under way. Each side counts for itself.
        for (at, send) in operations.sends.iter().enumerate() {
            let flow = self.at(&mut cursor, send.time);
            flow.messages += 1;
            flow.bytes = flow.bytes.saturating_add(amount(send.bytes));
            flow.change += i64::from(!matches.postings.is_alone(at));
        }
        let mut cursor = BinCursor::new(self.bins);
        for (at, receive) in operations.receives.iter().enumerate() {
            self.at(&mut cursor, receive.time).change -= i64::from(!matches.sends.is_alone(at));
        }
        // The start and the end of MPI have no communicator.
        let is_first = |communicator: u32| {
            trace.communicators.get(communicator as usize).is_some_and(|it| it.is_first(process))
        };
        for collective in operations.collectives.iter().filter(|it| is_first(it.communicator)) {
            self.at(&mut cursor, collective.begin).collectives += 1;
        }
        let mut cursor = BinCursor::new(self.bins);
        for operation in &operations.nonblocking {
            if operation.done.is_some_and(|done| is_first(done.communicator)) {
                self.at(&mut cursor, operation.requested).collectives += 1;
            }
        }
    }

    fn at(&mut self, cursor: &mut BinCursor, time: Ticks) -> &mut Flow {
        &mut self.flows[usize::from(cursor.turn(time))]
    }

    /// Brings together what all workers have added; the table is at worker 0.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(self, exchange: &mut dyn Exchange) -> Result<Table, Error> {
        let encode = |flows: &Vec<Flow>| -> Batch {
            let words =
                flows.iter().flat_map(|flow| [flow.messages, flow.bytes, flow.change, flow.collectives]);
            words.map(i64::cast_unsigned).collect()
        };
        let flows = reduce(exchange, self.flows, encode, |flows, words| {
            for (flow, words) in flows.iter_mut().zip(words.chunks_exact(4)) {
                flow.messages += words[0].cast_signed();
                flow.bytes = flow.bytes.saturating_add(words[1].cast_signed());
                flow.change += words[2].cast_signed();
                flow.collectives += words[3].cast_signed();
            }
        })?;
        let numbers = |number: fn(&Flow) -> i64| Values::I64(flows.iter().map(number).collect());
        let in_flight = flows.iter().scan(0, |sum: &mut i64, flow| {
            let before = *sum;
            *sum += flow.change;
            Some(before)
        });
        let in_flight = Values::I64(in_flight.collect());
        Ok(Table {
            name: "flow".into(),
            columns: vec![
                Column::new("messages", Some(Unit::Count), numbers(|flow| flow.messages)),
                Column::new("bytes", Some(Unit::Byte), numbers(|flow| flow.bytes)),
                Column::new("in_flight", Some(Unit::Count), in_flight),
                Column::new("collectives", Some(Unit::Count), numbers(|flow| flow.collectives)),
            ],
        })
    }
}
