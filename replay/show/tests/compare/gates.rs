//! Gates: both outcomes and status 2 of every form, files, and outputs for CI systems.

use std::path::Path;

use show::status::Status;

use super::{Chain, Reports};
use crate::export::judges::judge;
use crate::support::run;

/// The status of `diff` of four against eight ranks, with one gate and options.
fn diff(gate: &str, options: &[&str]) -> (Status, String) {
    let reports = Reports::new();
    let a = reports.add("a", &Chain::default());
    let eight =
        Chain { culprits: Some(vec!["work", "MPI_Barrier"]), coverage: 0.85, wrong: 2, ..Chain::of_eight() };
    let b = reports.add("b", &eight);
    let printed = run(160, &[&["diff", &a, &b, "--fail-if", gate], options].concat());
    (printed.status, printed.results + &printed.messages)
}

fn check(gate: &str, options: &[&str]) -> (Status, String) {
    let reports = Reports::new();
    let a = reports.add("a", &Chain { coverage: 0.85, wrong: 2, ..Chain::default() });
    let printed = run(160, &[&["check", &a, "--fail-if", gate], options].concat());
    (printed.status, printed.results + &printed.messages)
}

#[test]
fn gates_of_two_sides_fail_and_pass() {
    for (fails, passes) in [
        ("mpi_latesender > 1.1x", "mpi_latesender > 2x"),
        ("comp < 0.9x", "comp < 0.5x"),
        ("run > +5%", "run > +50%"),
        ("comp <= -10%", "comp <= -90%"),
        ("waiting > +2pp", "waiting > +20pp"),
        ("waiting@**/MPI_Barrier > +5pp", "waiting@**/MPI_Barrier > +50pp"),
        ("waiting@**/imbalance_chain/** > 20%", "waiting@**/imbalance_chain/** > 95%"),
        ("mpi_latesender > +10ms", "mpi_latesender > +1s"),
        ("visits > +1", "mean(visits) > +1000"),
        ("total(visits) > +1", "total(visits) > +1000"),
        ("max(waiting) >= +50 ms", "max(waiting) >= +500 ms"),
        ("p95(waiting) > +50ms", "p95(waiting) > +500ms"),
        ("actions.new > 0", "actions.new > 1"),
        ("findings.wrong > +1", "findings.wrong > +3"),
        ("coverage < -10pp", "coverage < -50pp"),
        ("total(run) > +1s", "total(run) > +10s"),
        ("max(run) > 1.2x", "max(run) > 1.5x"),
    ] {
        let fails_unclear = if fails.contains("visits") { "--strict" } else { "--fail-on-unclear" };
        let (status, text) = diff(fails, &[fails_unclear]);
        if fails == "visits > +1" {
            // The mean of visits has not changed.
            assert_eq!(status, Status::Done, "{fails}: {text}");
        } else {
            assert_eq!(status, Status::GateFailed, "{fails}: {text}");
        }
        let (status, text) = diff(passes, &[]);
        assert_eq!(status, Status::Done, "{passes}: {text}");
    }
}

#[test]
fn waiting_that_was_not_analysed_cannot_be_judged() {
    let reports = Reports::new();
    let a = reports.add("a", &Chain::default());
    let b = reports.add("b", &Chain { late: 0.0, barrier: 0.02, coverage: 0.7, ..Chain::default() });
    for gate in ["waiting > +2pp", "mpi_latesender > +5%", "delay > +10ms", "waiting@**/MPI_Recv > 20%"] {
        let printed = run(200, &["diff", &a, &b, "--fail-if", gate]);
        assert_eq!(printed.status, Status::Failed, "{gate}: {}", printed.results);
        assert!(printed.results.contains("covers 70 % of the time"), "{gate}: {}", printed.results);
        let printed = run(100, &["diff", &a, &b, "--fail-if", gate, "--missing", "pass"]);
        assert_eq!(printed.status, Status::Done, "{gate}");
    }
    assert_eq!(run(100, &["diff", &a, &b, "--fail-if", "run > +5%"]).status, Status::Done);
    assert_eq!(run(100, &["check", &b, "--fail-if", "waiting > 50%"]).status, Status::Failed);
    assert_eq!(run(100, &["check", &b, "--fail-if", "waiting < 1%"]).status, Status::Failed);
    let printed = run(100, &["check", &b, "--fail-if", "waiting > 10%"]);
    assert_eq!(printed.status, Status::GateFailed, "more waiting is too much, too: {}", printed.results);
}

