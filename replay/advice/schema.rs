//! Tables, columns and facts that rules of advice can speak of (advice 5.2).

use patterns::{Metric, Source, Unit, metrics, metrics_of_file_model};
use rules::{Column, Grouping, Schema, Table, Type};

use super::by_node::BY_NODE;
use super::calls::CALLS;
use super::collectives::{COLLECTIVES, OPERATIONS};
use super::culprits::CULPRITS;
use super::files;
use super::instances::{PAIRS, VISITS};
use super::late_sends::LATE_SENDS;
use super::masters::MASTERS;
use super::messages::MESSAGES;
use super::receives::RECEIVES;
use super::sends::SENDS;
use super::table::columns_of_site;

/// Domains of texts.
pub(super) const REGIONS: u16 = 1;
pub(super) const LINES: u16 = 2;
pub(super) const NODES: u16 = 3;
pub(super) const FILES: u16 = 4;

/// Positions of columns that all tables begin with.
pub(super) const PATH: usize = 0;
pub(super) const REGION: usize = 1;
pub(super) const LINE: usize = 2;

/// The schema: places have all metrics of calls and times that are measured, and of root causes, whether an analysis has them or not, but not those of the model of file I/O, so that rules are right or wrong for themselves.
pub(super) fn schema() -> Schema {
    let mut of_places = columns_of_site();
    of_places.push(Column::new("rank", Type::Rank, "the rank"));
    of_places.push(Column::new("thread", Type::Count, "the number of the thread, 0 for the main one"));
    of_places.push(Column::new(
        "idle",
        Type::Time,
        "the time that worker threads of OpenMP have nothing to do while the main thread is there, of all of them",
    ));
    of_places.push(Column::new("delay", Type::Time, "waiting that it has caused, at all ranks"));
    // The others are made of these when the report is written.
    let is_there = |metric: &&Metric| {
        matches!(metric.source, Source::Measured | Source::Shares)
            && metrics_of_file_model().all(|other| other.id != metric.id)
    };
    of_places.extend(metrics().iter().filter(is_there).map(|metric| {
        let kind = match metric.unit {
            Unit::Seconds => Type::Time,
            Unit::Bytes => Type::Bytes,
            _ => Type::Count,
        };
        Column::new(metric.id, kind, metric.about)
    }));
    let run = [
        ("T", Type::Time, "the run, from the first end of MPI_Init to the last begin of MPI_Finalize"),
        ("all", Type::Time, "the time of all threads in it"),
        ("ranks", Type::Count, "ranks"),
        ("threads", Type::Count, "threads of all ranks"),
        ("events", Type::Count, "events of all threads"),
        ("wait_bound", Type::Time, "what is saved at most without moving work between ranks"),
        ("conserve_bound", Type::Time, "what is saved at most by moving work between ranks"),
    ];
    Schema {
        tables: vec![
            CULPRITS.schema(),
            CALLS.schema(),
            BY_NODE.schema(),
            LATE_SENDS.schema(),
            SENDS.schema(),
            RECEIVES.schema(),
            MESSAGES.schema(),
            COLLECTIVES.schema(),
            files::FILES.schema(),
            MASTERS.schema(),
            VISITS.schema(),
            PAIRS.schema(),
            Table {
                name: "place".to_owned(),
                about: "a call path at a thread, with every metric by its unique name".to_owned(),
                columns: of_places,
                grouping: Grouping::Plain,
            },
        ],
        run: run.map(|(name, kind, about)| Column::new(name, kind, about)).to_vec(),
        operations: OPERATIONS.map(str::to_owned).to_vec(),
    }
}

/// Whether rows of a table are looked at while operations are there, before the bounds of all gains are known.
pub(super) fn is_early(table: &str) -> bool {
    let early = [
        SENDS.name,
        RECEIVES.name,
        MESSAGES.name,
        COLLECTIVES.name,
        files::FILES.name,
        VISITS.name,
        PAIRS.name,
    ];
    early.contains(&table)
}

/// Columns of places in front of those of metrics.
pub(super) const RANK: usize = 3;
pub(super) const THREAD: usize = 4;
pub(super) const IDLE: usize = 5;
pub(super) const DELAY: usize = 6;
