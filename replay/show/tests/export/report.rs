//! Reports with details for tests of exports: four ranks, one message that comes late, and the path that leads to it.

use std::path::Path;

use details::manifest::{
    Class, Communicator, Complete, Coverage, Culprit, Finding, Level, MANIFEST, Manifest, Member, Metric,
    SCHEMA, Summary, member,
};
use details::{Column, Table, Unit, Values};

use crate::support::Maker;

/// Ticks of a second: a tick is half a nanosecond.
pub(crate) const FREQUENCY: u64 = 2_000_000_000;

/// Names of things in a report.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) program: String,
    pub(crate) main: String,
    pub(crate) work: String,
    pub(crate) file: String,
    pub(crate) node: String,
    pub(crate) thread: String,
    pub(crate) communicator: String,
}

impl Names {
    /// Names as programs have them.
    pub(crate) fn plain() -> Names {
        let [program, main, work, file, node, thread, communicator] =
            ["solver", "main", "work", "solver.c", "node n1", "Master thread", "MPI_COMM_WORLD"]
                .map(str::to_owned);
        Names { program, main, work, file, node, thread, communicator }
    }

    /// All names the same.
    pub(crate) fn all(name: &str) -> Names {
        let [program, main, work, file, node, thread, communicator] = [(); 7].map(|()| name.to_owned());
        Names { program, main, work, file, node, thread, communicator }
    }
}

/// Writes a report without details. Call paths: 0 main, 1 main/work, 2 main/MPI_Send, 3 main/MPI_Recv. Rank 1 waits 150 ns in
/// MPI_Recv for rank 0, which works.
pub(crate) fn write_plain(path: &Path, names: &Names) {
    maker(names).write(path, &[]);
}

/// Writes the same with all tables.
pub(crate) fn write(path: &Path, names: &Names) {
    write_tables(path, names, tables().into_iter().chain(super::structure::tables(false)));
}

/// Writes it with these tables.
pub(super) fn write_tables(path: &Path, names: &Names, tables: impl Iterator<Item = Table>) {
    let mut members = vec![(MANIFEST.to_owned(), manifest(names).to_bytes())];
    for table in tables {
        members.push((member(&table.name), details::write(&table).expect("a table")));
    }
    let members: Vec<(&str, &[u8])> =
        members.iter().map(|(name, contents)| (name.as_str(), contents.as_slice())).collect();
    maker(names).write(path, &members);
}

fn maker(names: &Names) -> Maker {
    let mut maker = Maker::new(4);
    let time = maker.metric("time", None);
    let late = maker.metric("mpi_latesender", Some(time));
    let visits = maker.metric("visits", None);
    maker.cube.metrics[visits.0].unit = "occ".into();
    let main = maker.call(&names.main, None);
    let work = maker.call(&names.work, Some(main));
    let send = maker.call("MPI_Send", Some(main));
    let receive = maker.call("MPI_Recv", Some(main));
    for region in &mut maker.cube.regions {
        if region.name.starts_with("MPI_") {
            region.paradigm = "mpi".into();
        } else {
            region.module = names.file.clone();
            region.begin_line = Some(12);
        }
    }
    for node in &mut maker.cube.system_tree_nodes {
        node.name = names.node.clone();
    }
    for location in &mut maker.cube.locations {
        location.name = names.thread.clone();
    }
    maker.row(time, main, &[0.25, 0.25, 0.5, 0.5]);
    maker.row(time, work, &[0.5, 0.0, 0.1, 0.1]);
    maker.row(time, send, &[1e-7, 0.0, 0.0, 0.0]);
    maker.row(time, receive, &[0.0, 0.11, 0.0, 0.0]);
    maker.row(late, receive, &[0.0, 0.15e-6, 0.0, 0.0]);
    for cnode in [main, work, send, receive] {
        maker.row(visits, cnode, &[1.0, 1.0, 0.0, 0.0]);
    }
    maker
}

