//! Metrics of the model of file I/O (io.md 5.2): a made-up program with calls of each kind that something is the matter with.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::support::parse::Case;
use crate::support::report::Table;
use crate::support::run::analyze;
use crate::support::write::write;
use crate::support::{in_memory, written};

const MIB: u64 = 1 << 20;

/// Calls of one kind at a call path: values by the end of the metric's name.
type Defects = BTreeMap<String, f64>;

/// Opens the file `f` and sets a view of bytes.
fn open(script: &mut String, rank: u64, hints: &str) {
    writeln!(
        script,
        "rank {rank}\n 0 > main ; > MPI_Init ; 10 <\n 20 > MPI_File_open ; create f ; 30 <\n \
         40 > MPI_File_set_view ; 50 with file f view 0 etype 1 type b1 {hints} : <"
    )
    .unwrap();
}

fn close(script: &mut String) {
    writeln!(script, " 8000 > MPI_File_close ; destroy f ; 8010 <\n 9000 > MPI_Finalize ; 9010 < ; <")
        .unwrap();
}

/// A transfer that takes 50 ticks.
fn transfer(script: &mut String, call: &str, begin: u64, (at, bytes): (u64, u64)) {
    let (end, mode) = (begin + 50, u8::from(call == "write"));
    writeln!(
        script,
        " {begin} > MPI_File_{call}_at ; with offset {at} : transfer f id 1 flags 0 mode {mode} bytes {bytes} ; \
         {end} transferred f id 1 bytes {bytes} ; <"
    )
    .unwrap();
}

/// Three ranks, whose calls have one defect each, or none.
fn program(hints: &str) -> String {
    let mut script = String::from("resolution 1000\nprogram prog\nfile f world\n");
    open(&mut script, 0, hints);
    for (begin, call, place) in [
        (100, "write", (0, 0)),                 // empty
        (200, "write", (0, 2 * MIB)),           // as it should be
        (300, "write", (2 * MIB, 100)),         // small
        (400, "write", (2 * MIB, 2 * MIB)),     // out of order
        (500, "write", (4 * MIB + 1, 2 * MIB)), // unaligned
        (600, "write", (8 * MIB, MIB + 100)),   // contended, as it has the end of a block
        (1000, "read", (10 * MIB, MIB)),        // as it should be
        (1100, "read", (10 * MIB, MIB)),        // read again, and out of order
    ] {
        transfer(&mut script, call, begin, place);
    }
    writeln!(script, " 1200 > check").unwrap();
    transfer(&mut script, "read", 1210, (0, 10)); // own, and small
    transfer(&mut script, "read", 1310, (20 * MIB + 4096, MIB)); // as it should be, but in blocks of a MiB
    writeln!(script, " 1400 <").unwrap();
    close(&mut script);
    open(&mut script, 1, hints);
    transfer(&mut script, "write", 620, (9 * MIB + 100, MIB)); // contended, as it begins in that block
    close(&mut script);
    open(&mut script, 2, hints);
    transfer(&mut script, "read", 700, (0, 0)); // empty
    close(&mut script);
    script
}

/// The report of a script, with these options.
fn report(directory: &Path, script: &str, options: &[&str]) -> Table {
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let (trace, report) = (path("traces.otf2"), path("trace.cubex"));
    if !Path::new(&trace).exists() {
        write(&Case::parse(script).unwrap().trace, directory);
    }
    let fixed = [&*trace, "-o", &report, "--details", "none", "--no-advice"];
    analyze(fixed.iter().chain(options)).expect(0);
    Table::read(Path::new(&report))
}

/// What is the matter with calls that read or write, at a call path and a location.
fn defects(table: &Table, parent: &str, path: &str, location: usize) -> Defects {
    let named = table.named();
    let below = named.iter().filter_map(|((metric, at, of), value)| {
        let kind = metric.strip_prefix(parent)?.strip_prefix('_')?;
        (at == path && *of == location).then(|| (kind.to_owned(), *value))
    });
    below.collect()
}

fn once(kinds: &[&str]) -> Defects {
    kinds.iter().map(|kind| ((*kind).to_owned(), 1.0)).collect()
}