#[test]
fn check_says_what_its_numbers_are() {
    let reports = Reports::new();
    let bare = reports.add("bare", &Chain { culprits: None, ..Chain::default() });
    let full = reports.add("full", &Chain::default());
    let form = "metrics of gates: mean per location";
    let check = |report: &str, gate: &str| run(100, &["check", report, "--fail-if", gate]).results;
    assert!(check(&full, "waiting > 1%").contains(form));
    assert!(!check(&full, "findings.wrong > 0").contains(form));
    let remark = "without details: by metrics alone";
    assert!(check(&bare, "waiting > 1%").contains(remark));
    assert!(!check(&full, "waiting > 1%").contains(remark));
}

#[test]
fn gates_of_one_side_fail_and_pass() {
    for (fails, passes) in [
        ("waiting > 20%", "waiting > 80%"),
        ("max(waiting@**/MPI_Barrier) > 13%", "max(waiting@**/MPI_Barrier) > 15%"),
        ("total(waiting) > 70%", "total(waiting) > 80%"),
        ("run > 100ms", "run > 0.2s"),
        ("delay@**/work > 0.1s", "delay@**/MPI_Recv > 0.1s"),
        ("findings.wrong > 0", "findings.data_loss > 0"),
        ("coverage < 90%", "coverage < 50%"),
        ("imbalance(comp) > 1.01", "imbalance(comp) > 1.5"),
        ("total(visits) >= 48", "total(visits) > 48"),
        ("p95(comp) > 42ms", "p95(comp) > 43ms"),
        ("waiting > 0", "waiting < 0"),
    ] {
        let (status, text) = check(fails, &[]);
        assert_eq!(status, Status::GateFailed, "{fails}: {text}");
        let (status, text) = check(passes, &[]);
        assert_eq!(status, Status::Done, "{passes}: {text}");
    }
}

#[test]
fn what_cannot_be_evaluated_is_status_2() {
    for gate in [
        "mpi_nothing > 1.1x",
        "mpi_nothing > +5%",
        "mpi_nothing > +2pp",
        "mpi_nothing > 20%",
        "mpi_nothing > 1s",
        "mpi_nothing > +1s",
        "mpi_nothing > 3",
        "max(mpi_nothing) > 3",
        "imbalance(mpi_nothing) > 3",
        "waiting@**/nowhere > 20%",
        "waiting@**/nowhere > +5%",
        "efficiency.transfer < 90%",
    ] {
        let (status, text) = diff(gate, &[]);
        assert_eq!(status, Status::Failed, "{gate}: {text}");
        assert!(text.contains("gate missing"), "{gate}: {text}");
        let (status, text) = diff(gate, &["--missing", "pass"]);
        assert_eq!(status, Status::Done, "{gate}: {text}");
    }
    for (gate, words) in [
        ("waiting > 3", "expected seconds"),
        ("visits > 3s", "without unit"),
        ("visits > 3%", "without unit"),
    ] {
        let (status, text) = diff(gate, &["--missing", "pass"]);
        assert_eq!(status, Status::Failed, "{gate}");
        assert!(text.contains(words), "{gate}: {text}");
    }
    for gate in
        ["run > +5%", "run > 1.1x", "waiting > +1pp", "visits > +1", "new(time) > 1s", "actions.new > 0"]
    {
        let (status, text) = check(gate, &["--missing", "pass"]);
        assert_eq!(status, Status::Failed, "{gate}");
        assert!(text.contains("use diff"), "{gate}: {text}");
    }
}

