//! Tables, columns and facts that rules of advice can speak of (advice 5.2).

use patterns::{Metric, Source, Unit, metrics};
use rules::{Column, Grouping, Schema, Table, Type};

/// Domains of texts.
pub(super) const REGIONS: u16 = 1;
pub(super) const LINES: u16 = 2;

/// Positions of columns that all tables begin with.
pub(super) const PATH: usize = 0;
pub(super) const REGION: usize = 1;
pub(super) const LINE: usize = 2;

/// Columns that all tables have.
fn columns_of_site() -> Vec<Column> {
    vec![
        Column::new("path", Type::Path, "call path").of_site(),
        Column::new("region", Type::Text, "the function that it ends with").of_site().of_domain(REGIONS),
        Column::new("line", Type::Text, "file and line of the call").of_site().of_domain(LINES),
    ]
}

/// Columns of culprits behind those, in the order of their values.
const OF_CULPRITS: [(&str, Type, &str); 11] = [
    ("cost", Type::Time, "waiting that it has caused, at all ranks"),
    ("work", Type::Time, "its time, of all ranks"),
    ("most", Type::Time, "its time at the rank with most of it"),
    ("ranks", Type::Count, "ranks that come there"),
    ("ranks.most", Type::Rank, "the rank with most of it"),
    ("ranks.ratio", Type::Number, "how many times the mean of all ranks that rank has"),
    ("one_share", Type::Number, "the share of that rank in its time"),
    ("balance", Type::Time, "what sharing it evenly saves on the critical path"),
    ("static_share", Type::Number, "the part of its costs that sharing it evenly would save"),
    ("on_path", Type::Time, "its time on the critical path"),
    ("is_master", Type::Bool, "whether the rank with most of it hands out work to others"),
];

/// The schema: places have all metrics of calls and times that are measured, and of root causes, whether an analysis has them or not, so that rules are right or wrong for themselves.
pub(super) fn schema() -> Schema {
    let mut of_places = columns_of_site();
    of_places.push(Column::new("rank", Type::Rank, "the rank"));
    of_places.push(Column::new("thread", Type::Count, "the number of the thread, 0 for the main one"));
    // The others are made of these when the report is written.
    let is_there = |metric: &&Metric| matches!(metric.source, Source::Measured | Source::Shares);
    of_places.extend(metrics().iter().filter(is_there).map(|metric| {
        let kind = match metric.unit {
            Unit::Seconds => Type::Time,
            Unit::Bytes => Type::Bytes,
            _ => Type::Count,
        };
        Column::new(metric.id, kind, metric.about)
    }));
    let mut of_culprits = columns_of_site();
    of_culprits.extend(OF_CULPRITS.map(|(name, kind, about)| Column::new(name, kind, about)));
    let mut of_late_sends = columns_of_site();
    of_late_sends.extend([
        Column::new("rank", Type::Rank, "the rank that sent"),
        Column::new("waiting_in", Type::Path, "the call path where receivers waited"),
        Column::new("messages", Type::Count, "late messages"),
        Column::new("waiting", Type::Time, "waiting of their receivers"),
        Column::new("two_way", Type::Time, "the part of it of receivers that send to this rank, too"),
        Column::new("is_master", Type::Bool, "whether the rank hands out work to others"),
        Column::new("to_master", Type::Bool, "whether the receivers do"),
        Column::new("idle", Type::Number, "the share of the run that the rank waits itself"),
    ]);
    let run = [
        ("T", Type::Time, "the run, from the first end of MPI_Init to the last begin of MPI_Finalize"),
        ("all", Type::Time, "the time of all threads in it"),
        ("ranks", Type::Count, "ranks"),
        ("threads", Type::Count, "threads of all ranks"),
        ("wait_bound", Type::Time, "what is saved at most without moving work between ranks"),
        ("conserve_bound", Type::Time, "what is saved at most by moving work between ranks"),
    ];
    Schema {
        tables: vec![
            Table {
                name: "culprit".to_owned(),
                about: "a call path outside of MPI, over all ranks".to_owned(),
                columns: of_culprits,
                grouping: Grouping::Groups(vec!["path".to_owned()]),
            },
            Table {
                name: "late_send".to_owned(),
                about: "a call path of a rank that sent late messages, and one where their receivers waited"
                    .to_owned(),
                columns: of_late_sends,
                grouping: Grouping::Plain,
            },
            Table {
                name: "place".to_owned(),
                about: "a call path at a thread, with every metric by its unique name".to_owned(),
                columns: of_places,
                grouping: Grouping::Plain,
            },
        ],
        run: run.map(|(name, kind, about)| Column::new(name, kind, about)).to_vec(),
        operations: Vec::new(),
    }
}

/// Columns of places in front of those of metrics.
pub(super) const RANK: usize = 3;
pub(super) const THREAD: usize = 4;
