//! What one side does not know is said to be unknown, and is never 0.

use serde_json::Value;
use show::status::Status;

use super::{Chain, Reports, json};
use crate::support::{Maker, run};

/// The row of a quantity.
fn row<'v>(value: &'v Value, name: &str) -> &'v Value {
    let rows = value["quantities"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} in {value}"))
}

/// A log with lines of these runs.
fn log(reports: &Reports, chains: &[Chain]) -> String {
    let log = reports.path("log.jsonl").into_os_string().into_string().unwrap();
    for chain in chains {
        let report = reports.add("line", chain);
        assert_eq!(run(100, &["history", "add", &log, &report]).status, Status::Done);
    }
    log
}

#[test]
fn values_that_a_log_has_not_kept_are_unknown() {
    let many = Chain { small: 60, ..Chain::default() };
    let reports = Reports::new();
    let log = log(&reports, &[Chain::default(), many.clone()]);
    let b = reports.add("b", &many);
    let value = json(&["diff", "--against", &log, &b, "--last", "1"]);
    let of = |value: &Value, name: &str| {
        let rows = value["calls"].as_array().unwrap().clone();
        rows.into_iter().find(|row| {
            row["metric"] == "comp" && row["path"].as_str().unwrap().ends_with(&format!("/{name}"))
        })
    };
    assert_eq!(of(&value, "small_60").unwrap()["state"], "same");
    assert_eq!(of(&value, "small_1"), None, "{value}");
    // The first line has all of its values, so there it was 0; the second one is not known.
    let value = json(&["diff", "--against", &log, &b]);
    assert_eq!(of(&value, "small_1"), None, "{value}");
    let printed = run(100, &["diff", "--against", &log, &b, "--last", "1"]);
    assert!(printed.results.contains("call paths that the log has kept"), "{}", printed.results);
    assert!(!printed.results.contains("new"), "{}", printed.results);
    assert_eq!(printed.messages, "");
    let value = json(&["diff", "--against", &log, &b, "--unit", "max"]);
    assert_eq!(value["calls"], serde_json::json!([]), "a log has no locations: {value}");
}

#[test]
fn gates_on_values_that_a_log_has_not_kept_pass_or_fail_only_if_these_do_not_matter() {
    let many = Chain { small: 60, ..Chain::default() };
    let reports = Reports::new();
    let log = log(&reports, std::slice::from_ref(&many));
    let b = reports.add("b", &Chain { worker: "xyz", culprits: Some(vec![]), ..many });
    let status = |gate: &str| {
        let printed = run(200, &["diff", "--against", &log, &b, "--strict", "--fail-if", gate]);
        (printed.status, printed.results)
    };
    for gate in ["comp@**/small_15 > +5%", "new(comp) > 10ms"] {
        let (status, text) = status(gate);
        assert_eq!(status, Status::Failed, "{gate}: {text}");
        assert!(text.contains("which the log has kept"), "{gate}: {text}");
    }
    for gate in
        ["comp@**/small_1 > +1s", "new(comp) > 1s", "new(comp@**/MPI_*) > 1ms", "comp@**/small_60 > +5%"]
    {
        let (status, text) = status(gate);
        assert_eq!(status, Status::Done, "{gate}: {text}");
    }
    assert_eq!(status("new(comp) >= 0").0, Status::GateFailed, "whatever is new");
}

#[test]
fn gate_on_new_call_paths_is_evaluated_against_a_log_that_has_all_values() {
    let reports = Reports::new();
    let log = log(&reports, &[Chain::default()]);
    let b = reports.add("b", &Chain { worker: "xyz", culprits: Some(vec![]), ..Chain::default() });
    let status =
        |gate: &str| run(100, &["diff", "--against", &log, &b, "--strict", "--fail-if", gate]).status;
    assert_eq!(status("new(comp) > 10ms"), Status::GateFailed);
    assert_eq!(status("new(comp) > 100ms"), Status::Done);
    assert_eq!(status("new(waiting) > 1ms"), Status::Done);
    let value = json(&["diff", "--against", &log, &b, "--strict"]);
    let new = value["calls"].as_array().unwrap().iter().find(|row| row["match"] == "new").unwrap();
    assert_eq!((&new["metric"], &new["a"]), (&"comp".into(), &0.0.into()));
}

#[test]
fn culprits_of_a_log_have_their_id_and_nothing_else() {
    let reports = Reports::new();
    let log = log(&reports, &[Chain { culprits: Some(vec!["work", "MPI_Barrier"]), ..Chain::default() }]);
    let b = reports.add("b", &Chain::default());
    let printed = run(100, &["diff", "--against", &log, &b]);
    assert!(printed.results.contains("(the log has its id only)"), "{}", printed.results);
    let value = json(&["diff", "--against", &log, &b]);
    let gone = &value["actions"]["gone"][0];
    assert!(gone["id"].is_string() && gone["text"].is_null() && gone["seconds"].is_null(), "{value}");
    assert_eq!(value["a"]["files"][0], log, "a line without labels");
}

