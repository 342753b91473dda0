//! A report with everything: four ranks of which the first works most, the others wait in a chain, and details about it.

use std::path::Path;

use cubex::{CnodeId, MetricId, Region};
use details::advice::{
    ADVICE, AdviceFile, Advised, AdvisedAlso, AdvisedGain, AdvisedPlace, AdvisedRun, SCHEMA as ADVICE_SCHEMA,
};
use details::manifest::{
    Class, Clocks, Communicator, Complete, Coverage, Culprit, Finding, IterationCause, Kind, Level, MainLoop,
    Manifest, Member, Metric, Part, SCHEMA, Summary, member,
};
use details::{Column, Table, Values};

use super::Maker;

/// Ticks are microseconds; the trace takes 0.16 s.
const END: u64 = 160_000;

/// Names of the report's functions, which tests replace by hostile ones.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) program: String,
    pub(crate) solve: String,
    pub(crate) file: String,
    pub(crate) communicator: String,
    pub(crate) place: String,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            program: "app".into(),
            solve: "solve".into(),
            file: "/home/someone/src/solve.c".into(),
            communicator: "MPI_COMM_WORLD".into(),
            place: "rank 0".into(),
        }
    }
}

/// Writes the report; `change` may change members with details before.
pub(crate) fn write(path: &Path, names: &Names, change: impl FnOnce(&mut Vec<(String, Vec<u8>)>)) {
    let mut members = vec![("replay.json".to_owned(), manifest(names).to_bytes())];
    for table in tables() {
        let bytes = details::write(&table).expect("a table");
        // A member must not have a size that is a multiple of a block of the archive.
        let padding = if bytes.len().is_multiple_of(512) { &[0][..] } else { &[] };
        members.push((member(&table.name), [&bytes, padding].concat()));
    }
    change(&mut members);
    let members: Vec<(&str, &[u8])> =
        members.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    report(names).write(path, &members);
}

/// Writes the report with the member of advice.
pub(crate) fn write_with_advice(path: &Path, advice: &AdviceFile) {
    write(path, &Names::default(), |members| members.push((ADVICE.into(), advice.to_bytes())));
}

/// Advice for the report: of the work, as replayed, and of the barrier, at most.
pub(crate) fn advice() -> AdviceFile {
    let place = |cnode, path: &str, region: &str| AdvisedPlace {
        cnode: Some(cnode),
        line: Some("solve.c:42".into()),
        path: path.into(),
        region: region.into(),
    };
    let work = Advised {
        also: vec![AdvisedAlso {
            expected: 0.015,
            place: place(6, "app/main/solve/MPI_Barrier", "MPI_Barrier"),
            rule: "sync/barrier".into(),
            scenario: Some("remove=main/solve/MPI_Barrier".into()),
            title: "Ranks wait at a barrier that may not be needed".into(),
        }],
        confidence: 0.9,
        evidence: Vec::new(),
        hidden: None,
        library: None,
        gain: AdvisedGain { by: "path".into(), expected: Some(0.0375), most: 0.045 },
        place: place(4, "app/main/solve/work", "work"),
        rule: "work/static".into(),
        scenario: Some("balance=main/solve/work".into()),
        seconds: 0.18,
        share: 0.5,
        text: "Rank 0 has most of the work: give each rank as much of it.".into(),
        title: "Work is not balanced".into(),
    };
    let receive = Advised {
        also: Vec::new(),
        confidence: 0.5,
        evidence: Vec::new(),
        hidden: None,
        library: None,
        gain: AdvisedGain { by: "wait".into(), expected: None, most: 0.03 },
        place: place(5, "app/main/solve/MPI_Recv", "MPI_Recv"),
        rule: "mylib/late".into(),
        scenario: None,
        seconds: 0.18,
        share: 0.5,
        text: "Send earlier.".into(),
        title: "Messages are late".into(),
    };
    AdviceFile {
        advice: vec![work, receive],
        not_evaluated: Vec::new(),
        run: AdvisedRun {
            certain: Some(1.0),
            conserve_bound: 0.045,
            coverage: Some(1.0),
            has_findings: false,
            least_percent: 1.0,
            locations: 4,
            seconds: 0.1,
            wait_bound: 0.03,
        },
        schema: ADVICE_SCHEMA.into(),
        together: None,
    }
}

/// Advice as it is where none was found.
pub(crate) fn no_advice() -> AdviceFile {
    AdviceFile { advice: Vec::new(), ..advice() }
}

