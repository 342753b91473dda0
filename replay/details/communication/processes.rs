//! The table `processes`: messages, bytes and waiting of each process in both directions.

use details::manifest::Complete;
use details::{Column, Table, Unit};

use super::Known;
use crate::ids::Row;
use crate::metrics::Metrics;
use crate::severity::MetricId;
use crate::walk::Walked;
use crate::wire::wire;

/// What a process has made others wait: senders that waited for it, or receivers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Caused {
    pub(super) process: u32,
    /// Number of waits.
    pub(super) count: u64,
    /// Their ticks.
    pub(super) ticks: u64,
}

wire!(Caused { process, count, ticks });

/// The numbers of columns of a row, besides the process.
const NUMBERS: usize = 12;

/// The columns, with their units.
const COLUMNS: [(&str, Unit); NUMBERS] = [
    ("sent", Unit::Count),
    ("bytes_sent", Unit::Byte),
    ("received", Unit::Count),
    ("bytes_received", Unit::Byte),
    ("late_sender", Unit::Tick),
    ("late_senders", Unit::Count),
    ("late_receiver", Unit::Tick),
    ("late_receivers", Unit::Count),
    ("late_sender_caused", Unit::Tick),
    ("late_senders_caused", Unit::Count),
    ("late_receiver_caused", Unit::Tick),
    ("late_receivers_caused", Unit::Count),
];

/// Positions of columns that other processes know.
const LATE_SENDER_CAUSED: usize = 8;
const LATE_RECEIVER_CAUSED: usize = 10;

/// The numbers of a process, in the order of [`COLUMNS`].
type Numbers = [u64; NUMBERS];

/// A row of the table: process, and its numbers.
pub(super) type Line = (u32, Numbers);

/// The processes of a worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Processes {
    numbers: Vec<Numbers>,
    /// The column that each metric adds to, once a process was added.
    columns: Option<Vec<Option<usize>>>,
}

impl Processes {
    /// Adds the next process. Its numbers are those of the report, which counts messages without partners, too.
    pub(super) fn collect(&mut self, metrics: &Metrics, walked: &Walked) {
        let columns = self.columns.get_or_insert_with(|| columns(metrics));
        let mut numbers = Numbers::default();
        for severities in &walked.results.severities {
            let mut add = |metric: MetricId, value: i64| {
                if let Some(&Some(column)) = columns.get(metric) {
                    let number: &mut u64 = &mut numbers[column];
                    *number = number.saturating_add(u64::try_from(value).unwrap_or(0));
                }
            };
            let whole = severities.records().0;
            (0..severities.paths().len()).for_each(|row| whole.each(Row::new(row), &mut add));
            for (metric, values) in severities.dense_columns() {
                values.iter().for_each(|&value| add(metric, value));
            }
        }
        self.numbers.push(numbers);
    }

    /// Adds what a receiver of this worker, whose first process is `first`, has made senders wait.
    pub(super) fn hear(&mut self, first: u32, caused: &Caused) {
        self.add(first, LATE_RECEIVER_CAUSED, caused);
    }

    /// Adds what a sender of this worker has made receivers wait.
    pub(super) fn hear_senders(&mut self, first: u32, caused: &Caused) {
        self.add(first, LATE_SENDER_CAUSED, caused);
    }

    fn add(&mut self, first: u32, column: usize, caused: &Caused) {
        let numbers = &mut self.numbers[(caused.process - first) as usize];
        numbers[column] = numbers[column].saturating_add(caused.ticks);
        numbers[column + 1] = numbers[column + 1].saturating_add(caused.count);
    }

    /// The rows of all processes, the first of which is `first`.
    pub(super) fn into_rows(self, first: u32) -> Vec<Line> {
        (first..).zip(self.numbers).collect()
    }
}

/// The column that each metric adds to, by its number.
fn columns(metrics: &Metrics) -> Vec<Option<usize>> {
    let mut columns = vec![None; metrics.list.len()];
    let mut add =
        |column, these: &[MetricId]| these.iter().for_each(|&metric| columns[metric] = Some(column));
    add(0, &metrics.sends);
    add(1, &[metrics.bytes_sent]);
    add(2, &metrics.receives);
    add(3, &[metrics.bytes_received]);
    let late_senders = metrics.at_late_message.iter().map(|(pattern, _)| (4, pattern));
    let late_receivers = metrics.at_send.iter().map(|(pattern, _)| (6, pattern));
    for (column, pattern) in late_senders.chain(late_receivers).filter(|(_, it)| it.is_outermost_waiting) {
        add(column, &[pattern.metric]);
        add(column + 1, pattern.instances.as_ref().map_or(&[], |instances| &instances[..]));
    }
    columns
}

/// Makes the table of all rows, in the order of processes.
pub(super) fn table(rows: &[Line]) -> Known {
    let process = rows.iter().map(|&(process, _)| process.into());
    let mut columns = vec![Column::of_numbers("process", Some(Unit::Process), process).delta()];
    for (at, (name, unit)) in COLUMNS.into_iter().enumerate() {
        let numbers = rows.iter().map(|(_, numbers)| numbers[at]);
        columns.push(Column::of_numbers(name, Some(unit), numbers).raw_if_noise());
    }
    (Table { name: "processes".into(), columns }, Complete::Is(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Semantics;

    #[test]
    fn columns_are_those_of_their_metrics() {
        let metrics = Metrics::new(true, Semantics::Corrected);
        let columns = columns(&metrics);
        for (name, metric) in [
            ("sent", "comms_send"),
            ("sent", "syncs_send"),
            ("bytes_sent", "bytes_sent"),
            ("received", "syncs_recv"),
            ("received", "comms_recv"),
            ("bytes_received", "bytes_rcvd"),
            ("late_sender", "mpi_latesender"),
            ("late_senders", "mpi_sls_count"),
            ("late_senders", "mpi_cls_count"),
            ("late_receiver", "mpi_latereceiver"),
            ("late_receivers", "mpi_slr_count"),
            ("late_receivers", "mpi_clr_count"),
        ] {
            let column = columns[metrics.find(metric).unwrap()].map(|column| COLUMNS[column].0);
            assert_eq!(column, Some(name), "{metric}");
        }
        assert_eq!(columns.iter().flatten().count(), 12);
    }

    #[test]
    fn what_others_waited_for_a_process_is_in_its_row() {
        let mut processes = Processes { numbers: vec![Numbers::default(); 2], columns: None };
        processes.hear(6, &Caused { process: 7, count: 2, ticks: 30 });
        processes.hear_senders(6, &Caused { process: 6, count: 1, ticks: 4 });
        let rows = processes.into_rows(6);
        assert_eq!((rows[0].0, &rows[0].1[8..]), (6, &[4, 1, 0, 0][..]));
        assert_eq!((rows[1].0, &rows[1].1[8..]), (7, &[0, 0, 30, 2][..]));
        let (table, _) = table(&rows);
        assert_eq!((table.rows(), table.columns.len()), (2, 1 + NUMBERS));
    }
}
