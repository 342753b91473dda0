//! Real programs: their profile agrees with a trace of them, and a trace has the estimated size.

use crate::recordings::{check, fresh};
use cubex::{LocationId, MetricId, Report};
use otf2::{Archive, Event, MappingType};
use skip::{Need, skip};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Messages and collective operations of several kinds, on paths of several depths; with an argument it kills
/// itself.
const SOURCE: &str = r#"
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
static int rank, size;
static void exchange(int count) {
    char *out = calloc(count, 1), *in = calloc(count, 1);
    MPI_Request requests[2];
    MPI_Irecv(in, count, MPI_CHAR, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, count, MPI_CHAR, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    free(out), free(in);
}
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 8000; i++) {
        exchange(i);
        int sum, done;
        MPI_Request none = MPI_REQUEST_NULL;
        MPI_Test(&none, &done, MPI_STATUS_IGNORE);
        if (i % 10 == 0) MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (argc > 1) raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
"#;

fn program(name: &str) -> Option<PathBuf> {
    let found = std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.exists());
    if found.is_none() {
        skip(Need::Compiler, format!("a real program: there is no {name}"));
    }
    found
}

/// Builds the recorder of this source, and the program.
fn prepare(directory: &Path) -> Option<PathBuf> {
    let (mpicc, _) = (program("mpicc")?, program("mpirun")?);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    // The folder may have been given relative to another one.
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", "recorder", "--target-dir"])
        .arg(folder)
        .output()
        .unwrap();
    let library = folder.join("debug/libreplay_recorder.so");
    if !built.status.success() || !library.exists() {
        skip(Need::Compiler, "a real program: the recorder cannot be built here");
        return None;
    }
    fs::write(directory.join("a.c"), SOURCE).unwrap();
    let compiled =
        Command::new(mpicc).args(["-g", "-o", "a", "a.c"]).current_dir(directory).status().unwrap();
    assert!(compiled.success());
    Some(library)
}

fn run(directory: &Path, library: &Path, options: &[&str], arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_replay-record"))
        .args(options)
        // Calls of a function that is left out are recorded if they have an effect; these have none.
        .args(["--functions", "-MPI_Test", "mpirun", "-n", "2", "./a"])
        .args(arguments)
        .current_dir(directory)
        .env("REPLAY_LIBRARY", library)
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .output()
        .unwrap()
}

/// Returns the values of a report: by MPI function, the sum over all call paths and processes.
fn of_report(path: &Path, metric: &str) -> BTreeMap<String, u64> {
    let report = Report::open(path).unwrap();
    let cube = report.cube();
    let severities = report.severities(cube.metric_named(metric).unwrap_or(MetricId(0))).unwrap();
    let mut sums = BTreeMap::new();
    for (at, cnode) in cube.cnodes.iter().enumerate() {
        let region = &cube.regions[cnode.region.0];
        if region.paradigm == "mpi" {
            let all = (0..cube.locations.len()).map(LocationId);
            let sum: f64 = all.map(|location| severities.inclusive(cubex::CnodeId(at), location)).sum();
            *sums.entry(region.name.clone()).or_insert(0) += sum as u64;
        }
    }
    sums.retain(|_, sum| *sum > 0);
    sums
}

/// Returns the contents of a trace: visits of functions, and bytes of messages sent.
fn of_trace(directory: &Path) -> (BTreeMap<String, u64>, u64) {
    let archive = Archive::open(directory).unwrap();
    let definitions = archive.definitions().unwrap();
    let (mut visits, mut sent) = (BTreeMap::new(), 0);
    for position in 0..definitions.locations.len() {
        let location = definitions.locations.reference(position);
        let local = archive.local_definitions(location).unwrap();
        let file = archive.event_file(location).unwrap();
        let mut events = archive.events(&file);
        while let Some(record) = events.next().unwrap() {
            match record.event {
                Event::CallingContextEnter { calling_context, .. } => {
                    let global = local.mappings.global(MappingType::CallingContext, calling_context);
                    let position = definitions.calling_contexts.position(global.into()).unwrap();
                    let region = definitions.calling_contexts[position].region;
                    *visits.entry(definitions.regions[region].name.clone()).or_insert(0) += 1;
                }
                Event::MpiIsend { msg_length, .. } => sent += msg_length,
                _ => {}
            }
        }
    }
    (visits, sent)
}

