//! `replay-show` on reports of the analysis: values are those that pycubexr reads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use cubex::Report;
use details::advice::ADVICE;
use replay::Semantics;
use serde_json::Value;
use show::status::Status;

use crate::interop::python;
use crate::support::show::{json, show};
use crate::support::{analyze, archive, archives, fresh, project, run};

/// Exclusive values by metric, call path and location, as pycubexr reads them.
fn values(python: &Path, report: &Path) -> BTreeMap<(String, usize, usize), f64> {
    let mut script = Command::new(python);
    script.env("PYTHONIOENCODING", "utf-8").arg(project("tests/interop/print_values.py")).arg(report);
    let printed = run::run(&mut script);
    printed.expect(0);
    let values = printed.stdout.lines().map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
        [metric, path, location, value] => {
            let key = (metric.to_owned(), path.parse().unwrap(), location.parse().unwrap());
            (key, value.parse().unwrap())
        }
        _ => panic!("{line:?}"),
    });
    values.collect()
}

fn assert_close(ours: f64, theirs: f64, what: &str) {
    // Sums in another order differ in their last digits.
    assert!((ours - theirs).abs() <= 1e-12 * theirs.abs().max(1.0), "{what}: {ours}, pycubexr has {theirs}");
}

/// Checks that `tree` and `ranks` print of these metrics, which are sums, what pycubexr reads.
pub(crate) fn compare(python: &Path, report: &Path, metrics: &[&str]) {
    let values = values(python, report);
    let path = report.to_str().unwrap();
    let tree = json(&["tree", path, "-m", &metrics.join(","), "--min", "0"]);
    let nodes = tree["nodes"].as_array().unwrap();
    let number = |node: &Value, key: &str| node[key].as_u64().map(|number| number as usize);
    let cnodes: BTreeMap<usize, usize> =
        nodes.iter().map(|node| (number(node, "node").unwrap(), number(node, "cnode").unwrap())).collect();
    for metric in metrics {
        let mut exclusive = vec![0.0; nodes.len()];
        let mut locations = BTreeMap::new();
        for ((_, path, location), value) in values.iter().filter(|((name, _, _), _)| name == metric) {
            exclusive[*path] += value;
            *locations.entry(*location).or_insert(0.0) += value;
        }
        // Nodes come before those below them.
        let mut inclusive = exclusive.clone();
        for node in nodes.iter().rev() {
            if let Some(parent) = number(node, "parent") {
                inclusive[cnodes[&parent]] += inclusive[number(node, "cnode").unwrap()];
            }
        }
        for node in nodes {
            let what = format!("{path}: {metric} at {}", node["path"]);
            let cnode = number(node, "cnode").unwrap();
            assert_close(node[format!("{metric}.exclusive")].as_f64().unwrap(), exclusive[cnode], &what);
            assert_close(node[*metric].as_f64().unwrap(), inclusive[cnode], &what);
        }
        let ranks = json(&["ranks", path, "-m", metric]);
        let rows = ranks["rows"].as_array().unwrap();
        assert!(rows.len() >= locations.len(), "{path}: {metric}");
        for row in rows {
            let location = row["number"].as_u64().unwrap() as usize;
            let expected = locations.get(&location).copied().unwrap_or(0.0);
            assert_close(
                row[*metric].as_f64().unwrap(),
                expected,
                &format!("{path}: {metric} of {}", row["name"]),
            );
        }
    }
}

#[test]
fn tree_and_ranks_print_the_values_that_pycubexr_reads() {
    let Some(python) = python() else { return };
    let directory = fresh();
    for experiment in archives() {
        let report = directory.path().join("r.cubex");
        analyze(&experiment, &report, Semantics::Corrected).unwrap();
        let metrics: Vec<String> = cubex::Report::open(&report)
            .unwrap()
            .cube()
            .metrics
            .iter()
            .map(|it| it.unique_name.clone())
            .collect();
        let metrics: Vec<&str> = metrics.iter().map(String::as_str).collect();
        compare(&python, &report, &metrics);
    }
}

/// Makes a report of a script of the golden tests, and returns what `replay-show` prints of it with these arguments.
fn of_golden(name: &str, command: &[&str]) -> Value {
    of_script(&std::fs::read_to_string(project(&format!("tests/golden/{name}.trace"))).unwrap(), command)
}

/// The same of any script.
fn of_script(script: &str, command: &[&str]) -> Value {
    let directory = fresh();
    crate::causes::analyze(script, directory.path());
    let report = directory.path().join("report.cubex");
    let arguments: Vec<&str> = command.iter().copied().chain([report.to_str().unwrap()]).collect();
    json(&arguments)
}