fn manifest(names: &Names) -> Manifest {
    let class = |name: &str, role: &str| Class { name: name.into(), role: role.into(), ..Class::default() };
    let member = |name: &str| Member { member: member(name), rows: 1, complete: Complete::Is(true) };
    Manifest {
        schema: SCHEMA.into(),
        ticks_per_second: FREQUENCY,
        begin: 0,
        end: 4000,
        ranks: 4,
        locations: 4,
        threads: 1,
        nodes: 1,
        program: names.program.clone(),
        recorder: "tests".into(),
        semantics: "corrected".into(),
        recorded: None,
        main_loop: None,
        classes: vec![class("compute", "work"), class("late_sender", "wait")],
        levels: vec![
            Level { span: 1, groups: 4, bins: 4, bin_ticks: 1000 },
            Level { span: 16, groups: 1, bins: 4, bin_ticks: 1000 },
        ],
        metrics: vec![Metric { name: "mpi_latesender".into(), title: "Late Sender".into() }],
        communicators: vec![Communicator {
            number: 0,
            name: names.communicator.clone(),
            size: 4,
            members: Some(vec![0, 1, 2, 3]),
        }],
        tables: ["grid", "instances"].map(member).into(),
        summary: Summary {
            locations: 4,
            run: 2.0,
            length: 0.75,
            mpi: 0.11,
            waiting: 0.15e-6,
            costs: Some(0.15e-6),
            culprits: vec![Culprit {
                place: "rank 0".into(),
                cnode: 1,
                call_path: format!("{}/{}", names.main, names.work),
                seconds: 0.15e-6,
                kind: "late senders".into(),
                ..Culprit::default()
            }],
            coverage: vec![Coverage { fate: "analysed".into(), seconds: 0.11 }],
            findings: vec![Finding {
                class: "note".into(),
                name: names.main.clone(),
                count: 3,
                meaning: "odd".into(),
                example: names.work.clone(),
            }],
            ..Summary::default()
        },
    }
}

pub(super) fn numbers(name: &str, unit: Option<Unit>, rows: &[u32]) -> Column {
    Column::new(name, unit, Values::U32(rows.to_vec()))
}

pub(super) fn ticks(name: &str, rows: &[i64]) -> Column {
    Column::new(name, Some(Unit::Tick), Values::I64(rows.to_vec()))
}

pub(super) fn counts(name: &str, unit: Unit, rows: &[u64]) -> Column {
    Column::new(name, Some(unit), Values::U64(rows.to_vec()))
}

pub(super) fn table(name: &str, columns: Vec<Column>) -> Table {
    Table { name: name.into(), columns }
}

/// The number for none.
pub(super) const NONE: u32 = u32::MAX;

/// The columns of a wait: rank 1 from tick 100 to 400, for rank 0.
fn wait() -> Vec<Column> {
    vec![
        numbers("metric", None, &[0]),
        numbers("location", Some(Unit::Location), &[1]),
        numbers("cnode", Some(Unit::Cnode), &[3]),
        ticks("enter", &[100]),
        ticks("leave", &[620]),
        ticks("begin", &[100]),
        ticks("ticks", &[300]),
        ticks("all_ticks", &[300]),
        numbers("cause_location", Some(Unit::Location), &[0]),
        numbers("cause_cnode", Some(Unit::Cnode), &[2]),
        ticks("cause_enter", &[400]),
        ticks("cause_leave", &[600]),
        numbers("origin_cnode", Some(Unit::Cnode), &[1]),
        numbers("communicator", None, &[0]),
        numbers("tag", None, &[7]),
        counts("bytes", Unit::Byte, &[1024]),
        numbers("members", Some(Unit::Count), &[NONE]),
        ticks("direct", &[-1]),
    ]
}

