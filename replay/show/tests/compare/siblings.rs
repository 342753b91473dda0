//! Call paths of one name: one in a log, and told apart between reports.

use serde_json::Value;
use show::status::Status;

use super::{Chain, Reports, json};
use crate::support::run;

/// A and B of waiting at `MPI_Recv`, row by row.
fn receives(value: &Value) -> Vec<(f64, f64, String)> {
    let rows = value["calls"].as_array().unwrap().iter();
    let own = rows.filter(|row| row["metric"] == "mpi_latesender");
    own.map(|row| {
        assert_eq!(row["path"], "patterns/main/imbalance_chain/MPI_Recv");
        (row["a"].as_f64().unwrap(), row["b"].as_f64().unwrap(), row["match"].as_str().unwrap().to_owned())
    })
    .collect()
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-9
}

#[test]
fn calls_of_one_name_are_one_call_path_of_a_log() {
    let reports = Reports::new();
    let log = reports.path("log.jsonl");
    let log = log.to_str().unwrap();
    let a = reports.add("a", &Chain { second: Some(0.05), ..Chain::default() });
    let b = reports.add("b", &Chain { second: Some(0.09), ..Chain::default() });
    assert_eq!(run(100, &["history", "add", log, &a]).status, Status::Done);
    let value = json(&["diff", "--against", log, &a]);
    let [(of_a, of_b, way)] = &receives(&value)[..] else { panic!("{value}") };
    assert!(near(*of_a, 0.153) && near(*of_b, 0.153) && way == "same", "{value}");
    assert!(value["calls"].as_array().unwrap().iter().all(|row| row["state"] == "same"), "{value}");
    let value = json(&["diff", "--against", log, &b]);
    let [(of_a, of_b, way)] = &receives(&value)[..] else { panic!("{value}") };
    assert!(near(*of_a, 0.153) && near(*of_b, 0.193) && way == "same", "{value}");
    let gate = |gate: &str| run(100, &["diff", "--against", log, &b, "--fail-if", gate]);
    assert_eq!(gate("mpi_latesender@**/MPI_Recv > +0.039s").status, Status::GateFailed);
    let printed = gate("mpi_latesender@**/MPI_Recv > +0.041s");
    assert_eq!(printed.status, Status::Done, "{}", printed.results);
}

#[test]
fn calls_of_one_name_are_told_apart_between_reports() {
    let reports = Reports::new();
    let a = reports.add("a", &Chain { second: Some(0.05), ..Chain::default() });
    let b = reports.add("b", &Chain { second: Some(0.09), ..Chain::default() });
    let value = json(&["diff", &a, &b]);
    let rows = receives(&value);
    assert_eq!(rows.len(), 2, "{value}");
    assert!(near(rows[0].0, 0.05) && near(rows[0].1, 0.09) && near(rows[1].0, 0.103), "{value}");
}

#[test]
fn line_that_may_lack_calls_of_a_name_is_not_compared_by_call_path() {
    let reports = Reports::new();
    let log = reports.path("log.jsonl");
    // Too many values for a line.
    let a = reports.add("a", &Chain { small: 60, ..Chain::default() });
    assert_eq!(run(100, &["history", "add", log.to_str().unwrap(), &a]).status, Status::Done);
    let rows = || {
        let value = json(&["diff", "--against", log.to_str().unwrap(), &a]);
        let rows = value["calls"].as_array().unwrap().iter();
        rows.filter(|row| row["metric"] == "comp").count()
    };
    assert!((1..61).contains(&rows()), "those that the line has kept");
    let old = std::fs::read_to_string(&log).unwrap().replace("\"by_name\":true,", "");
    std::fs::write(&log, old).unwrap();
    assert_eq!(rows(), 0, "of a line of before");
}
