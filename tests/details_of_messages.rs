//! Details of messages and collective operations: their sums are what the report says, for real archives, the scripts of
//! `tests/golden` and random traces; and a small program, number by number.

use std::collections::BTreeMap;
use std::path::Path;

use cubex::{CnodeId, LocationGroupKind, LocationId, MetricId, Report};
use details::Table;
use details::manifest::{Complete, MANIFEST, Manifest, member};
use model::mpi::{Class, class};
use patterns::{Detect, PATTERNS, Pattern};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{DetailsPlace, Options, Semantics};

use crate::support::parse::Case;
use crate::support::{
    SEMANTICS, archives, fresh, golden, in_memory, name, options, random, workers, write, written,
};

/// Number of random traces of each kind.
const TRACES: u64 = 80;

/// Stands for none in tables.
const NONE: u64 = u32::MAX as u64;

/// A report with its details.
struct Detailed {
    report: Report,
    manifest: Manifest,
}

impl Detailed {
    fn of(experiment: &Path, report: &Path, semantics: Semantics) -> Detailed {
        let details = Some(DetailsPlace::Inside);
        let options = Options { details, ..options(experiment, report, semantics) };
        replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
        let report = Report::open(report).unwrap();
        let manifest = Manifest::parse(&report.member(MANIFEST).unwrap().unwrap()).unwrap();
        Detailed { report, manifest }
    }

    /// The rows of a table, with the named columns.
    fn rows<const N: usize>(&self, table: &str, columns: [&str; N]) -> Vec<[u64; N]> {
        let table = details::parse(&self.report.member(&member(table)).unwrap().unwrap()).unwrap();
        let columns = columns.map(|name| column(&table, name));
        (0..table.rows()).map(|row| std::array::from_fn(|at| columns[at][row])).collect()
    }

    fn is_complete(&self, table: &str) -> bool {
        let found = self.manifest.tables.iter().find(|it| it.member == member(table));
        found.unwrap().complete == Complete::Is(true)
    }

    /// Values of metrics in ticks, bytes or occurrences: by call path and process.
    fn metric(&self, names: &[&str]) -> BTreeMap<(usize, usize), u64> {
        let cube = self.report.cube();
        let is_process = |kind| kind == LocationGroupKind::Process;
        let processes: Vec<usize> = (0..cube.location_groups.len())
            .filter(|&group| is_process(cube.location_groups[group].kind))
            .collect();
        let mut sums = BTreeMap::new();
        for name in names {
            let at = cube.metrics.iter().position(|metric| metric.unique_name == *name).unwrap();
            let factor = if cube.metrics[at].unit == "sec" { self.manifest.ticks_per_second } else { 1 };
            let severities = self.report.severities(MetricId(at)).unwrap();
            for path in 0..cube.cnodes.len() {
                for (location, it) in cube.locations.iter().enumerate() {
                    let value = severities.exclusive(CnodeId(path), LocationId(location));
                    let Ok(process) = processes.binary_search(&it.group.0) else { continue };
                    *sums.entry((path, process)).or_default() += (value * factor as f64).round() as u64;
                }
            }
        }
        sums
    }

    /// Sums of metrics by process.
    fn by_process(&self, names: &[&str]) -> Vec<u64> {
        let mut sums = vec![0; self.manifest.ranks as usize];
        self.metric(names).into_iter().for_each(|((_, process), value)| sums[process] += value);
        sums
    }

    /// Sums of metrics by call path; those that are not zero.
    fn by_path(&self, names: &[&str]) -> BTreeMap<u64, u64> {
        let mut sums = BTreeMap::new();
        for ((path, _), value) in self.metric(names).into_iter().filter(|&(_, value)| value > 0) {
            *sums.entry(path as u64).or_default() += value;
        }
        sums
    }

    /// Sums of metrics by region; those that are not zero.
    fn by_region(&self, names: &[&str]) -> BTreeMap<u64, u64> {
        let mut sums = BTreeMap::new();
        for (path, value) in self.by_path(names) {
            *sums.entry(self.report.cube().cnodes[path as usize].region.0 as u64).or_default() += value;
        }
        sums
    }
}

