//! Law: a trace that is exported to Paraver and imported again has the same late senders, to a nanosecond.
//!
//! Exporting rounds times down to nanoseconds, so that each late sender may change by less than one.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use cubex::{CnodeId, LocationId, MetricId, Report};
use generate::{Job, PATTERNS};
use import::Sources;
use otf2::{Archive, Event};
use skip::{Need, skip};

use crate::support::parse::Case;
use crate::support::write::write;

/// The directory of `replay-analyze` and `replay-show`, which are other packages: that of this build, unless `REPLAY_PROGRAMS`
/// names another one.
fn programs() -> Option<PathBuf> {
    let built = || Some(env::current_exe().ok()?.parent()?.parent()?.to_owned());
    let directory = env::var_os("REPLAY_PROGRAMS").map(PathBuf::from).or_else(built)?;
    let is_there = |name: &&str| directory.join(name).is_file();
    if let Some(missing) = ["replay-analyze", "replay-show"].iter().find(|name| !is_there(name)) {
        skip(Need::System, format!("there is no {missing} in {}; cargo build makes it", directory.display()));
        return None;
    }
    Some(directory)
}

/// Runs a program; returns whether it has done what it should, and what it has printed on standard error.
fn run(program: &Path, arguments: &[&Path]) -> (bool, String) {
    let output = Command::new(program).args(arguments).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Values by rank, thread and function.
type Values = BTreeMap<(u64, u64, String), f64>;

/// Seconds of late senders, and their number.
fn late_senders(report: &Path) -> [Values; 2] {
    let report = Report::open(report).unwrap();
    let cube = report.cube();
    let mut all = [Values::new(), Values::new()];
    for (names, values) in [&["mpi_latesender"][..], &["mpi_sls_count", "mpi_cls_count"]].iter().zip(&mut all)
    {
        for (at, _) in
            cube.metrics.iter().enumerate().filter(|metric| names.contains(&&*metric.1.unique_name))
        {
            let severities = report.severities(MetricId(at)).unwrap();
            for (path, cnode) in cube.cnodes.iter().enumerate() {
                for (position, location) in cube.locations.iter().enumerate() {
                    let rank = cube.location_groups[location.group.0].rank;
                    let key = (rank, location.rank, cube.regions[cnode.region.0].name.clone());
                    let value = severities.exclusive(CnodeId(path), LocationId(position));
                    if value != 0.0 {
                        *values.entry(key).or_default() += value;
                    }
                }
            }
        }
    }
    all
}

/// The number of messages that an experiment receives.
fn received(experiment: &Path) -> u64 {
    let archive = Archive::open(experiment).unwrap();
    let definitions = archive.definitions().unwrap();
    let mut count = 0;
    for position in 0..definitions.locations.len() {
        let Ok(file) = archive.event_file(definitions.locations.reference(position)) else { continue };
        let mut cursor = archive.events(&file);
        while let Ok(Some(record)) = cursor.next() {
            count += u64::from(matches!(
                record.event,
                Event::MpiRecv { .. }
                    | Event::MpiIrecv { .. }
                    | Event::MpiMrecv { .. }
                    | Event::MpiImrecv { .. }
            ));
        }
    }
    count
}

/// What comparing has found.
#[derive(Debug)]
struct Compared {
    /// The number of late senders.
    count: f64,
    differences: Vec<String>,
}

/// Exports an experiment, imports it, and compares late senders; an error says why it cannot be exported.
fn compare(name: &str, experiment: &Path, programs: &Path) -> Result<Compared, String> {
    let (analyze, show) = (programs.join("replay-analyze"), programs.join("replay-show"));
    let directory = tempfile::tempdir().unwrap();
    let [exported, imported] = ["p", "i"].map(|name| directory.path().join(name));
    let report = directory.path().join("o.cubex");
    let (is_analysed, said) = run(&analyze, &[experiment, "--force".as_ref(), "--no-root-causes".as_ref()]);
    if !is_analysed {
        return Err(said);
    }
    std::fs::copy(experiment.join("trace.cubex"), &report).unwrap();
    let arguments: [&Path; 5] = ["export".as_ref(), "paraver".as_ref(), experiment, "-o".as_ref(), &exported];
    let (is_exported, said) = run(&show, &arguments);
    if !is_exported {
        return Err(said);
    }
    let sources = Sources::open(&exported.join("trace.prv"));
    let done = import::import(sources, &imported, false).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (remarks, received) = (done.remarks, received(experiment));
    if done.messages != received {
        return Err(format!("{} of {received} messages were exported", done.messages));
    }
    let (is_analysed, said) = run(&analyze, &[&imported, "--no-root-causes".as_ref()]);
    assert!(is_analysed, "{name}: {said}");
    let [before, count] = late_senders(&report);
    let [after, _] = late_senders(&imported.join("trace.cubex"));
    let mut differences = Vec::new();
    let keys: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let of = |values: &Values| values.get(key).copied().unwrap_or(0.0);
        let (before, after, most) = (of(&before), of(&after), 1e-9 * of(&count).max(1.0));
        if (before - after).abs() > most + 1e-12 {
            differences.push(format!("{name}: {key:?}: {before} before, {after} after; {remarks}"));
        }
    }
    Ok(Compared { count: count.values().sum(), differences })
}