fn tables() -> Vec<Table> {
    let mut instances = wait();
    instances.push(numbers("window", None, &[0]));
    let mut waits = wait();
    waits.push(numbers("window", None, &[0]));
    vec![
        table(
            "grid",
            vec![
                Column::new("level", None, Values::U8(vec![0, 0, 1])),
                Column::new("class", None, Values::U8(vec![0, 1, 1])),
                numbers("group", None, &[0, 1, 0]),
                numbers("groups", None, &[1, 1, 1]),
                // Zigzag: 1000 ticks of work in each bin of rank 0; 300 of waiting in the first one of rank 1.
                Column::new(
                    "values",
                    None,
                    Values::Bytes(vec![
                        [0xd0, 0x0f].repeat(4),
                        vec![0xd8, 0x04, 0, 2],
                        vec![0xd8, 0x04, 0, 2],
                    ]),
                ),
            ],
        ),
        table(
            "flow",
            vec![
                counts("messages", Unit::Count, &[1, 0, 0, 0]),
                counts("bytes", Unit::Byte, &[1024, 0, 0, 0]),
                counts("in_flight", Unit::Count, &[0, 0, 0, 0]),
                counts("collectives", Unit::Count, &[0, 0, 0, 0]),
            ],
        ),
        table("instances", instances),
        table(
            "chains",
            vec![
                numbers("instance", None, &[0]),
                numbers("hop", None, &[0]),
                numbers("location", Some(Unit::Location), &[1]),
                numbers("cnode", Some(Unit::Cnode), &[3]),
                ticks("begin", &[100]),
                ticks("ticks", &[300]),
                numbers("cause_location", Some(Unit::Location), &[0]),
                numbers("cause_cnode", Some(Unit::Cnode), &[2]),
                ticks("cause_time", &[400]),
            ],
        ),
        table(
            "matrix",
            vec![
                numbers("communicator", None, &[0, 0]),
                numbers("source", Some(Unit::Process), &[0, NONE]),
                numbers("destination", Some(Unit::Process), &[1, 2]),
                numbers("messages", Some(Unit::Count), &[1, 2]),
                counts("bytes", Unit::Byte, &[1024, 8]),
                ticks("late_sender", &[300, 0]),
                numbers("late_senders", Some(Unit::Count), &[1, 0]),
                ticks("late_receiver", &[0, 0]),
                numbers("late_receivers", Some(Unit::Count), &[0, 0]),
            ],
        ),
        table(
            "processes",
            vec![
                numbers("process", Some(Unit::Process), &[0, 1, 2, 3]),
                counts("messages_sent", Unit::Count, &[1, 0, 0, 0]),
                counts("bytes_sent", Unit::Byte, &[1024, 0, 0, 0]),
            ],
        ),
        table(
            "collectives",
            vec![
                numbers("communicator", None, &[0]),
                numbers("region", None, &[1]),
                counts("calls", Unit::Count, &[2]),
                counts("members", Unit::Count, &[8]),
                counts("bytes_out", Unit::Byte, &[0]),
                counts("bytes_in", Unit::Byte, &[0]),
                ticks("waiting", &[40]),
                ticks("completion", &[4]),
            ],
        ),
        table(
            "last",
            vec![
                numbers("communicator", None, &[0]),
                numbers("region", None, &[1]),
                numbers("process", Some(Unit::Process), &[3]),
                counts("times", Unit::Count, &[2]),
                ticks("caused", &[40]),
            ],
        ),
        table(
            "sizes",
            vec![
                numbers("cnode", Some(Unit::Cnode), &[3]),
                Column::new("class", None, Values::U8(vec![11])),
                counts("messages", Unit::Count, &[1]),
                counts("bytes", Unit::Byte, &[1024]),
                ticks("fastest", &[0]),
            ],
        ),
        table(
            "critical",
            vec![
                numbers("location", Some(Unit::Location), &[0, 1]),
                ticks("begin", &[0, 600]),
                ticks("end", &[600, 4000]),
                numbers("cnode", Some(Unit::Cnode), &[1, 0]),
                ticks("cnode_ticks", &[400, 3000]),
                Column::new("hop", None, Values::U8(vec![0, 1])),
                counts("hops", Unit::Count, &[0, 0]),
            ],
        ),
        table(
            "windows",
            vec![
                numbers("instance", None, &[0, 0]),
                ticks("begin", &[0, 500]),
                ticks("end", &[1000, 1500]),
                Column::new(
                    "locations",
                    None,
                    Values::Bytes(vec![vec![0, 0, 0, 0, 1, 0, 0, 0], vec![0, 0, 0, 0]]),
                ),
                ticks("dropped_below", &[0, 0]),
            ],
        ),
        // The second window overlaps the first, and has its own piece of main and of MPI_Send on rank 0.
        table(
            "window_calls",
            vec![
                numbers("window", None, &[0, 0, 0, 0, 0, 1, 1]),
                numbers("location", Some(Unit::Location), &[0, 0, 0, 1, 1, 0, 0]),
                ticks("enter", &[0, 10, 400, 0, 100, 500, 500]),
                ticks("leave", &[1000, 390, 600, 1000, 620, 1500, 600]),
                numbers("cnode", Some(Unit::Cnode), &[0, 1, 2, 0, 3, 0, 2]),
                Column::new("depth", None, Values::U16(vec![0, 1, 1, 0, 1, 0, 1])),
                Column::new("open", None, Values::U8(vec![3, 0, 0, 3, 0, 3, 1])),
            ],
        ),
        table(
            "window_messages",
            vec![
                numbers("window", None, &[0]),
                numbers("source", Some(Unit::Location), &[0]),
                numbers("destination", Some(Unit::Location), &[1]),
                ticks("send_enter", &[400]),
                ticks("send_leave", &[600]),
                ticks("post", &[100]),
                ticks("receive_leave", &[620]),
                counts("bytes", Unit::Byte, &[1024]),
                numbers("tag", None, &[7]),
                numbers("communicator", None, &[0]),
                ticks("ticks", &[300]),
            ],
        ),
        table("window_waits", waits),
    ]
}

/// Names that do harm where they are not taken as text.
pub(crate) const HOSTILE: [&str; 16] = [
    "</script><script>document.title='x'</script>",
    "<img src=x onerror=alert(1)>",
    "\"onload=",
    "]]>",
    "{{7*7}}",
    "javascript:x",
    "a\u{2028}b",
    "a\u{202e}b",
    "::error::x",
    "%0A",
    "a|`b",
    "a;b",
    "a->b",
    "../../x",
    "=1+2,\"3\" 4",
    "tab\tand \\ and 'quote' 5",
];
