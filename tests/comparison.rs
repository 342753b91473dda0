//! `replay-show diff` on reports of the analyzer: four against eight ranks of one program.

use replay::Semantics;
use serde_json::Value;
use show::status::Status;

use crate::support::show::show;
use crate::support::{analyze, archive, fresh};

#[test]
fn four_and_eight_ranks_differ_as_the_documentation_says() {
    let directory = fresh();
    let report = |name: &str| {
        let path = directory.path().join(format!("{name}.cubex"));
        analyze(&archive(name), &path, Semantics::Corrected).unwrap();
        path.display().to_string()
    };
    let (a, b) = (report("imbalance_chain.4"), report("imbalance_chain.8"));
    let gates = ["--fail-if", "waiting > 80%", "--fail-if", "run > +50%"];
    let (status, results, messages) = show(&[&["diff", "--json", &a, &b], &gates[..]].concat(), &[]);
    assert_eq!(status, Status::GateFailed, "{messages}");
    let diff: Value = serde_json::from_str(&results).unwrap();
    let row = |name: &str| {
        let rows = diff["quantities"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {diff}"))
    };
    // Of reports without details the run has some milliseconds outside of MPI_Init and MPI_Finalize, too.
    for (name, before, after, tolerance) in [
        ("run", 0.168, 0.228, 0.003),
        ("work", 0.042, 0.028, 0.003),
        ("waiting", 0.126, 0.200, 0.0005),
        ("mpi_latesender", 0.103, 0.146, 0.0005),
        ("mpi_barrier_wait", 0.023, 0.054, 0.0005),
    ] {
        let (a, b) = (row(name)["a"].as_f64().unwrap(), row(name)["b"].as_f64().unwrap());
        assert!((a - before).abs() < tolerance && (b - after).abs() < tolerance, "{name}: {a} {b}");
    }
    let largest = &diff["calls"][0];
    assert_eq!(largest["metric"], "mpi_latesender");
    assert_eq!(largest["path"], "patterns/main/imbalance_chain/MPI_Recv");
    let matched = &diff["matched"];
    assert_eq!((&matched["a"], &matched["of_b"]), (&11.into(), &11.into()));
    let outcomes: Vec<&Value> =
        diff["gates"].as_array().unwrap().iter().map(|gate| &gate["outcome"]).collect();
    assert_eq!(outcomes, ["failed", "passed"]);
}
