//! The pages that are checked, and what scripts get of the same reports.

use std::fs;
use std::path::{Path, PathBuf};

use cubex::{Cube, Report};
use details::manifest::{MANIFEST, Manifest};
use generate::{Job, Pattern, Slow, Tuning, Work, generate};
use replay::Semantics;
use serde_json::{Value, json};

use super::rewrite::{add_topology, rewrite};
use crate::causes;
use crate::foreign;
use crate::short::{keeping, kept, shorten};
use crate::support::show::json as printed;
use crate::support::tables::Details;
use crate::support::{analyze, archive, in_memory, run};

/// Names that want to be more than text.
const HOSTILE: [&str; 10] = [
    "</script><script>document.title='x'</script>",
    "<img src=x onerror=alert(1)>",
    "\"onload=",
    "]]>",
    "{{7*7}}",
    "javascript:alert(1)",
    "a\u{2028}b\u{202e}c",
    "../../x%0A",
    "a|b`c`;d->e",
    "",
];

/// Analyzes a trace that ships with the project.
fn shipped(trace: &str, folder: &Path) -> PathBuf {
    let report = folder.join(format!("{trace}.cubex"));
    analyze(&archive(trace), &report, Semantics::Corrected).unwrap();
    report
}

/// Analyzes a trace that ships with the project, and looks for advice.
fn asked_for_advice(trace: &str, folder: &Path) -> PathBuf {
    let report = folder.join(format!("{trace}-asked.cubex"));
    run::analyze([Path::new("--what-if"), Path::new("-o"), &report, &archive(trace)]).expect(0);
    report
}

/// Analyzes a trace that is made for this.
fn generated(pattern: &str, ranks: u32, events: u64, folder: &Path) -> PathBuf {
    let (directory, report) = (in_memory(), folder.join(format!("{pattern}-{ranks}.cubex")));
    let trace = directory.path().join("trace");
    generate(&Job::new(Pattern::find(pattern).unwrap(), ranks, events), &trace).unwrap();
    analyze(&trace, &report, Semantics::Corrected).unwrap();
    report
}

/// Makes the page of a report, `NAME.html`.
fn page(report: &Path, name: &str, folder: &Path) {
    let page = folder.join(format!("{name}.html"));
    let title = format!("{name}.cubex");
    printed(&["html", report.to_str().unwrap(), "-o", page.to_str().unwrap(), "--title", &title]);
}

/// Makes a page, and beside it what the first screen is for scripts.
fn with_overview(report: &Path, name: &str, folder: &Path) {
    page(report, name, folder);
    let all = json!({"overview": printed(&[report.to_str().unwrap()])});
    fs::write(folder.join(format!("{name}.json")), all.to_string()).unwrap();
}

/// Makes a page, and beside it all that scripts get of the same.
fn with_everything(report: &Path, name: &str, folder: &Path) {
    page(report, name, folder);
    let path = report.to_str().unwrap();
    let metrics = "time,waiting,delay,mpi_latesender,visits,comp";
    let manifest = Report::open(report).unwrap().member(MANIFEST).unwrap().unwrap();
    let manifest = Manifest::parse(&manifest).unwrap();
    // Seconds of each class of time, between two bins of the finest level.
    let bin = manifest.levels.last().unwrap().bin_ticks as f64 / manifest.ticks_per_second as f64;
    let times = |from: f64, to: f64| -> Value {
        let one = |class: &details::manifest::Class| {
            // Whoever begins in a bin, or ends in one, gets all of it.
            let (from, to) = (format!("{:.9}", from * bin + 1e-9), format!("{:.9}", to * bin - 1e-9));
            let cells =
                printed(&["time", path, "-m", &class.name, "--rows", "1", "--from", &from, "--to", &to]);
            let cells = cells["cells"].as_array().unwrap().clone();
            let seconds = cells.iter().map(|cell| cell["seconds"].as_f64().unwrap());
            json!([class.name, seconds.sum::<f64>()])
        };
        manifest.classes.iter().map(one).collect()
    };
    let end = manifest.end as f64 / manifest.ticks_per_second as f64 / bin;
    let zooms = [(0.0, end), (2700.0, 2900.0), (3200.0, 3264.0)];
    let zooms = zooms.map(|(from, to)| json!({"from": from * bin, "to": to * bin, "times": times(from, to)}));
    let all = json!({
        "overview": printed(&[path]),
        "tree": printed(&["tree", path, "-m", metrics]),
        "ranks": printed(&["ranks", path, "-m", metrics]),
        "waits": printed(&["waits", path, "--chain"]),
        "matrix": printed(&["matrix", path]),
        "sizes": printed(&["matrix", path, "--sizes"]),
        "collectives": printed(&["matrix", path, "--collectives"]),
        "zooms": zooms,
    });
    fs::write(folder.join(format!("{name}.json")), all.to_string()).unwrap();
}

/// Pages whose numbers are compared: of the trace that ships, and of one with threads.
pub(super) fn compared(folder: &Path) {
    for (name, trace) in [("chain", "imbalance_chain.4"), ("hybrid", "hybrid.2x3")] {
        with_everything(&shipped(trace, folder), name, folder);
    }
}

/// The page of the trace that ships as files in the directory `split`.
pub(super) fn split(folder: &Path) {
    let (report, split) = (folder.join("imbalance_chain.4.cubex"), folder.join("split"));
    printed(&[
        "html",
        report.to_str().unwrap(),
        "--split",
        split.to_str().unwrap(),
        "--title",
        "chain.cubex",
    ]);
}