/// The report without its details.
pub(crate) fn report(names: &Names) -> Maker {
    let mut maker = Maker::new(4);
    let time = maker.metric("time", None);
    let comp = maker.metric("comp", Some(time));
    let mpi = maker.metric("mpi", Some(time));
    let messages = maker.metric("mpi_point2point", Some(mpi));
    let late_sender = maker.metric("mpi_latesender", Some(messages));
    let barriers = maker.metric("mpi_synchronization", Some(mpi));
    let barrier_wait = maker.metric("mpi_barrier_wait", Some(barriers));
    let delay = maker.metric("delay", None);
    let delay_latesender = maker.metric("delay_latesender", Some(delay));
    let app = maker.call(&names.program, None);
    let main = maker.call("main", Some(app));
    let init = maker.call("MPI_Init", Some(main));
    let solve = maker.call(&names.solve, Some(main));
    let work = maker.call("work", Some(solve));
    let receive = maker.call("MPI_Recv", Some(solve));
    let barrier = maker.call("MPI_Barrier", Some(solve));
    maker.cube.regions[work.0] =
        Region { module: names.file.clone(), begin_line: Some(42), ..maker.cube.regions[work.0].clone() };
    let mut rows = |metrics: &[MetricId], cnode: CnodeId, row: [f64; 4]| {
        metrics.iter().for_each(|&metric| maker.row(metric, cnode, &row));
    };
    rows(&[time, comp], main, [0.001, 0.001, 0.001, 0.001]);
    rows(&[time, mpi], init, [0.040, 0.041, 0.039, 0.040]);
    rows(&[time, comp], work, [0.060, 0.010, 0.010, 0.010]);
    rows(&[time, mpi, messages, late_sender], receive, [0.0, 0.050, 0.060, 0.070]);
    rows(&[time, mpi, barriers, barrier_wait], barrier, [0.030, 0.020, 0.010, 0.0]);
    rows(&[delay, delay_latesender], work, [0.180, 0.030, 0.020, 0.010]);
    maker
}

/// The report without its details, with 0.4 s in a call `MEASUREMENT OFF` of some paradigm, which made others wait for 0.1 s.
pub(crate) fn report_with_off(paradigm: &str) -> Maker {
    let mut maker = report(&Names::default());
    let off = maker.call("MEASUREMENT OFF", Some(CnodeId(1)));
    let region = maker.cube.cnodes[off.0].region;
    maker.cube.regions[region.0].paradigm = paradigm.into();
    for name in ["time", "comp"] {
        let metric = maker.cube.metric_named(name).expect("a metric");
        maker.row(metric, off, &[0.1; 4]);
    }
    for name in ["delay", "delay_latesender"] {
        let metric = maker.cube.metric_named(name).expect("a metric");
        maker.row(metric, off, &[0.0, 0.0, 0.0, 0.1]);
    }
    maker
}

pub(crate) fn manifest(names: &Names) -> Manifest {
    let class = |name: &str, title: &str, role: &str, adds: &[&str], subtracts: &[&str]| Class {
        name: name.into(),
        title: title.into(),
        role: role.into(),
        colour: "#0072b2".into(),
        adds: adds.iter().map(|&name| name.into()).collect(),
        subtracts: subtracts.iter().map(|&name| name.into()).collect(),
    };
    let table = |table: &Table| Member {
        member: member(&table.name),
        rows: table.rows() as u64,
        complete: match &*table.name {
            "matrix" => Complete::No("of 9 partners of a receiver the 3 with most waiting".into()),
            _ => Complete::Is(true),
        },
    };
    Manifest {
        schema: SCHEMA.into(),
        ticks_per_second: 1_000_000,
        end: END,
        ranks: 4,
        locations: 4,
        threads: 1,
        nodes: 1,
        program: names.program.clone(),
        semantics: "corrected".into(),
        classes: vec![
            class("compute", "Computation", "work", &["comp"], &[]),
            class("messages", "Messages", "communicate", &["mpi_point2point"], &["mpi_latesender"]),
            class("mpi_latesender", "Late Sender", "wait", &["mpi_latesender"], &[]),
            class("mpi_barrier_wait", "Wait at Barrier", "wait", &["mpi_barrier_wait"], &[]),
        ],
        levels: vec![
            Level { span: 1, groups: 4, bins: 64, bin_ticks: 2500 },
            Level { span: 16, groups: 1, bins: 128, bin_ticks: 1250 },
        ],
        metrics: vec![
            Metric { name: "mpi_latesender".into(), title: "Late Sender".into() },
            Metric { name: "mpi_barrier_wait".into(), title: "Wait at Barrier".into() },
        ],
        communicators: vec![Communicator {
            number: 0,
            name: names.communicator.clone(),
            size: 4,
            members: Some(vec![0, 1, 2, 3]),
        }],
        tables: tables().iter().map(table).collect(),
        summary: Summary {
            locations: 4,
            run: 0.334,
            length: 0.091,
            mpi: 0.240,
            waiting: 0.240,
            costs: Some(0.240),
            culprits: vec![
                culprit(names, &names.place, 0.180, Some(1.7)),
                culprit(names, "rank 1", 0.030, None),
            ],
            coverage: vec![Coverage { fate: "analysed".into(), seconds: 0.240 }],
            findings: vec![Finding {
                class: "wrong".into(),
                name: "message received before it was sent".into(),
                count: 3,
                ..Finding::default()
            }],
            clocks: Clocks { error: 0.000_012, ..Clocks::default() },
            ..Summary::default()
        },
        main_loop: Some(MainLoop {
            iterations: 3,
            block: 1,
            locations: 4,
            run: 480_000,
            metrics: vec!["time".into(), "mpi".into()],
            kinds: vec![Kind { iterations: 2, representative: 1 }, Kind { iterations: 1, representative: 2 }],
            trend: Some(0.25),
            causes: vec![IterationCause {
                iteration: 2,
                location: 2,
                cnode: 4,
                ticks: 60_000.0,
                ticks_of_run: 70_000.0,
            }],
            map_span: 1,
            map_block: 1,
            ..MainLoop::default()
        }),
        ..Manifest::default()
    }
}