#[test]
fn foreign_reports_have_no_coverage_findings_and_culprits() {
    let reports = Reports::new();
    let a = reports.add("a", &Chain { culprits: None, ..Chain::default() });
    for gate in ["coverage < 80%", "findings.wrong > 0", "actions.new > 0"] {
        let arguments = ["diff", &a, &a, "--fail-if", gate];
        let printed = run(100, &arguments);
        assert_eq!(printed.status, Status::Failed, "{gate}: {}", printed.results);
        assert_eq!(
            run(100, &[&arguments[..], &["--missing", "pass"]].concat()).status,
            Status::Done,
            "{gate}"
        );
    }
}

#[test]
fn new_call_paths_have_gates() {
    let reports = Reports::new();
    let a = reports.add("a", &Chain { worker: "abc", culprits: None, ..Chain::default() });
    let b = reports.add("b", &Chain { worker: "xyz", culprits: None, ..Chain::default() });
    let status = |gate: &str| run(100, &["diff", &a, &b, "--fail-if", gate]).status;
    assert_eq!(status("new(time) > 20%"), Status::GateFailed);
    assert_eq!(status("new(time) > 30%"), Status::Done);
    assert_eq!(status("new(time@**/xyz) > 10ms"), Status::GateFailed);
    assert_eq!(status("new(time@**/MPI_*) > 10ms"), Status::Done);
    assert_eq!(status("new(time@**/nowhere) > 10ms"), Status::Failed);
}

#[test]
fn ratios_to_nothing_fail_above_the_floor() {
    let reports = Reports::new();
    let a = reports.add("a", &Chain { late: 0.0, culprits: None, ..Chain::default() });
    let b = |late: f64| reports.add("b", &Chain { late, culprits: None, ..Chain::default() });
    let status = |b: &str, gate: &str| run(100, &["diff", &a, b, "--fail-if", gate]).status;
    let little = b(0.000_01);
    assert_eq!(status(&little, "mpi_latesender > 1.1x"), Status::Done);
    assert_eq!(status(&little, "mpi_latesender > +5%"), Status::Done);
    let much = b(0.1);
    assert_eq!(status(&much, "mpi_latesender > 1.1x"), Status::GateFailed);
    assert_eq!(status(&much, "mpi_latesender > +5%"), Status::GateFailed);
    let floor = ["diff", &a, &much, "--floor", "200ms", "--fail-if", "mpi_latesender > 1.1x"];
    assert_eq!(run(100, &floor).status, Status::Done);
}

#[test]
fn wrong_gates_are_shown_with_a_caret() {
    let printed = run(80, &["check", "none.cubex", "--fail-if", "waiting > 20 parsecs"]);
    assert_eq!(printed.status, Status::Failed);
    insta::assert_snapshot!("caret", printed.messages);
}

#[test]
fn gates_are_read_from_files() {
    let reports = Reports::new();
    let a = reports.add("a", &Chain::default());
    let file = reports.path("gates");
    std::fs::write(&file, "# limits\n\nwaiting > 90%\n  run > 1s  \n").unwrap();
    let arguments = ["check", &a, "--gates", file.to_str().unwrap()];
    assert_eq!(run(100, &arguments).status, Status::Done);
    assert_eq!(
        run(100, &[&arguments[..], &["--fail-if", "waiting > 1%"]].concat()).status,
        Status::GateFailed
    );
    std::fs::write(&file, "# limits\nwaiting >\n").unwrap();
    let printed = run(100, &arguments);
    assert_eq!(printed.status, Status::Failed);
    assert!(printed.messages.contains("gates: line 2: gate \"waiting >\""), "{}", printed.messages);
    assert_eq!(run(100, &["check", &a]).status, Status::Failed, "no gates");
    assert_eq!(run(100, &["check", &a, "--gates", "/nowhere"]).status, Status::Failed);
}