#[test]
fn actions_have_the_metric_and_the_advice_of_their_own_waiting() {
    let expected = [
        ("nonblocking_progress", "mpi_nbcoll_wait_for_progress"),
        ("nonblocking_barrier", "mpi_nbcoll_wait_barrier"),
        ("causes_of_nonblocking_create", "mpi_nbcoll_wait_create"),
        ("create_wait", "mpi_comm_wait_at_create"),
        ("neighbor_wait", "mpi_wait_neighbor"),
        ("causes_of_message_progress", "mpi_p2p_wait_for_progress"),
        ("fence", "mpi_rma_wait_at_fence"),
        ("late_post", "mpi_rma_early_wait"),
        ("lock_contention", "mpi_rma_sync_lock_competition"),
        ("target_progress", "mpi_rma_sync_wait_for_progress"),
        ("file_waits", "mpi_mgmt_file_wait"),
    ];
    for (name, metric) in expected {
        let metrics = metrics_of_actions(&of_golden(name, &[]));
        assert!(metrics.iter().any(|it| it == metric), "{name}: {metrics:?}");
        assert_eq!(json(&["explain", metric])["metric"], metric);
    }
    // Costs of blocking operations and of others are of one class.
    let of_call = |call: &str| {
        metrics_of_actions(&of_script(
            &format!(
                "program prog\n\
                 rank 0\n 0 > MPI_Init ; < ; > solve ; 10 < ; {call} ; < ; > MPI_Finalize ; <\n\
                 rank 1\n 0 > MPI_Init ; < ; > solve ; 50 < ; {call} ; < ; > MPI_Finalize ; <\n"
            ),
            &[],
        ))
    };
    let data = "sent 8 received 8";
    let start = "> MPI_Iallreduce ; istart 1 ; < ; > MPI_Wait ; 50";
    assert_eq!(of_call(&format!("> MPI_Allreduce ; begin ; 50 end allreduce {data}")), ["mpi_wait_nxn"]);
    assert_eq!(of_call(&format!("{start} idone allreduce req 1 {data}")), ["mpi_nbcoll_wait_nxn"]);
    assert_eq!(of_call("> MPI_Barrier ; begin ; 50 end barrier"), ["mpi_barrier_wait"]);
    assert_eq!(of_call(&format!("{start} idone barrier req 1")), ["mpi_nbcoll_wait_barrier"]);
}

/// The metrics of the actions of a first screen.
fn metrics_of_actions(first: &Value) -> Vec<String> {
    let metric = |action: &Value| action["metric"].as_str().unwrap_or("none").to_owned();
    first["actions"].as_array().unwrap().iter().map(metric).collect()
}

#[test]
fn waits_for_nonblocking_operations_are_of_their_kind() {
    let expected: [(&str, &[&str]); 6] = [
        ("nonblocking_barrier", &["mpi_nbcoll_wait_barrier"]),
        ("causes_of_nonblocking_nxn", &["mpi_nbcoll_wait_nxn"]),
        ("nonblocking_scan", &["mpi_nbcoll_wait_scan"]),
        // Rank 0 waits for progress, rank 1 for the last member first: that is of no kind.
        ("nonblocking_progress_soft", &["mpi_nbcoll_wait", "mpi_nbcoll_wait_for_progress"]),
        ("late_post", &["mpi_rma_sync_late_post"]),
        ("late_post_at_access", &["mpi_rma_comm_late_post"]),
    ];
    for (name, metrics) in expected {
        let listed = of_golden(name, &["waits"]);
        let listed: BTreeSet<&str> =
            listed["waits"].as_array().unwrap().iter().map(|wait| wait["metric"].as_str().unwrap()).collect();
        for metric in metrics {
            assert!(listed.contains(metric), "{name}: {listed:?}");
        }
        assert_eq!(listed.contains("mpi_nbcoll_wait"), metrics.contains(&"mpi_nbcoll_wait"), "{name}");
    }
    let all = of_golden("nonblocking_barrier", &["waits", "-m", "mpi_nbcoll_wait"]);
    assert!(!all["waits"].as_array().unwrap().is_empty());
}

#[test]
fn last_line_of_the_analysis_is_a_command_for_the_report() {
    let directory = fresh();
    let report = directory.path().join("it's a $(report).cubex");
    let finished = run::analyze([&archive("barrier.4"), Path::new("-o"), &report]);
    finished.expect(0);
    let command = finished.stdout.lines().last().unwrap().strip_prefix("Look at it: replay-show ").unwrap();
    let mut shell = Command::new("sh");
    let words = run::run(shell.args(["-c", &format!("printf '%s\\n' {command}")]));
    assert_eq!(words.stdout.trim_end_matches('\n'), report.to_str().unwrap());
}

