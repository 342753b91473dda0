//! `diff`: tables, matching, several runs, scaling.

use proptest::prelude::*;
use serde_json::Value;
use show::status::Status;

use super::{Chain, Reports, json};
use crate::support::run;

fn two(one: &Chain, other: &Chain) -> (Reports, String, String) {
    let reports = Reports::new();
    let (a, b) = (reports.add("a.cubex", one), reports.add("b.cubex", other));
    (reports, a, b)
}

#[test]
fn four_and_eight_ranks_as_text() {
    let (reports, a, b) = two(&Chain::default(), &Chain::of_eight());
    for width in [80, 160] {
        let printed = run(width, &["diff", &a, &b]);
        assert_eq!((printed.status, printed.messages.as_str()), (Status::Done, ""));
        insta::assert_snapshot!(format!("ranks_{width}"), reports.plain(&printed));
        let arguments =
            ["diff", &a, &b, "--scaling", "strong", "--fail-if", "run > +5%", "--fail-if", "actions.new > 0"];
        let printed = run(width, &arguments);
        assert_eq!(printed.status, Status::GateFailed, "{}", printed.messages);
        insta::assert_snapshot!(format!("scaling_{width}"), reports.plain(&printed));
    }
}

#[test]
fn a_report_with_itself_is_the_same() {
    let (_reports, a, b) = two(&Chain::default(), &Chain::default());
    let value = json(&["diff", &a, &b]);
    let states = |table: &str| {
        value[table].as_array().unwrap().iter().map(|row| row["state"].clone()).collect::<Vec<_>>()
    };
    assert!(states("quantities").iter().chain(&states("calls")).all(|state| state == "same"), "{value}");
    assert_eq!(value["actions"], serde_json::json!({"new": [], "gone": []}));
    assert_eq!((&value["matched"]["a"], &value["matched"]["time"]), (&8.into(), &1.0.into()));
    let printed = run(100, &["diff", &a, &b, "--fail-if", "run > -50%", "--fail-on-unclear"]);
    assert_eq!(printed.status, Status::Done, "nothing changed: {}", printed.results);
    assert!(printed.results.contains("no changes by call path above noise"), "{}", printed.results);
}

/// A row of a table: its key, A, B, and the state.
type Row = (String, Value, Value, Value);

/// The rows of a table. Call paths are known by the names that they have on either side, whichever it is.
fn rows(value: &Value, table: &str) -> Vec<Row> {
    let key = |row: &Value| {
        let mut names = [&row["path"], if row["path_a"].is_null() { &row["path"] } else { &row["path_a"] }]
            .map(Value::to_string);
        names.sort();
        format!("{}{}{names:?}", row["name"], row["metric"])
    };
    let rows = value[table].as_array().unwrap().iter();
    let mut rows: Vec<Row> =
        rows.map(|row| (key(row), row["a"].clone(), row["b"].clone(), row["state"].clone())).collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    rows
}

/// The same rows for the other order of sides.
fn mirrored(rows: Vec<Row>) -> Vec<Row> {
    let swap = |state: Value| match state.as_str() {
        Some("worse") => "better".into(),
        Some("better") => "worse".into(),
        _ => state,
    };
    rows.into_iter().map(|(key, a, b, state)| (key, b, a, swap(state))).collect()
}

fn check_mirror(a: &str, b: &str, options: &[&str]) {
    let one = json(&[&["diff", a, b], options].concat());
    let other = json(&[&["diff", b, a], options].concat());
    for table in ["quantities", "calls"] {
        assert_eq!(rows(&one, table), mirrored(rows(&other, table)));
    }
    assert_eq!(
        (&one["actions"]["new"], &one["actions"]["gone"]),
        (&other["actions"]["gone"], &other["actions"]["new"])
    );
    assert_eq!(
        (&one["not_compared"]["only_a"], &one["matched"]["of_a"]),
        (&other["not_compared"]["only_b"], &other["matched"]["of_b"])
    );
}