#[test]
fn verdicts_are_written_for_ci_systems() {
    let reports = Reports::new();
    let a = reports.add("a", &Chain::default());
    let b = reports.add("b", &Chain { culprits: Some(vec!["work", "MPI_Barrier"]), ..Chain::of_eight() });
    let file = |name: &str| reports.path(name).into_os_string().into_string().unwrap();
    let (junit, markdown, metrics) = (file("junit.xml"), file("summary.md"), file("metrics.txt"));
    let printed = run(
        120,
        &[
            "diff",
            &a,
            &b,
            "--fail-if",
            "run > +5%",
            "--fail-if",
            "waiting > 95%",
            "--junit",
            &junit,
            "--markdown",
            &markdown,
            "--openmetrics",
            &metrics,
            "--github",
        ],
    );
    assert_eq!(printed.status, Status::GateFailed, "{}", printed.messages);
    let plain = |text: &str| text.replace(reports.path("").to_str().unwrap(), "");
    insta::assert_snapshot!("junit", plain(&reports.text("junit.xml")));
    insta::assert_snapshot!("markdown", plain(&reports.text("summary.md")));
    insta::assert_snapshot!("openmetrics", plain(&reports.text("metrics.txt")));
    let annotations: Vec<&str> = printed.results.lines().filter(|line| line.starts_with("::")).collect();
    insta::assert_snapshot!("github", plain(&annotations.join("\n")));
}

/// Checks files by the schema of JUnit XML, `junit.xsd`.
pub(super) fn check_junit(files: &[&Path]) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compare/junit.xsd");
    judge("data", "xmlschema", "junit.py", &[&[schema.as_path()], files].concat());
}

#[test]
fn junit_of_every_outcome_follows_its_schema() {
    let reports = Reports::new();
    let a = reports.add("a", &Chain::default());
    let b = reports.add("b", &Chain::of_eight());
    let (one, two) = (reports.path("one.xml"), reports.path("two.xml"));
    let gates = ["run > +5%", "waiting > 95%", "missing > 1s"].map(|gate| ["--fail-if", gate]).concat();
    let arguments = [&["diff", &a, &b], &gates[..], &["--junit", one.to_str().unwrap()]].concat();
    assert_eq!(run(80, &arguments).status, Status::Failed);
    let arguments = ["check", &a, "--fail-if", "missing > 1s", "--missing", "pass", "--junit"];
    assert_eq!(run(80, &[&arguments[..], &[two.to_str().unwrap()]].concat()).status, Status::Done);
    let outcomes = ["<failure ", "<system-out>", "<error ", "<skipped "];
    let text = reports.text("one.xml") + &reports.text("two.xml");
    assert!(outcomes.iter().all(|outcome| text.contains(outcome)), "{text}");
    check_junit(&[&one, &two]);
}

#[test]
fn what_does_not_add_up_is_not_said_to_be_a_mean() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut maker = crate::support::Maker::new(2);
    let time = maker.metric("time", None);
    let least = maker.metric("least", None);
    maker.cube.metrics[least.0].data_type = cubex::DataType::MinDouble;
    let main = maker.call("main", None);
    maker.row(time, main, &[1.0, 1.0]);
    maker.row(least, main, &[3.0, 2.0]);
    maker.write(&path, &[]);
    let path = path.to_str().unwrap();
    let printed = run(200, &["check", path, "--fail-if", "least > 5s"]);
    assert!(printed.results.contains("metrics of gates: over all locations"), "{}", printed.results);
    assert!(!printed.results.contains("mean per location"), "{}", printed.results);
    let printed = run(200, &["check", path, "--fail-if", "least > 5s", "--fail-if", "time > 5s"]);
    assert!(
        printed.results.contains("what does not add up, such as ratios and minima"),
        "{}",
        printed.results
    );
}