/// What `replay-show` prints for people, on a screen of 96 columns, or its message.
pub(crate) fn printed(arguments: &[&str]) -> Result<String, String> {
    let (status, results, messages) = show(arguments, &[("LANG", "C.UTF-8"), ("COLUMNS", "96")]);
    if status == Status::Done { Ok(results) } else { Err(messages) }
}

#[test]
fn examples_in_the_documentation_are_what_is_printed() {
    const PAGES: [(&str, &str, &str, usize); 2] = [
        ("README.md", include_str!("../README.md"), "target/demo/trace.cubex", 1),
        ("docs/show.md", include_str!("../docs/show.md"), "trace.cubex", 7),
    ];
    let directory = fresh();
    let report = directory.path().join("trace.cubex");
    analyze(&archive("imbalance_chain.4"), &report, Semantics::Corrected).unwrap();
    let path = report.to_str().unwrap();
    let advised = directory.path().join("advised.cubex");
    run::analyze([Path::new("--what-if"), Path::new("-o"), &advised, &archive("imbalance_chain.4")])
        .expect(0);
    let advised = advised.to_str().unwrap();
    for (name, page, shown, least) in PAGES {
        let mut compared = 0;
        for example in page.split("\n    $ replay-show ").skip(1).filter(|it| !it.starts_with("--json")) {
            let (command, rest) = example.split_once('\n').unwrap();
            let lines = rest.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
            let lines: Vec<&str> = lines.map(|line| line.get(4..).unwrap_or("")).collect();
            let file = |word| match word {
                "advised.cubex" => advised,
                word if word == shown => path,
                word => word,
            };
            let arguments: Vec<&str> = command.split(' ').map(file).collect();
            let printed = printed(&arguments).unwrap();
            assert_eq!(printed.trim_end(), lines.join("\n").trim_end(), "{name}: replay-show {command}");
            compared += 1;
        }
        assert!(compared >= least, "{name}: {compared} examples");
    }
}

#[test]
fn advice_is_that_of_the_summary_of_the_analysis() {
    let directory = fresh();
    let mut without = 0;
    for name in ["barrier.4", "nxn.8", "late_sender_nb.3", "self_and_null.4"] {
        let report = directory.path().join(format!("{name}.cubex"));
        let finished = run::analyze([Path::new("--what-if"), Path::new("-o"), &report, &archive(name)]);
        finished.expect(0);
        let path = report.to_str().unwrap();
        let (status, text, messages) = show(&["advice", path], &[("LANG", "C.UTF-8"), ("COLUMNS", "160")]);
        assert_eq!((status, messages.as_str()), (Status::Done, ""), "{name}");
        assert!(finished.stdout.contains(&format!("\n\n{text}\n")), "{name}: {text} in {}", finished.stdout);
        let member = Report::open(&report).unwrap().member(ADVICE).unwrap().unwrap();
        let advice = json(&["advice", path]);
        assert_eq!(advice, serde_json::from_slice::<Value>(&member).unwrap(), "{name}");
        // Each place is a call path of the report.
        let first = json(&[path]);
        let list = first["advice"].as_array().unwrap();
        without += usize::from(list.is_empty());
        for it in list {
            let cnode = it["cnode"].as_u64().unwrap();
            let tree = json(&["tree", path, "--min", "0"]);
            let node = tree["nodes"].as_array().unwrap().iter().find(|node| node["cnode"] == cnode).unwrap();
            assert_eq!(node["path"], it["path"], "{name}");
        }
    }
    assert_eq!(without, 1, "one of them has nothing to advise");
}

#[test]
fn first_screen_says_what_the_summary_of_the_analysis_says() {
    let directory = fresh();
    for name in ["imbalance_chain.4", "comms.7", "nxn.4", "barrier.4"] {
        let report = directory.path().join("r.cubex");
        let summary = analyze(&archive(name), &report, Semantics::Corrected).unwrap().summary.unwrap();
        let overview = json(&[report.to_str().unwrap()]);
        let close = |key: &str, value: f64| {
            let ours = overview[key].as_f64().unwrap();
            assert!((ours - value).abs() <= 0.02 * value, "{name}: {key} is {ours}, not {value}");
        };
        close("run", summary.run);
        close("waiting", summary.waiting);
        let culprit = &summary.causes.culprits[0];
        assert_eq!(overview["actions"][0]["path"], culprit.call_path.as_str(), "{name}");
    }
}