fn culprit(names: &Names, place: &str, seconds: f64, more_work: Option<f64>) -> Culprit {
    Culprit {
        place: place.into(),
        cnode: 4,
        call_path: format!("{}/main/{}/work", names.program, names.solve),
        seconds,
        kind: "late senders".into(),
        victims: Some(Part { text: "in MPI_Recv of ranks 1–3".into(), share: 0.86 }),
        is_critical: true,
        more_work,
        not_running: None,
        counted: None,
        ..Culprit::default()
    }
}

/// Appends a number as bytes of seven bits.
pub(crate) fn leb128(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Bins of some groups: ticks, and then nothing, as the table `grid` has them.
fn bins(groups: &[(usize, usize, u64)], all: usize) -> Vec<u8> {
    let mut ticks = vec![0_u64; groups.len() * all];
    for (group, &(from, to, each)) in groups.iter().enumerate() {
        ticks[group * all + from..group * all + to].fill(each);
    }
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < ticks.len() {
        if ticks[at] == 0 {
            let zeros = ticks[at..].iter().take_while(|ticks| **ticks == 0).count();
            bytes.push(0);
            leb128(zeros as u64 - 1, &mut bytes);
            at += zeros;
        } else {
            leb128(ticks[at] << 1, &mut bytes);
            at += 1;
        }
    }
    bytes
}

/// All tables that commands read.
pub(crate) fn tables() -> Vec<Table> {
    let table = |name: &str, columns: Vec<(&str, Values)>| Table {
        name: name.into(),
        columns: columns.into_iter().map(|(name, values)| Column::new(name, None, values)).collect(),
    };
    let u32s = |values: &[u32]| Values::U32(values.to_vec());
    let i64s = |values: &[i64]| Values::I64(values.to_vec());
    let u64s = |values: &[u64]| Values::U64(values.to_vec());
    let none = u32::MAX;
    let work = bins(&[(16, 40, 2500), (16, 20, 2500), (16, 20, 2500), (16, 20, 2500)], 64);
    let late = bins(&[(0, 0, 0), (20, 40, 2500), (20, 44, 2500), (20, 48, 1200)], 64);
    let barrier = bins(&[(40, 52, 2500), (44, 52, 2500), (48, 52, 2500), (0, 0, 0)], 64);
    let coarse = bins(&[(40, 96, 3000)], 128);
    vec![
        table(
            "grid",
            vec![
                ("level", Values::U8(vec![0, 0, 0, 1])),
                ("class", Values::U8(vec![0, 2, 3, 2])),
                ("group", u32s(&[0, 0, 0, 0])),
                ("groups", u32s(&[4, 4, 4, 1])),
                ("values", Values::Bytes(vec![work, late, barrier, coarse])),
            ],
        ),
        table(
            "instances",
            vec![
                ("metric", u32s(&[0, 0, 1])),
                ("location", u32s(&[3, 1, 0])),
                ("cnode", u32s(&[5, 5, 6])),
                ("enter", i64s(&[50_000, 50_000, 101_000])),
                ("leave", i64s(&[120_500, 100_500, 131_000])),
                ("begin", i64s(&[50_000, 50_000, 101_000])),
                ("ticks", i64s(&[70_000, 50_000, 30_000])),
                ("all_ticks", i64s(&[70_000, 50_000, 60_000])),
                ("cause_location", u32s(&[2, 0, none])),
                ("cause_cnode", u32s(&[3, 3, none])),
                ("cause_enter", i64s(&[119_900, 99_900, 0])),
                ("cause_leave", i64s(&[120_400, 100_400, 0])),
                ("origin_cnode", u32s(&[4, 4, none])),
                ("communicator", u32s(&[0, 0, 0])),
                ("tag", u32s(&[7, 7, none])),
                ("bytes", u64s(&[4096, 4096, 0])),
                ("members", u32s(&[none, none, 4])),
                ("direct", i64s(&[10_000, 50_000, -1])),
                ("window", u32s(&[none, none, none])),
            ],
        ),
        table(
            "chains",
            vec![
                ("instance", u32s(&[0, 0, 0, 1])),
                ("hop", Values::U8(vec![0, 1, 2, 0])),
                ("location", u32s(&[3, 2, 1, 1])),
                ("cnode", u32s(&[5, 5, 5, 5])),
                ("begin", i64s(&[50_000, 50_000, 50_000, 50_000])),
                ("ticks", i64s(&[70_000, 60_000, 50_000, 50_000])),
                ("cause_location", u32s(&[2, 1, 0, 0])),
                ("cause_cnode", u32s(&[3, 3, 3, 3])),
                ("cause_time", i64s(&[120_000, 110_000, 100_000, 100_000])),
            ],
        ),
        table(
            "series",
            vec![
                ("iteration", u32s(&[1, 2, 3])),
                ("begin", i64s(&[10_000, 40_000, 100_000])),
                ("end", i64s(&[41_000, 101_000, 131_000])),
                ("elapsed", i64s(&[30_000, 60_000, 30_000])),
                ("locations", u32s(&[4, 4, 4])),
                ("most_computation", i64s(&[25_000, 55_000, 25_000])),
                ("most_computation_location", u32s(&[0, 2, 0])),
                ("word", u32s(&[0, 0, 0])),
                ("kind", u32s(&[0, 1, 0])),
                ("flags", Values::U8(vec![9, 12, 1])),
            ],
        ),
        table(
            "series_values",
            vec![
                ("metric", u32s(&[0, 0, 0, 1, 1, 1])),
                ("iteration", u32s(&[1, 2, 3, 1, 2, 3])),
                ("sum", i64s(&[120_000, 240_000, 120_000, 30_000, 150_000, 30_000])),
                ("fraction", u64s(&[0; 6])),
                ("least", i64s(&[30_000, 60_000, 30_000, 5_000, 5_000, 5_000])),
                ("most", i64s(&[30_000, 60_000, 30_000, 10_000, 50_000, 10_000])),
                ("location", u32s(&[0, 0, 0, 3, 3, 3])),
            ],
        ),
        table(
            "matrix",
            vec![
                ("communicator", u32s(&[0, 0, 0, 0])),
                ("source", u32s(&[0, 1, 2, none])),
                ("destination", u32s(&[1, 2, 3, 3])),
                ("messages", u32s(&[3, 3, 3, 6])),
                ("bytes", u64s(&[12_288, 12_288, 12_288, 48])),
                ("late_sender", u64s(&[50_000, 60_000, 70_000, 0])),
                ("late_senders", u32s(&[3, 3, 3, 0])),
                ("late_receiver", u64s(&[0, 0, 1_000, 0])),
                ("late_receivers", u32s(&[0, 0, 1, 0])),
            ],
        ),
        table(
            "collectives",
            vec![
                ("communicator", u32s(&[0])),
                ("region", u32s(&[6])),
                ("calls", u64s(&[1])),
                ("members", u64s(&[4])),
                ("bytes_out", u64s(&[0])),
                ("bytes_in", u64s(&[0])),
                ("waiting", u64s(&[60_000])),
                ("completion", u64s(&[120])),
            ],
        ),
        table(
            "last",
            vec![
                ("communicator", u32s(&[0, 0])),
                ("region", u32s(&[6, 6])),
                ("process", u32s(&[3, none])),
                ("times", u64s(&[1, 0])),
                ("caused", u64s(&[60_000, 0])),
            ],
        ),
        table(
            "sizes",
            vec![
                ("cnode", u32s(&[5, 5])),
                ("class", Values::U8(vec![0, 13])),
                ("messages", u64s(&[6, 9])),
                ("bytes", u64s(&[0, 36_864])),
                ("late_senders", u64s(&[0, 9])),
                ("late_sender", u64s(&[0, 180_000])),
                ("late_receivers", u64s(&[0, 1])),
                ("late_receiver", u64s(&[0, 1_000])),
                ("timed", u64s(&[6, 0])),
                ("fastest", u64s(&[2, 0])),
                ("transfer", u64s(&[30, 0])),
            ],
        ),
    ]
}
