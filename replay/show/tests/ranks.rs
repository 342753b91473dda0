//! Values by location.

use cubex::CnodeId;
use serde_json::Value;
use show::status::Status;

use crate::support::{Maker, run};

/// A report of four ranks, of which the last has lost its events.
fn report(path: &std::path::Path) {
    let mut maker = Maker::new(4);
    let time = maker.metric("time", None);
    let late = maker.metric("mpi_latesender", Some(time));
    let main: CnodeId = maker.call("main", None);
    maker.row(time, main, &[1.0, 2.0, 3.0, 0.0]);
    maker.row(late, main, &[0.0, 1.0, 2.0, 0.0]);
    maker.write(path, &[]);
}

#[test]
fn locations_without_events_are_unknown_and_never_0() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    report(&path);
    let path = path.to_str().unwrap();
    for by in ["location", "process"] {
        let printed = run(80, &["ranks", path, "-m", "time,mpi_latesender", "--by", by]);
        assert_eq!(printed.status, Status::Done, "{}", printed.messages);
        assert!(printed.results.contains("1 of 4 without any event: unknown"), "{}", printed.results);
        let last = printed.results.lines().find(|line| line.starts_with("rank 3")).unwrap();
        assert_eq!(last.split_whitespace().collect::<Vec<_>>(), ["rank", "3", "unknown", "unknown"]);
    }
    let json = run(80, &["ranks", path, "-m", "time,mpi_latesender", "--json"]).results;
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["rows"][3]["name"], &value["rows"][3]["time"]), (&"rank 3".into(), &Value::Null));
    let of =
        |row: usize| (&value["distribution"][row]["time"], &value["distribution"][row]["mpi_latesender"]);
    assert_eq!(of(0), (&2.0.into(), &1.0.into()), "mean of three");
    assert_eq!(of(1), (&1.0.into(), &0.0.into()), "least: rank 0 has measured no waiting");
    assert_eq!(of(6), (&1.5.into(), &2.0.into()), "most / mean");
    let csv = run(80, &["ranks", path, "-m", "time", "--csv"]).results;
    assert!(csv.lines().any(|line| line.starts_with("rank 3,,")), "{csv}");
    let node = run(80, &["ranks", path, "-m", "time", "--by", "node"]).results;
    assert!(node.contains("6.000 s") && !node.contains("unknown"), "{node}");
}