fn column(table: &Table, name: &str) -> Vec<u64> {
    let column = table.column(name).unwrap_or_else(|| panic!("no column {name} in {}", table.name));
    column.values.numbers().unwrap()
}

/// Sums of a column by another one, those that are not zero.
fn sums<const N: usize>(rows: &[[u64; N]], by: usize, column: usize) -> BTreeMap<u64, u64> {
    let mut sums = BTreeMap::new();
    for row in rows.iter().filter(|row| row[column] > 0) {
        *sums.entry(row[by]).or_default() += row[column];
    }
    sums
}

/// A column of rows that are processes, those that are not zero.
fn by_process(column: impl IntoIterator<Item = u64>) -> BTreeMap<u64, u64> {
    (0..).zip(column).filter(|&(_, value)| value > 0).collect()
}

/// The waiting of collective operations, or their completion. The waiting of some is part of that of others.
fn collective_metrics(waiting: bool, semantics: Semantics) -> Vec<&'static str> {
    let has_it =
        |pattern: &&Pattern| semantics == Semantics::Corrected || !pattern.metric.is_beyond_reference;
    let is_whole = |it: &&Pattern| PATTERNS.iter().all(|all| it.metric.parent != Some(all.metric.id));
    let all = PATTERNS.iter().filter(|it| matches!(it.detect, Detect::Collective(..)));
    all.filter(has_it)
        .filter(is_whole)
        .filter(|pattern| pattern.is_waiting == waiting)
        .map(|pattern| pattern.metric.id)
        .collect()
}

struct Problems<'a> {
    what: &'a str,
    list: &'a mut Vec<String>,
}

impl Problems<'_> {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, law: &str, found: &T, expected: &T) {
        if found != expected {
            self.list.push(format!("{}: {law}: {found:?}, expected {expected:?}", self.what));
        }
    }
}

