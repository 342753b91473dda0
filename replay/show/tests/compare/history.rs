//! `history`, and `diff --against` one.

use show::status::Status;

use super::{Chain, Reports, json};
use crate::support::run;

/// A log of runs with so much waiting.
fn log(reports: &Reports, lates: &[f64]) -> String {
    let log = reports.path("log.jsonl").into_os_string().into_string().unwrap();
    for (at, &late) in lates.iter().enumerate() {
        let report = reports.add("run", &Chain { late, ..Chain::default() });
        let printed = run(100, &["history", "add", &log, &report, "--label", &format!("commit={at}")]);
        assert_eq!((printed.status, printed.results.as_str()), (Status::Done, ""), "{}", printed.messages);
    }
    log
}

#[test]
fn trends_show_where_something_changed() {
    let reports = Reports::new();
    let lates: Vec<f64> =
        (0..14).map(|at| if at < 11 { 0.1 + 0.001 * f64::from(at % 3) } else { 0.15 }).collect();
    let log = log(&reports, &lates);
    let printed = run(120, &["history", "show", &log]);
    assert_eq!(printed.status, Status::Done, "{}", printed.messages);
    insta::assert_snapshot!("history", reports.plain(&printed));
    let value = json(&["history", "show", &log, "-m", "mpi_latesender"]);
    assert_eq!(value["trends"][0]["changes"][0]["labels"]["commit"], "11");
    assert_eq!(value["trends"][0]["values"].as_array().unwrap().len(), 14);
    let printed = run(100, &["history", "show", &log, "-m", "nothing"]);
    assert_eq!(printed.status, Status::Failed);
}

#[test]
fn reports_are_compared_with_the_last_lines() {
    let reports = Reports::new();
    let log = log(&reports, &[0.5, 0.101, 0.102, 0.103, 0.104, 0.105]);
    let same = reports.add("same", &Chain::default());
    let worse = reports.add("worse", &Chain { late: 0.15, ..Chain::default() });
    let gate = [
        "--fail-if",
        "mpi_latesender > +5%",
        "--fail-if",
        "actions.new > 0",
        "--fail-if",
        "waiting@**/MPI_Recv > +5pp",
    ];
    let status = |b: &str, last: &str| {
        run(100, &[&["diff", b, "--against", &log, "--last", last], &gate[..]].concat())
    };
    assert_eq!(status(&same, "5").status, Status::Done);
    let printed = status(&worse, "5");
    assert_eq!(printed.status, Status::GateFailed, "{}{}", printed.results, printed.messages);
    assert!(
        printed.results.contains("mpi_latesender  patterns/main/imbalance_chain/MPI_Recv"),
        "{}",
        printed.results
    );
    let printed = status(&reports.add("eight", &Chain::of_eight()), "5");
    assert_eq!(printed.status, Status::Failed);
    assert!(printed.messages.contains("no line of patterns on 8 ranks"), "{}", printed.messages);
    let max = run(100, &["diff", &same, "--against", &log, "--fail-if", "max(waiting) > +5%"]);
    assert_eq!(max.status, Status::Failed, "a log has no locations");
}

#[test]
fn lines_with_and_without_details_are_never_compared() {
    let reports = Reports::new();
    let log = log(&reports, &[0.1; 10]);
    let bare = reports.add("bare", &Chain { late: 0.12, culprits: None, ..Chain::default() });
    for _ in 0..3 {
        assert_eq!(run(100, &["history", "add", &log, &bare]).status, Status::Done);
    }
    let printed = run(160, &["history", "show", &log, "-m", "run"]);
    assert!(!printed.results.contains("changed"), "{}", printed.results);
    assert!(printed.results.contains("1 thread, without details: by metrics alone"), "{}", printed.results);
    let value = json(&["history", "show", &log, "-m", "run"]);
    let lines = value["trends"].as_array().unwrap().iter().map(|row| row["values"].as_array().unwrap().len());
    assert_eq!(lines.collect::<Vec<_>>(), [10, 3]);
    let printed = run(160, &["diff", &bare, "--against", &log]);
    assert_eq!(printed.status, Status::Done, "{}", printed.messages);
    let left_out = "10 of 13 lines of patterns on 4 ranks of 1 thread are left out: they do not say that their numbers come \
                    from metrics alone";
    assert!(printed.messages.contains(left_out), "{}", printed.messages);
    assert!(printed.results.contains("A: 3 runs"), "{}", printed.results);
    // A line of before says nothing of it.
    let old = std::fs::read_to_string(&log).unwrap().replace("\"base\":\"metrics\",", "");
    std::fs::write(&log, old).unwrap();
    let printed = run(160, &["diff", &bare, "--against", &log]);
    assert_eq!(printed.status, Status::Failed, "{}", printed.results);
    assert!(printed.messages.contains("13 of 13 lines"), "{}", printed.messages);
}

#[test]
fn a_line_that_was_left_open_is_ended() {
    let reports = Reports::new();
    let log = log(&reports, &[0.1]);
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text.trim_end()).unwrap();
    let report = reports.add("run", &Chain::default());
    assert_eq!(run(100, &["history", "add", &log, &report]).status, Status::Done);
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 2);
    for damage in ["{\"schema\": 1}\n", "\u{0}\n", "[]\n"] {
        std::fs::write(&log, format!("{text}{damage}")).unwrap();
        let printed = run(100, &["history", "show", &log]);
        assert_eq!(printed.status, Status::Failed);
        assert!(printed.messages.contains("log.jsonl: line 2: "), "{}", printed.messages);
    }
    assert_eq!(run(100, &["history", "add", &log, &report, "--label", "none"]).status, Status::Failed);
}