#[test]
fn each_kind_of_call_is_counted_at_its_call_path_for_any_number_of_workers() {
    let directory = in_memory();
    let table = directory.path().join("a.tsv");
    let model = ["--io-model", table.to_str().unwrap()];
    let mut first = None;
    for threads in ["1", "2", "3"] {
        let options = [&model[..], &["--threads", threads]].concat();
        let table = report(directory.path(), &program(""), &options);
        let of =
            |parent, path: &str, location| defects(&table, parent, &format!("prog/main/{path}"), location);
        let all = ["empty", "contended", "small", "random", "unaligned"];
        assert_eq!(of("io_ops_write", "MPI_File_write_at", 0), once(&all));
        assert_eq!(of("io_ops_write", "MPI_File_write_at", 1), once(&["contended"]));
        assert_eq!(of("io_ops_read", "MPI_File_read_at", 0), once(&["random"]));
        assert_eq!(of("io_ops_read", "check/MPI_File_read_at", 0), once(&["small"]));
        assert_eq!(of("io_ops_read", "MPI_File_read_at", 2), once(&["empty"]));
        let named = table.named();
        let bytes =
            |metric: &str, path: &str| named.get(&(metric.to_owned(), format!("prog/main/{path}"), 0));
        assert_eq!(bytes("io_bytes_reread", "MPI_File_read_at"), Some(&(MIB as f64)));
        assert_eq!(bytes("io_bytes_own", "check/MPI_File_read_at"), Some(&10.0));
        assert_eq!(table.sum("io_bytes_avoidable", 0), (MIB + 10) as f64);
        // The report has the same bytes.
        let report = written(&directory.path().join("trace.cubex"));
        assert!(*first.get_or_insert_with(|| report.clone()) == report, "{threads} workers");
    }
}

#[test]
fn calls_that_something_is_the_matter_with_are_no_more_than_all() {
    let directory = in_memory();
    let table = directory.path().join("a.tsv");
    let table = report(directory.path(), &program(""), &["--io-model", table.to_str().unwrap()]);
    for ((metric, path, location), all) in table.named() {
        if metric == "io_ops_read" || metric == "io_ops_write" {
            let below: f64 = defects(&table, &metric, &path, location).values().sum();
            assert!(below <= all, "{metric} at {path}: {below} of {all}");
        }
    }
    assert_eq!(["io_ops_write", "io_ops_read"].map(|metric| table.sum(metric, 0)), [6.0, 4.0]);
}

#[test]
fn hint_says_how_large_blocks_are() {
    let directory = in_memory();
    let table = directory.path().join("a.tsv");
    let script = program("hints striping_unit=1048576");
    let table = report(directory.path(), &script, &["--io-model", table.to_str().unwrap()]);
    let path = "prog/main/check/MPI_File_read_at";
    assert_eq!(defects(&table, "io_ops_read", path, 0), once(&["small", "unaligned"]));
}

#[test]
fn properties_of_the_file_say_how_large_stripes_and_blocks_are() {
    let found = |properties: &str| {
        let directory = in_memory();
        let table = directory.path().join("a.tsv");
        let script = program("").replace("file f world\n", &format!("file f world\n{properties}\n"));
        let table = report(directory.path(), &script, &["--io-model", table.to_str().unwrap()]);
        defects(&table, "io_ops_read", "prog/main/check/MPI_File_read_at", 0)
    };
    assert_eq!(found("stripe f 1048576"), once(&["small", "unaligned"]));
    assert_eq!(found("block f 1048576"), once(&["small", "unaligned"]));
    assert_eq!(found("stripe f 4096\nblock f 1048576"), once(&["small"]));
}

#[test]
fn without_a_model_or_with_the_semantics_of_the_reference_there_are_no_such_metrics() {
    let directory = in_memory();
    let model = directory.path().join("a.tsv");
    let model = ["--io-model", model.to_str().unwrap()];
    let has = |options: &[&str]| {
        let table = report(directory.path(), &program(""), options);
        patterns::metrics_of_file_model().filter(|it| table.metric(it.id).is_some()).count()
    };
    assert_eq!(has(&model), patterns::metrics_of_file_model().count());
    assert_eq!(has(&[]), 0);
    assert_eq!(has(&[&model[..], &["--semantics", "reference"]].concat()), 0);
}