#[test]
fn work_before_the_run_is_no_change_of_it() {
    let reports = Reports::new();
    let a = reports.add("a", &Chain { outside: 0.01, ..Chain::default() });
    let b = reports.add("b", &Chain { outside: 0.51, ..Chain::default() });
    let value = json(&["diff", &a, &b]);
    for name in ["run", "work"] {
        assert_eq!(row(&value, name)["state"], "same", "{name}: {value}");
    }
    let outside: Vec<f64> = value["outside"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert!((outside[0] - 0.01).abs() < 1e-9 && (outside[1] - 0.51).abs() < 1e-9, "{outside:?}");
    let printed = run(160, &["diff", &a, &b]);
    assert!(printed.results.contains("maybe outside of the run"), "{}", printed.results);
    assert!(
        printed.results.contains("which the run does not: 0.0100 s in A, 0.510 s in B"),
        "{}",
        printed.results
    );
    let status = |gate: &str| {
        let printed = run(200, &["diff", &a, &b, "--fail-if", gate]);
        (printed.status, printed.results)
    };
    for gate in ["run > +5%", "comp > +5%", "time > +5%", "comp > 30%", "comp@**/MPI_Recv > +5%"] {
        let (status, text) = status(gate);
        assert_eq!(status, Status::Done, "{gate}: {text}");
    }
    let (failed, text) = status("comp@**/main > +5%");
    assert_eq!(failed, Status::Failed, "{text}");
    assert!(text.contains("work before MPI_Init and after MPI_Finalize"), "{text}");
    // Of logs, too.
    let log = log(&reports, &[Chain { outside: 0.01, ..Chain::default() }]);
    let printed = run(200, &["diff", "--against", &log, &b, "--fail-if", "comp > +5%"]);
    assert_eq!(printed.status, Status::Done, "{}", printed.results);
    let printed = run(200, &["diff", "--against", &log, &b, "--fail-if", "comp@**/main > +5%"]);
    assert!(printed.results.contains("work before MPI_Init and after MPI_Finalize"), "the log has kept all");
    let value = json(&["history", "show", &log, "-m", "comp"]);
    assert!((value["trends"][0]["last"].as_f64().unwrap() - 0.042).abs() < 1e-9, "{value}");
    // With everything that was recorded it is a change.
    let printed = run(160, &["diff", &a, &b, "--all"]);
    assert!(printed.results.contains("run: all that was recorded"), "{}", printed.results);
    assert!(!printed.results.contains("outside of the run"), "{}", printed.results);
    let value = json(&["diff", &a, &b, "--all"]);
    assert_eq!(row(&value, "run")["state"], "worse", "{value}");
}

#[test]
fn run_is_said_to_be_another_interval_without_details() {
    let reports = Reports::new();
    let bare = reports.add("bare", &Chain { culprits: None, ..Chain::default() });
    let full = reports.add("full", &Chain::default());
    let words = "run: all but MPI_Init and MPI_Finalize, also what lies before and after them";
    for (a, b, is_said) in [(&bare, &bare, true), (&bare, &full, true), (&full, &full, false)] {
        let printed = run(160, &["diff", a, b]);
        assert_eq!(printed.results.contains(words), is_said, "{}", printed.results);
        let value = json(&["diff", a, b]);
        assert_eq!(value["interval"][0], value["interval"][1], "{value}");
    }
}

/// A profile: time and visits of call paths, and nothing else.
fn profile(reports: &Reports, name: &str, receive: f64) -> String {
    let path = reports.path(&format!("{name}.cubex"));
    let mut maker = Maker::new(4);
    let time = maker.metric("time", None);
    let root = maker.call("patterns", None);
    let main = maker.call("main", Some(root));
    let chain = maker.call("imbalance_chain", Some(main));
    let work = maker.call("work", Some(chain));
    let recv = maker.call("MPI_Recv", Some(chain));
    let region = maker.cube.cnodes[recv.0].region;
    maker.cube.regions[region.0].paradigm = "mpi".into();
    maker.row(time, work, &[0.042; 4]);
    maker.row(time, recv, &[receive; 4]);
    maker.write(&path, &[]);
    path.into_os_string().into_string().unwrap()
}

#[test]
fn profile_without_wait_states_has_none_to_compare() {
    let reports = Reports::new();
    let a = profile(&reports, "profile", 0.126);
    let b = reports.add("b", &Chain::default());
    for (a, b, null) in [(&a, &b, "a"), (&b, &a, "b")] {
        let value = json(&["diff", a, b]);
        for name in ["waiting", "mpi_latesender", "mpi_barrier_wait"] {
            let row = row(&value, name);
            assert!(row[null].is_null() && row["state"].is_null() && row["change"].is_null(), "{row}");
        }
        let communication = row(&value, "communication");
        assert!(communication["a"].is_number() && communication["b"].is_number(), "{communication}");
        assert!(communication["change"].is_null() && communication["state"].is_null(), "{communication}");
        assert_eq!(row(&value, "work")["state"], "same");
        let calls = value["calls"].as_array().unwrap();
        assert!(calls.iter().all(|row| row["metric"] == "time"), "{value}");
        let only = &value["not_compared"][if null == "a" { "only_b" } else { "only_a" }];
        assert!(only.as_array().unwrap().contains(&"mpi_latesender".into()), "{value}");
        for gate in [
            "waiting > +5%",
            "mpi_latesender > +5%",
            "delay > +5%",
            "comp > +5%",
            "coverage < -1pp",
            "actions.new > 0",
        ] {
            let printed = run(160, &["diff", a, b, "--fail-if", gate]);
            assert_eq!(printed.status, Status::Failed, "{gate}: {}", printed.results);
            assert!(printed.results.contains("gate missing"), "{gate}: {}", printed.results);
        }
    }
}

#[test]
fn metrics_of_start_up_are_of_no_run_without_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut maker = Maker::new(2);
    let time = maker.metric("time", None);
    let mpi = maker.metric("mpi", Some(time));
    let start = maker.metric("mpi_init_exit", Some(mpi));
    let finalize = maker.metric("mpi_finalize_wait", Some(start));
    let root = maker.call("prog", None);
    let init = maker.call("MPI_Init", Some(root));
    let work = maker.call("work", Some(root));
    for metric in [time, mpi, start, finalize] {
        maker.row(metric, init, &[3.0, 3.0]);
    }
    maker.row(time, work, &[1.0, 1.0]);
    maker.write(&path, &[]);
    let path = path.to_str().unwrap();
    for gate in
        ["mpi_init_exit > 1s", "mpi_finalize_wait > 1s", "max(mpi_init_exit) > 1s", "mpi_init_exit < 1s"]
    {
        let printed = run(160, &["check", path, "--fail-if", gate]);
        assert_eq!(printed.status, Status::Failed, "{gate}: {}", printed.results);
        assert!(
            printed.results.contains("which are left out: expected --all"),
            "{gate}: {}",
            printed.results
        );
    }
    assert_eq!(
        run(160, &["check", path, "--all", "--fail-if", "mpi_init_exit > 1s"]).status,
        Status::GateFailed
    );
    assert_eq!(run(160, &["check", path, "--all", "--fail-if", "mpi_init_exit > 4s"]).status, Status::Done);
    let log = directory.path().join("log.jsonl");
    let log = log.to_str().unwrap();
    assert_eq!(run(160, &["history", "add", log, path]).status, Status::Done);
    let printed = run(160, &["history", "show", log, "-m", "mpi_init_exit"]);
    assert_eq!(printed.status, Status::Failed, "{}", printed.results);
    let printed = run(200, &["diff", "--against", log, path, "--fail-if", "mpi_init_exit > +5%"]);
    assert_eq!(printed.status, Status::Failed, "{}", printed.results);
}