/// Returns the first number before a word.
fn before(text: &str, word: &str) -> u64 {
    let at = text.find(word).unwrap_or_else(|| panic!("{text}"));
    text[..at].split_whitespace().last().unwrap().replace(',', "").parse().unwrap()
}

#[test]
fn profile_and_estimate_say_what_a_trace_says() {
    let directory = fresh("profiled_program");
    let Some(library) = prepare(&directory) else { return };
    let estimate = run(&directory, &library, &["--estimate"], &[]);
    let said = String::from_utf8_lossy(&estimate.stderr).into_owned();
    assert!(estimate.status.success(), "{said}");
    let left = fs::read_dir(&directory).unwrap().count();
    assert_eq!(left, 2, "the program and its source");
    assert!(said.contains("MPI_Waitall") && said.contains("--functions -MPI_Irecv *"), "{said}");

    // How often a thread is interrupted is no property of the program, and nothing that an estimate knows.
    let without_switches = &["--off-cpu", "off", "-o", "trace"][..];
    for options in [without_switches, &["-o", "switches"], &["-o", "profile", "--profile"]] {
        let output = run(&directory, &library, options, &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let (trace, profile) = (directory.join("trace"), directory.join("profile/profile.cubex"));
    assert_eq!(before(&said, " events in"), check(&trace));
    let events = fs::read_dir(trace.join("traces")).unwrap().flatten();
    let bytes: u64 = events
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(".evt"))
        .map(|entry| entry.metadata().unwrap().len())
        .sum();
    let unit = said.find(" MB").map_or(1e3, |_| 1e6);
    let first = said.split(" events in ").nth(1).unwrap();
    let estimated: f64 = first.split_whitespace().next().unwrap().parse::<f64>().unwrap() * unit;
    assert!((estimated / bytes as f64 - 1.0).abs() < 0.1, "{said}\n{bytes} bytes");

    let (visits, sent) = of_trace(&trace);
    assert_eq!(of_trace(&directory.join("switches")), (visits.clone(), sent));
    assert_eq!(of_report(&profile, "visits"), visits);
    assert_eq!((visits["MPI_Waitall"], visits.get("MPI_Test")), (16_000, None));
    assert_eq!(of_report(&profile, "bytes_sent"), BTreeMap::from([("MPI_Isend".into(), sent)]));
    assert_eq!(of_report(&profile, "bytes_rcvd"), BTreeMap::from([("MPI_Waitall".into(), sent)]));
    let collective = BTreeMap::from([("MPI_Allreduce".into(), 800 * 2 * 2 * 4)]);
    assert_eq!(of_report(&profile, "bytes_cin"), collective);
    let report = Report::open(&profile).unwrap();
    let is_line = |cnode: &cubex::Cnode| cnode.module.ends_with("a.c") && cnode.line == Some(11);
    assert!(report.cube().cnodes.iter().any(is_line), "MPI_Waitall is called in line 11");
    read_with_pycubexr(&profile);
}

#[test]
fn program_that_is_killed_leaves_a_profile() {
    let directory = fresh("profiled_and_killed");
    let Some(library) = prepare(&directory) else { return };
    let output = run(&directory, &library, &["-o", "profile", "--profile"], &["die"]);
    assert!(!output.status.success());
    let visits = of_report(&directory.join("profile/profile.cubex"), "visits");
    // mpirun may kill the second process before it has come as far.
    assert!(visits["MPI_Waitall"] >= 8000, "{visits:?}");
    assert!(!visits.contains_key("MPI_Finalize"));
}

/// Checks that the usual reader in Python accepts the report.
fn read_with_pycubexr(path: &Path) {
    let script = "import sys
from pycubexr import CubexParser
with CubexParser(sys.argv[1]) as cube:
    values = cube.get_metric_values(cube.get_metric_by_name('visits'))
    print(sum(sum(values.cnode_values(node)) for node in cube.all_cnodes() if node.region.name == 'MPI_Waitall'))";
    let python = std::env::var_os("REPLAY_PYTHON").unwrap_or_else(|| "python3".into());
    match Command::new(python).args(["-c", script]).arg(path).output() {
        Ok(output) if output.status.success() => {
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim().parse::<f64>(), Ok(16_000.0));
        }
        _ => skip(Need::Python, "what pycubexr thinks: there is none"),
    }
}