/// Checks the law for experiments, but for some, of which it is known why it does not hold; returns the number of those that
/// could be exported, and of their late senders.
fn check(
    experiments: impl Iterator<Item = (String, PathBuf)>,
    programs: &Path,
    exceptions: &[(&str, &str)],
) -> (u32, f64) {
    let (mut all, mut count, mut differences) = (0, 0.0, Vec::new());
    for (name, experiment) in experiments {
        // Some cannot be exported, and some messages are not: those that are received when they are sent, or before.
        let Ok(compared) = compare(&name, &experiment, programs) else { continue };
        all += 1;
        count += compared.count;
        match exceptions.iter().find(|exception| exception.0 == name) {
            None => differences.extend(compared.differences),
            Some((name, why)) if compared.differences.is_empty() => {
                differences.push(format!("{name}: the law holds; it is no exception ({why})"));
            }
            Some(_) => {}
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    println!("{count} late senders in {all} experiments");
    (all, count)
}

#[test]
fn late_senders_of_generated_traces_come_back() {
    let Some(programs) = programs() else { return };
    let directory = tempfile::tempdir().unwrap();
    let generated = PATTERNS.iter().map(|pattern| {
        let experiment = directory.path().join(pattern.name);
        let job = Job { iterations: Some(12), ..Job::new(pattern, 4.max(pattern.least_ranks), 0) };
        generate::generate(&job, &experiment).unwrap();
        (pattern.name.to_owned(), experiment)
    });
    let (all, count) =
        check(generated, &programs, &[("offload", "devices become tasks when they are exported")]);
    assert!(all > 10 && count > 300.0, "few: {count} late senders in {all} experiments");
}

#[test]
fn late_senders_of_real_traces_come_back() {
    /// Clocks are wrong, and messages that are received before they are sent are not exported.
    const EXCEPTIONS: [(&str, &str); 1] = [("skewed.4", "wrong clocks")];
    let Some(programs) = programs() else { return };
    let directory = tempfile::tempdir().unwrap();
    let archives = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/archives");
    let copied = std::fs::read_dir(archives).unwrap().filter_map(|entry| {
        let (from, to) = (entry.as_ref().unwrap().path(), directory.path().join(entry.unwrap().file_name()));
        from.join("traces.otf2").is_file().then(|| {
            std::fs::create_dir_all(to.join("traces")).unwrap();
            for folder in ["", "traces"] {
                for file in std::fs::read_dir(from.join(folder)).unwrap().map(|file| file.unwrap().path()) {
                    let place = to.join(folder).join(file.file_name().unwrap());
                    let is_of_trace = file
                        .extension()
                        .is_some_and(|ending| ["otf2", "def", "evt"].iter().any(|it| ending == *it));
                    if is_of_trace {
                        std::fs::copy(&file, place).unwrap();
                    }
                }
            }
            (to.file_name().unwrap().to_string_lossy().into_owned(), to)
        })
    });
    let (all, count) = check(copied, &programs, &EXCEPTIONS);
    assert!(all > 10 && count > 100.0, "few: {count} late senders in {all} experiments");
}

#[test]
fn late_senders_of_scripts_come_back() {
    const EXCEPTIONS: [(&str, &str); 9] = [
        ("cancelled_send", "exporting pairs messages by order, those that are cancelled, too"),
        (
            "mpi_by_file",
            "functions that only their file tells to be MPI's are exported as those of the program",
        ),
        ("nonblocking_waitall_messages", "non-blocking collective operations are not in traces of Paraver"),
        (
            "not_recorded_from_the_start",
            "exporting pairs messages by order, without those that were not recorded",
        ),
        ("offload_late_sender", "devices become tasks when they are exported"),
        ("partitioned", "partitioned messages are exported as others"),
        ("probe_that_tells", "probes are not in traces of Paraver"),
        (
            "recording_pauses_in_requests",
            "exporting pairs messages by order, without those that were not recorded",
        ),
        (
            "recording_pauses_without_order",
            "exporting pairs messages by order, without those that were not recorded",
        ),
    ];
    let Some(programs) = programs() else { return };
    let directory = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden");
    let scripts = std::fs::read_dir(golden).unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_script = path.extension().is_some_and(|ending| ending == "trace");
        // Only those with messages that are received say something.
        let has_messages = || std::fs::read_to_string(&path).unwrap().contains("recv ");
        (is_script && has_messages()).then(|| {
            let experiment = directory.path().join(&name);
            write(&Case::read(&path).trace, &experiment);
            (name, experiment)
        })
    });
    let (all, count) = check(scripts, &programs, &EXCEPTIONS);
    assert!(all > 10 && count > 50.0, "few: {count} late senders in {all} experiments");
}