/// Pages of reports that lack something or are odd, one without names in `anonymous`, and one with hostile names.
pub(super) fn of_all_kinds(folder: &Path) {
    for trace in ["skewed.4", "io.4", "rma.4", "master_worker.6", "self_and_null.4", "wrong_order_diff.4"] {
        with_overview(&shipped(trace, folder), trace, folder);
    }
    // The reference does not analyse one-sided communication.
    let unknown = folder.join("rma.4-reference.cubex");
    analyze(&archive("rma.4"), &unknown, Semantics::Reference).unwrap();
    with_overview(&unknown, "rma.4-reference", folder);
    with_overview(&generated("compute", 1, 500, folder), "one-rank", folder);
    let other = folder.join("foreign.cubex");
    foreign::profile(&other);
    with_overview(&other, "foreign", folder);
    for (name, trace) in [("advised", "barrier.4"), ("nothing-advised", "self_and_null.4")] {
        with_overview(&asked_for_advice(trace, folder), name, folder);
    }
    let states = folder.join("states");
    fs::create_dir(&states).unwrap();
    causes::analyze(include_str!("../golden/states.trace"), &states);
    with_overview(&states.join("report.cubex"), "states", folder);
    let report = folder.join("master_worker.6.cubex");
    let hostile = folder.join("hostile.cubex");
    rewrite(&report, &hostile, |cube| rename(cube, |at| HOSTILE[at % HOSTILE.len()].to_owned()));
    with_overview(&hostile, "hostile", folder);
    let secret = folder.join("secret.cubex");
    rewrite(&report, &secret, |cube| rename(cube, |at| format!("secret{at}")));
    let anonymous = folder.join("anonymous.html");
    printed(&["html", secret.to_str().unwrap(), "-o", anonymous.to_str().unwrap(), "--anonymous"]);
}

/// Gives other names to everything in a report that has one, but for functions of MPI.
fn rename(cube: &mut Cube, name: impl Fn(usize) -> String) {
    let mut next = 0;
    let mut name = || {
        next += 1;
        name(next)
    };
    for region in cube.regions.iter_mut().filter(|region| region.paradigm != "mpi") {
        (region.name, region.mangled_name, region.module) = (name(), name(), name());
    }
    cube.system_tree_nodes.iter_mut().for_each(|node| node.name = name());
    cube.locations.iter_mut().for_each(|location| location.name = name());
    add_topology(cube, &name(), &[2, 3]);
}

/// Pages of 1,000 ranks in a topology with three dimensions, and of 65,536 ranks.
pub(super) fn of_many(folder: &Path) {
    let report = generated("stencil", 1000, 300, folder);
    let many = folder.join("many.cubex");
    rewrite(&report, &many, |cube| {
        add_topology(cube, "grid", &[5, 10, 20]);
        add_topology(cube, "line", &[1000]);
    });
    let path = many.to_str().unwrap();
    page(&many, "many", folder);
    let all = json!({
        "ranks": printed(&["ranks", path, "-m", "waiting,time"]),
        "matrix": printed(&["matrix", path]),
    });
    fs::write(folder.join("many.json"), all.to_string()).unwrap();
    page(&generated("stencil", 65_536, 60, folder), "huge", folder);
}

/// Pages of a trace in which rank 2 is slow in iteration 33, with what its tables say of that; of one whose iterations do not
/// correspond; of one without a loop; and of a short archive of the first one.
pub(super) fn of_iterations(folder: &Path) {
    let slow = Slow { rank: 2, iteration: 33, factor: 4.0, work: Work::Relax };
    let tuning = Tuning { slow: Some(slow), ..Tuning::default() };
    let job = Job::new(Pattern::find("iterations").unwrap(), 4, 0);
    let job = Job { iterations: Some(60), call_sites: true, tuning, ..job };
    let (directory, report) = (in_memory(), folder.join("slow.cubex"));
    let trace = directory.path().join("trace");
    generate(&job, &trace).unwrap();
    analyze(&trace, &report, Semantics::Corrected).unwrap();
    page(&report, "slow", folder);
    let details = Details::open(&report);
    let metrics = &details.manifest.main_loop.as_ref().unwrap().metrics;
    let late_sender = metrics.iter().position(|metric| metric == "mpi_latesender").unwrap() as i128;
    let series = details.rows("series").unwrap();
    let values = details.rows("series_values").unwrap();
    let value = values.iter().find(|row| row["metric"] == late_sender && row["iteration"] == 33).unwrap();
    let [of_series, of_value] = [&series[32], value].map(|row| |name: &str| details.seconds(row[name]));
    let all = json!({
        "slow": {"begin": of_series("begin"), "end": of_series("end"), "elapsed": of_series("elapsed")},
        "late_sender": {
            "sum": of_value("sum"), "least": of_value("least"), "most": of_value("most"),
            "location": value["location"] as u64,
        },
    });
    fs::write(folder.join("slow.json"), all.to_string()).unwrap();
    let (archive, made) = (directory.path().join("short"), directory.path());
    shorten(&trace, keeping(&archive), made);
    page(&made.join("short.cubex"), "short", folder);
    let numbers: Vec<usize> = kept(&archive).into_iter().map(|(number, _)| number).collect();
    fs::write(folder.join("short.json"), json!({ "numbers": numbers }).to_string()).unwrap();
    page(&shipped("master_worker.6", folder), "crossing", folder);
    page(&shipped("self_and_null.4", folder), "without", folder);
}

/// The page of 4 against 8 ranks, with what `diff` prints for scripts.
pub(super) fn comparisons(folder: &Path) {
    let reports = ["imbalance_chain.4", "imbalance_chain.8"].map(|trace| shipped(trace, folder));
    let [a, b] = reports.each_ref().map(|report| report.to_str().unwrap());
    let out = folder.join("compare.html");
    printed(&["html", "--diff", a, b, "-o", out.to_str().unwrap()]);
    fs::write(folder.join("compare.json"), printed(&["diff", a, b]).to_string()).unwrap();
}