#[test]
fn gate_that_could_not_be_evaluated_has_no_value_for_openmetrics() {
    let reports = Reports::new();
    let a = reports.add("a", &Chain::default());
    let file = reports.path("metrics.txt");
    for missing in ["pass", "fail"] {
        let gates = ["--fail-if", "nothing > 1s", "--fail-if", "waiting > 1%", "--missing", missing];
        let arguments = [&["check", &a, "--openmetrics", file.to_str().unwrap()], &gates[..]].concat();
        run(100, &arguments);
        let text = std::fs::read_to_string(&file).unwrap();
        let about: Vec<&str> = text.lines().filter(|line| line.contains("nothing")).collect();
        assert_eq!(about, ["replay_gate_missing{gate=\"nothing > 1s\"} 1"], "{text}");
        assert!(text.contains("replay_gate_missing{gate=\"waiting > 1%\"} 0"), "{text}");
    }
}

#[test]
fn program_that_a_report_does_not_name_is_not_available() {
    let directory = tempfile::tempdir().unwrap();
    let header = |name: &str, role: &str| {
        let path = directory.path().join("r.cubex");
        let mut maker = Maker::new(2);
        let time = maker.metric("time", None);
        let root = maker.call(name, None);
        maker.cube.regions[0].role = role.into();
        maker.row(time, root, &[1.0, 1.0]);
        maker.write(&path, &[]);
        let path = path.to_str().unwrap();
        let printed = run(160, &["check", path, "--fail-if", "time > 5s"]).results;
        let line = printed.lines().next().unwrap().replace(path, "");
        (line, json(&["diff", path, path])["a"]["program"].clone())
    };
    let (line, program) = header("/opt/bin/app", "artificial");
    assert!(line.starts_with(": app on 2 ranks"), "{line}");
    assert_eq!(program, "app");
    for (name, role) in [("main", "function"), ("PROGRAM", "artificial")] {
        let (line, program) = header(name, role);
        assert!(line.starts_with(": n/a on 2 ranks"), "{line}");
        assert_eq!(program, Value::Null);
    }
}