/// Checks that the tables add up to the report; returns how many waits of messages they have.
fn check(experiment: &Path, what: &str, semantics: Semantics, list: &mut Vec<String>) -> [u64; 4] {
    let directory = fresh();
    let detailed = Detailed::of(experiment, &directory.path().join("one.cubex"), semantics);
    let problems = &mut Problems { what, list };

    // Processes are the report's, column by column.
    let names = [
        ("sent", &["syncs_send", "comms_send"][..]),
        ("bytes_sent", &["bytes_sent"]),
        ("received", &["syncs_recv", "comms_recv"]),
        ("bytes_received", &["bytes_rcvd"]),
        ("late_sender", &["mpi_latesender"]),
        ("late_senders", &["mpi_sls_count", "mpi_cls_count"]),
        ("late_receiver", &["mpi_latereceiver"]),
        ("late_receivers", &["mpi_slr_count", "mpi_clr_count"]),
    ];
    let mut of_process = BTreeMap::new();
    for (column, metrics) in names {
        let rows = detailed.rows("processes", ["process", column]);
        let found: Vec<u64> = rows.iter().map(|row| row[1]).collect();
        problems.same(column, &found, &detailed.by_process(metrics));
        problems.same("processes", &rows.len(), &(detailed.manifest.ranks as usize));
        of_process.insert(column, by_process(found));
    }

    // The margins of the matrix are the processes.
    let columns = [
        "communicator",
        "source",
        "destination",
        "messages",
        "bytes",
        "late_sender",
        "late_senders",
        "late_receiver",
        "late_receivers",
    ];
    let matrix = detailed.rows("matrix", columns);
    assert!(matrix.is_sorted_by_key(|row| [row[0], row[1], row[2]]), "{what}: matrix");
    for (at, column) in [(3, "received"), (4, "bytes_received"), (5, "late_sender"), (6, "late_senders")] {
        problems.same(
            &format!("destinations of matrix, {column}"),
            &sums(&matrix, 2, at),
            &of_process[column],
        );
    }
    for (at, column) in [(7, "late_receiver"), (8, "late_receivers")] {
        problems.same(&format!("sources of matrix, {column}"), &sums(&matrix, 1, at), &of_process[column]);
    }
    // The matrix has messages that were received: not those that were cancelled or whose receives are not recorded.
    let is_odd = !detailed.manifest.summary.findings.is_empty();
    let [sent, received] = ["sent", "received"].map(|column| of_process[column].values().sum::<u64>());
    if !is_odd && sent == received {
        problems.same("sources of matrix, sent", &sums(&matrix, 1, 3), &of_process["sent"]);
        problems.same("sources of matrix, bytes_sent", &sums(&matrix, 1, 4), &of_process["bytes_sent"]);
    }
    for (by, at, column) in [
        (1, 5, "late_sender_caused"),
        (1, 6, "late_senders_caused"),
        (2, 7, "late_receiver_caused"),
        (2, 8, "late_receivers_caused"),
    ] {
        let rows = detailed.rows("processes", [column]);
        let expected = by_process(rows.iter().map(|row| row[0]));
        problems.same(&format!("matrix, {column}"), &sums(&matrix, by, at), &expected);
    }
    problems.same("complete", &detailed.is_complete("matrix"), &true);

    // Sizes are the report's, call path by call path.
    let columns =
        ["cnode", "messages", "bytes", "late_senders", "late_sender", "late_receivers", "late_receiver"];
    let sizes = detailed.rows("sizes", columns);
    for (at, metrics) in [
        (1, &["syncs_recv", "comms_recv"][..]),
        (2, &["bytes_rcvd"]),
        (3, &["mpi_sls_count", "mpi_cls_count"]),
        (4, &["mpi_latesender"]),
    ] {
        let law = format!("sizes, {metrics:?}");
        problems.same(&law, &sums(&sizes, 0, at), &detailed.by_path(metrics));
    }
    for (at, column) in [(5, "late_receivers"), (6, "late_receiver")] {
        let found: u64 = sizes.iter().map(|row| row[at]).sum();
        problems.same(&format!("sizes, {column}"), &found, &of_process[column].values().sum());
    }
    let classes =
        detailed.rows("sizes", ["cnode", "class", "messages", "bytes", "timed", "fastest", "transfer"]);
    assert!(classes.is_sorted_by(|a, b| (a[0], a[1]) < (b[0], b[1])), "{what}: sizes");
    for [cnode, class, messages, bytes, timed, fastest, transfer] in classes {
        let least = if class > 0 { messages << (class - 1) } else { 0 };
        let most = if class > 0 { (messages << class) - messages } else { 0 };
        let is_right = (least..=most).contains(&bytes) && timed <= messages && fastest * timed <= transfer;
        problems.same(&format!("class {class} of {cnode}"), &is_right, &true);
    }

    // Collective operations are the report's, function by function.
    let columns =
        ["communicator", "region", "calls", "members", "bytes_out", "bytes_in", "waiting", "completion"];
    let calls = detailed.rows("collectives", columns);
    let name = |region: u64| detailed.report.cube().regions[region as usize].name.as_str();
    // The end of a split operation on a file completes what its begin has started: it is no operation of its own.
    let is_end = |region: u64| name(region).starts_with("MPI_File_") && name(region).ends_with("_end");
    let (waits, completions) = (collective_metrics(true, semantics), collective_metrics(false, semantics));
    for (at, metrics) in
        [(4, &["bytes_cout"][..]), (5, &["bytes_cin"]), (6, &waits[..]), (7, &completions[..])]
    {
        let law = format!("collectives, {metrics:?}");
        let mut expected = detailed.by_region(metrics);
        expected.retain(|&region, _| !is_end(region));
        problems.same(&law, &sums(&calls, 1, at), &expected);
    }
    // Creation and release of communicators, and operations on windows and files, are not counted.
    let is_of_handle = |region: u64| {
        let of_communicators = [Class::CommunicatorTogether, Class::CommunicatorAlone];
        let is_of_set = ["MPI_Win_", "MPI_File_"].iter().any(|start| name(region).starts_with(start));
        is_of_set || of_communicators.contains(&class(name(region)))
    };
    let counted = calls.iter().copied().filter(|row| row[0] != NONE && !is_of_handle(row[1]));
    let counted: Vec<_> = counted.collect();
    let metrics = ["syncs_coll", "comms_csrc", "comms_cdst", "comms_cxch"];
    problems.same("collectives, members", &sums(&counted, 1, 3), &detailed.by_region(&metrics));
    let last = detailed.rows("last", ["region", "process", "times", "caused"]);
    let total = |rows: &[[u64; 8]], at: usize| rows.iter().map(|row| row[at]).sum::<u64>();
    let found: u64 = last.iter().map(|row| row[3]).sum();
    problems.same("last, caused", &found, &total(&calls, 6));
    for (region, times) in sums(&last, 0, 2) {
        let calls = sums(&calls, 1, 2).get(&region).copied().unwrap_or(0);
        problems.same("last, times", &(times <= calls), &true);
    }
    let sum = |column: &str| of_process[column].values().sum::<u64>();
    let timed = detailed.rows("sizes", ["timed"]).iter().map(|row| row[0]).sum();
    [sum("late_senders"), sum("late_receivers"), found, timed]
}