#[test]
fn exchanged_sides_give_the_mirrored_result() {
    let added = Chain { culprits: Some(vec!["work", "MPI_Barrier"]), has_delay: false, ..Chain::of_eight() };
    let (_reports, a, b) = two(&Chain::default(), &added);
    for options in [
        &[][..],
        &["--unit", "total"],
        &["--unit", "share"],
        &["--unit", "visit"],
        &["--unit", "max"],
        &["--all"],
        &["--strict"],
        &["--by", "region"],
    ] {
        check_mirror(&a, &b, options);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_reports_mirror_and_equal_themselves(
        works in prop::array::uniform2(0.0..0.1_f64),
        lates in prop::array::uniform2(0.0..0.1_f64),
        ranks in prop::array::uniform2(1..5_u64),
        delays in prop::array::uniform2(any::<bool>()),
        workers in prop::array::uniform2(prop::sample::select(vec!["work", "worker_loop", "worker_loops"])),
    ) {
        let chain = |at: usize| Chain {
            ranks: ranks[at], work: works[at], late: lates[at], has_delay: delays[at], worker: workers[at],
            culprits: Some(vec![workers[at]]), ..Chain::default()
        };
        let (_reports, a, b) = two(&chain(0), &chain(1));
        check_mirror(&a, &b, &[]);
        let value = json(&["diff", &a, &a]);
        let rows = ["quantities", "calls"].into_iter().flat_map(|table| value[table].as_array().unwrap());
        for row in rows {
            prop_assert_eq!(&row["state"], "same");
        }
    }
}

#[test]
fn values_have_the_measure_that_is_asked_for() {
    let (_reports, a, b) = two(&Chain::default(), &Chain::of_eight());
    let waiting = |unit: &str| {
        let value = json(&["diff", &a, &b, "--unit", unit]);
        let rows = value["quantities"].as_array().unwrap().iter();
        let row = rows.clone().find(|row| row["name"] == "waiting").unwrap_or_else(|| panic!("{value}"));
        (row["a"].as_f64().unwrap(), row["b"].as_f64().unwrap())
    };
    let near = |found: (f64, f64), expected: (f64, f64)| {
        assert!(
            (found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9,
            "{found:?} {expected:?}"
        );
    };
    near(waiting("mean"), (0.126, 0.200));
    near(waiting("total"), (4.0 * 0.126, 8.0 * 0.200));
    near(waiting("share"), (100.0 * 0.126 / 0.1681, 100.0 * 0.2 / 0.2281));
    near(waiting("max"), (0.126 * 1.015, 0.200 * 1.035));
    near(waiting("visit"), (0.126 / 12.0, 0.200 / 12.0));
}

#[test]
fn differences_of_shares_are_percentage_points() {
    let (_reports, a, b) = two(&Chain::default(), &Chain::of_eight());
    let printed = run(160, &["diff", &a, &b, "--unit", "share"]);
    let calls = printed.results.split("largest changes by call path").nth(1).unwrap();
    let changes: Vec<&str> = calls.lines().skip(1).take(3).collect();
    // 0.028 s of 0.2281 s are 12.3 %, and 0.042 s of 0.1681 s are 25.0 %.
    assert!(changes[0].contains("−12.7 pp  comp"), "{calls}");
    assert!(changes.iter().all(|line| line.contains(" pp ") && !line.contains('%')), "{calls}");
}

#[test]
fn what_one_side_did_not_measure_is_named_and_never_0() {
    let (_reports, a, b) =
        two(&Chain::default(), &Chain { has_delay: false, culprits: None, ..Chain::default() });
    let printed = run(160, &["diff", &a, &b]);
    assert!(printed.results.contains("not compared, as only A has them: delay"), "{}", printed.results);
    assert!(printed.results.contains("culprits are not compared"), "{}", printed.results);
    assert!(printed.messages.contains("b.cubex: no details in this report"), "{}", printed.messages);
    let printed = run(160, &["diff", &a, &b, "--fail-if", "delay > +5%"]);
    assert_eq!(printed.status, Status::Failed);
    assert!(printed.results.contains("no metric delay"), "{}", printed.results);
    let printed = run(160, &["diff", &a, &b, "--fail-if", "actions.new > 0", "--missing", "pass"]);
    assert_eq!(printed.status, Status::Done);
}

#[test]
fn waiting_that_was_not_analysed_is_not_compared() {
    let unknown = Chain { late: 0.0, barrier: 0.0, coverage: 0.0, ..Chain::default() };
    let (_reports, a, b) = two(&Chain::default(), &unknown);
    let printed = run(160, &["diff", &a, &b]);
    let warning =
        "the analysis covers 100\u{a0}% of the time in MPI in A, and 0\u{a0}% in B: waiting is not compared";
    assert!(printed.messages.contains(warning), "{}", printed.messages);
    assert!(printed.results.contains("too little was analysed"), "{}", printed.results);
    assert!(!printed.results.contains("mpi_latesender"), "{}", printed.results);
    let value = json(&["diff", &a, &b]);
    let rows = value["quantities"].as_array().unwrap();
    for name in ["waiting", "mpi_latesender", "mpi_barrier_wait"] {
        let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{value}"));
        assert_eq!((&row["b"], &row["change"], &row["state"]), (&Value::Null, &Value::Null, &Value::Null));
    }
    assert_eq!((&value["a"]["coverage"], &value["b"]["coverage"]), (&1.0.into(), &0.0.into()));
    assert_eq!(run(160, &["diff", &a, &a]).messages, "", "no warning where all was analysed");
}

#[test]
fn data_that_one_side_lost_gives_a_warning() {
    let (_reports, a, b) = two(&Chain::default(), &Chain { lost: 3, ..Chain::default() });
    let warning = |one: &str, other: &str| run(100, &["diff", one, other]).messages;
    assert!(warning(&a, &b).contains("data of B were lost (3 times), and none of A"), "{}", warning(&a, &b));
    assert!(warning(&b, &a).contains("data of A were lost (3 times), and none of B"));
    assert_eq!(warning(&b, &b), "");
}

#[test]
fn renamed_functions_are_compared() {
    let (reports, a, b) = two(
        &Chain { worker: "work_on_block", ..Chain { culprits: None, ..Chain::default() } },
        &Chain { worker: "work_on_blocks", work: 0.084, culprits: None, ..Chain::default() },
    );
    let value = json(&["diff", &a, &b]);
    let change = &value["calls"][0];
    assert_eq!((&change["metric"], &change["match"]), (&"comp".into(), &"renamed".into()));
    let strict = json(&["diff", &a, &b, "--strict"]);
    let matches: Vec<&str> =
        strict["calls"].as_array().unwrap().iter().filter_map(|row| row["match"].as_str()).collect();
    assert!(matches.contains(&"new") && matches.contains(&"gone"), "{strict}");
    let map = reports.path("map");
    std::fs::write(&map, "**/work_on_block = **/work_on_blocks\n").unwrap();
    let mapped = json(&["diff", &a, &b, "--strict", "--map", map.to_str().unwrap()]);
    assert_eq!(mapped["calls"][0]["match"], "mapped");
    std::fs::write(&map, "nothing\n").unwrap();
    let printed = run(100, &["diff", &a, &b, "--map", map.to_str().unwrap()]);
    assert_eq!(printed.status, Status::Failed);
    assert!(
        printed.messages.contains("line 1") && printed.messages.contains("expected two paths"),
        "{}",
        printed.messages
    );
}

#[test]
fn a_program_that_does_not_match_gives_a_warning() {
    let (_reports, a, b) = two(
        &Chain { worker: "abc", culprits: None, ..Chain::default() },
        &Chain { worker: "xyz", culprits: None, ..Chain::default() },
    );
    let printed = run(100, &["diff", &a, &b]);
    assert_eq!(printed.status, Status::Done);
    assert!(printed.messages.contains("of the time is at call paths that match"), "{}", printed.messages);
}

#[test]
fn several_runs_are_samples() {
    let reports = Reports::new();
    let add =
        |name: &str, late: f64, ranks: u64| reports.add(name, &Chain { late, ranks, ..Chain::default() });
    let a: Vec<String> = (0..5).map(|at| add(&format!("a{at}"), 0.103 + 0.001 * f64::from(at), 4)).collect();
    let b: Vec<String> = (0..5).map(|at| add(&format!("b{at}"), 0.123 + 0.001 * f64::from(at), 4)).collect();
    let noisy: Vec<String> =
        (0..3).map(|at| add(&format!("c{at}"), 0.085 + 0.03 * f64::from(at), 4)).collect();
    let arguments = |a: &[String], b: &[String], more: &[&str]| -> Vec<String> {
        let options = more.iter().map(|&it| it.to_owned());
        let sides = a.iter().cloned().chain(["--".to_owned()]).chain(b.iter().cloned());
        ["diff".to_owned()].into_iter().chain(options).chain(sides).collect()
    };
    let status = |arguments: Vec<String>| run(100, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let gate = ["--fail-if", "mpi_latesender > +5%"];
    assert_eq!(status(arguments(&a, &b, &gate)).status, Status::GateFailed);
    assert_eq!(status(arguments(&b, &a, &gate)).status, Status::Done);
    let printed = status(arguments(&a, &noisy, &gate));
    assert_eq!(printed.status, Status::Done);
    assert!(printed.results.contains("gate unclear"), "{}", printed.results);
    let strict = [&gate[..], &["--fail-on-unclear"]].concat();
    assert_eq!(status(arguments(&a, &noisy, &strict)).status, Status::GateFailed);
    // Runs of one side must be alike.
    let other = add("eight", 0.1, 8);
    let printed = status(arguments(&[a[0].clone(), other], &b, &[]));
    assert_eq!(printed.status, Status::Failed);
    assert!(printed.messages.contains("all runs of one side must be alike"), "{}", printed.messages);
}

#[test]
fn locations_are_compared_by_number() {
    let (reports, a, b) = two(&Chain::default(), &Chain { late: 0.2, ..Chain::default() });
    let printed = run(100, &["diff", &a, &b, "--by", "location"]);
    assert_eq!(printed.status, Status::Done, "{}", printed.messages);
    insta::assert_snapshot!("locations", reports.plain(&printed));
    let other = reports.add("eight", &Chain::of_eight());
    let printed = run(100, &["diff", &a, &other, "--by", "location"]);
    assert_eq!(printed.status, Status::Failed);
    assert!(printed.messages.contains("expected as many ranks and threads"), "{}", printed.messages);
}

#[test]
fn wrong_numbers_of_reports_are_refused() {
    let (_reports, a, _) = two(&Chain::default(), &Chain::default());
    for arguments in [
        &["diff", a.as_str()][..],
        &["diff", &a, &a, &a],
        &["diff", &a, "--", &a, "--strict"],
        &["diff", &a, &a, "--against", "log"],
    ] {
        let printed = run(100, arguments);
        assert_eq!(printed.status, Status::Failed, "{arguments:?}");
        assert!(!printed.messages.is_empty());
    }
}

#[test]
fn the_run_contains_the_time_of_idle_threads() {
    let chain = Chain { idle: Some(0.2), ..Chain::default() };
    let (_reports, a, b) = two(&chain, &chain);
    let value = json(&["diff", &a, &b]);
    let rows = value["quantities"].as_array().unwrap();
    let seconds = |row: &Value| row["a"].as_f64().unwrap();
    let roles = ["work", "waiting", "communication", "threads"];
    let parts: f64 =
        rows.iter().filter(|row| roles.contains(&row["name"].as_str().unwrap())).map(seconds).sum();
    assert_eq!(rows[0]["name"], "run");
    assert!((parts - seconds(&rows[0])).abs() < 1e-9, "{value}");
}

#[test]
fn class_that_one_side_does_not_measure_is_unknown() {
    let idle = Chain { idle: Some(0.2), ..Chain::default() };
    let (_reports, a, b) = two(&Chain::default(), &idle);
    let value = json(&["diff", &a, &b]);
    let row = value["quantities"].as_array().unwrap().iter().find(|row| row["name"] == "threads").unwrap();
    assert_eq!((&row["a"], &row["state"]), (&Value::Null, &Value::Null), "{row}");
    let printed = run(120, &["diff", &a, &b, "--fail-if", "omp_idle_threads > +5%"]);
    assert!(printed.results.contains("one side did not measure it"), "{}", printed.results);
    assert_eq!(printed.status, Status::Failed, "{}", printed.results);
    // The same of a log.
    let log = _reports.path("log.jsonl");
    let log = log.to_str().unwrap();
    assert_eq!(run(120, &["history", "add", log, &a]).status, Status::Done);
    let value = json(&["diff", "--against", log, &b]);
    let row = value["quantities"].as_array().unwrap().iter().find(|row| row["name"] == "threads").unwrap();
    assert_eq!((&row["a"], &row["state"]), (&Value::Null, &Value::Null), "{row}");
    // A class that is measured and 0 is 0.
    let none = _reports.add("none.cubex", &Chain { idle: Some(0.0), ..Chain::default() });
    let value = json(&["diff", &none, &b]);
    let row = value["quantities"].as_array().unwrap().iter().find(|row| row["name"] == "threads").unwrap();
    assert_eq!((&row["a"], &row["state"]), (&0.0.into(), &"worse".into()), "{row}");
}

#[test]
fn means_are_over_locations_that_have_events() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lost.cubex");
    let mut maker = crate::support::Maker::new(4);
    let time = maker.metric("time", None);
    let work = maker.call("work", None);
    maker.row(time, work, &[1.0, 1.0, 1.0, 0.0]);
    maker.write(&path, &[]);
    let path = path.to_str().unwrap();
    let value = json(&["check", path, "--fail-if", "time > 0.5s", "--fail-if", "imbalance(time) > 1.1"]);
    assert_eq!((&value["gates"][0]["b"], &value["gates"][1]["b"]), (&1.0.into(), &1.0.into()), "{value}");
    let value = json(&["diff", path, path, "--by", "location"]);
    assert_eq!(value["locations"].as_array().unwrap().len(), 3, "{value}");
}

#[test]
fn unchanged_call_paths_are_said_with_what_was_compared() {
    let little = Chain { coverage: 0.5, ..Chain::default() };
    // Also where nothing was found to wait.
    for chain in [&little, &Chain { late: 0.0, barrier: 0.0, ..little.clone() }] {
        let (_reports, a, b) = two(chain, chain);
        let printed = run(200, &["diff", &a, &b]);
        let said = "no changes by call path above noise in comp; waiting in MPI is not compared, as too little was analysed";
        assert!(printed.results.contains(said), "{}", printed.results);
    }
}