#[test]
fn details_of_messages_add_up_to_the_report_for_real_archives() {
    let mut problems = Vec::new();
    for archive in archives() {
        for semantics in SEMANTICS {
            check(&archive, &format!("{} {semantics:?}", name(&archive)), semantics, &mut problems);
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn details_of_messages_add_up_to_the_report_for_golden_scripts() {
    let mut problems = Vec::new();
    for script in golden() {
        let directory = fresh();
        write::write(&Case::read(&script).trace, directory.path());
        for semantics in SEMANTICS {
            check(directory.path(), &format!("{} {semantics:?}", name(&script)), semantics, &mut problems);
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn details_of_messages_add_up_to_the_report_for_random_traces() {
    let mut problems = Vec::new();
    let mut seen = [0; 4];
    for seed in 0..TRACES {
        for (kind, trace) in
            [("random", random::trace(seed)), ("other random", crate::oracle::random::trace(seed))]
        {
            let directory = fresh();
            write::write(&trace, directory.path());
            let semantics = SEMANTICS[(seed % 2) as usize];
            let found = check(directory.path(), &format!("{kind} trace {seed}"), semantics, &mut problems);
            seen.iter_mut().zip(found).for_each(|(sum, found)| *sum += u64::from(found > 0));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    // Laws about what never occurs prove nothing.
    assert!(seen.iter().all(|&traces| traces >= 20), "{seen:?}");
}

#[test]
fn details_are_the_same_for_any_workers() {
    let directory = in_memory();
    for seed in 0..TRACES / 4 {
        let experiment = directory.path().join(format!("{seed}"));
        write::write(&crate::oracle::random::trace(seed), &experiment);
        let report = directory.path().join("one.cubex");
        Detailed::of(&experiment, &report, Semantics::Corrected);
        let one = written(&report);
        for (processes, threads) in [(1, 2), (2, 1), (3, 1), (7, 1), (1, 7), (2, 2)] {
            let other = directory.path().join("other.cubex");
            workers::analyze(&experiment, &other, Semantics::Corrected, processes, threads)
                .into_iter()
                .for_each(|outcome| {
                    outcome.unwrap();
                });
            assert!(written(&other) == one, "trace {seed} with {processes} x {threads}");
        }
    }
}

/// A late sender, a late receiver and a message without waiting; a barrier with two last ones, a broadcast with a
/// later member than the root, and a scan.
const PROGRAM: &str = "
program prog
rank 0
  10 > MPI_Recv ; 35 recv 1 bytes 8 ; 36 < ; 40 > MPI_Recv ; 50 recv 1 bytes 8 ; 51 <
  100 > MPI_Barrier ; begin ; 150 end barrier ; 151 <
  200 > MPI_Bcast ; begin ; 250 end bcast root 1 received 8 ; 251 <
  300 > MPI_Scan ; begin ; 351 end scan sent 8 received 8 ; 352 <
rank 1
  30 > MPI_Send ; 31 send 0 bytes 8 ; 36 < ; 37 > MPI_Send ; 38 send 0 bytes 8 ; 39 <
  60 > MPI_Send ; 61 send 2 bytes 0 ; 90 <
  130 > MPI_Barrier ; begin ; 150 end barrier ; 151 <
  220 > MPI_Bcast ; begin ; 250 end bcast root 1 sent 24 ; 251 <
  310 > MPI_Scan ; begin ; 352 end scan sent 8 received 8 ; 353 <
rank 2
  80 > MPI_Recv ; 89 recv 1 bytes 0 ; 91 <
  130 > MPI_Barrier ; begin ; 152 end barrier ; 153 <
  240 > MPI_Bcast ; begin ; 250 end bcast root 1 received 8 ; 251 <
  305 > MPI_Scan ; begin ; 353 end scan sent 8 received 8 ; 354 <
";

#[test]
fn tables_of_a_small_program_have_the_numbers_of_its_events() {
    let directory = fresh();
    write::write(&Case::parse(PROGRAM).unwrap().trace, directory.path());
    let detailed = Detailed::of(directory.path(), &directory.path().join("one.cubex"), Semantics::Corrected);

    let columns = [
        "source",
        "destination",
        "messages",
        "bytes",
        "late_sender",
        "late_senders",
        "late_receiver",
        "late_receivers",
    ];
    let expected = [[1, 0, 2, 16, 20, 1, 0, 0], [1, 2, 1, 0, 0, 0, 20, 1]];
    assert_eq!(detailed.rows("matrix", columns), expected);

    let columns = ["process", "late_sender", "late_sender_caused", "late_receiver", "late_receiver_caused"];
    let expected = [[0, 20, 0, 0, 0], [1, 0, 20, 20, 0], [2, 0, 0, 0, 20]];
    assert_eq!(detailed.rows("processes", columns), expected);

    // The message that nobody waited for took from 37 to 50.
    let columns =
        ["class", "messages", "bytes", "late_senders", "late_receivers", "timed", "fastest", "transfer"];
    let expected = [[0, 1, 0, 0, 1, 0, 0, 0], [4, 2, 16, 1, 0, 1, 13, 13]];
    assert_eq!(detailed.rows("sizes", columns), expected);

    let region = |number: u64| &detailed.report.cube().regions[number as usize].name[..];
    let columns = ["region", "calls", "members", "bytes_out", "bytes_in", "waiting", "completion"];
    let mut calls: Vec<_> = detailed
        .rows("collectives", columns)
        .into_iter()
        .map(|[of, numbers @ ..]| (region(of), numbers))
        .collect();
    calls.sort_unstable();
    let expected = [
        ("MPI_Barrier", [1, 3, 0, 0, 30, 2]),
        ("MPI_Bcast", [1, 3, 24, 16, 20, 0]),
        ("MPI_Scan", [1, 3, 24, 24, 5, 0]),
    ];
    assert_eq!(calls, expected);

    let rows = detailed.rows("last", ["region", "process", "times", "caused"]);
    let mut last: Vec<_> = rows.into_iter().map(|[of, numbers @ ..]| (region(of), numbers)).collect();
    last.sort_unstable();
    // Of the two last ones the lower rank; in the broadcast the others wait for the root, who is not last.
    let expected = [
        ("MPI_Barrier", [1, 1, 30]),
        ("MPI_Bcast", [1, 0, 20]),
        ("MPI_Bcast", [2, 1, 0]),
        ("MPI_Scan", [1, 1, 5]),
    ];
    assert_eq!(last, expected);
}
