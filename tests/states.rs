//! States of a trace in its report: the values that viewers show, along the call tree and of all ranks.

use serde_json::Value;
use show::status::Status;

use crate::causes::analyze;
use crate::support::fresh;
use crate::support::show::show;

/// Two ranks whose frequency falls while they work.
const SCRIPT: &str = "program prog
rank 0
  0 > MPI_Init ; 10 kilohertz 30 ; < ; 10 kilohertz 30 ; > work ; 20 kilohertz 28 ; > inner ; 30 kilohertz 20 ; < ; 40 kilohertz 24 ; <
  50 > MPI_Finalize ; 60 <
rank 1
  0 > MPI_Init ; 10 < ; 10 > work ; 20 kilohertz 26 ; > inner ; 30 < ; 40 < ; 50 > MPI_Finalize ; 60 <
";

#[test]
fn extremes_and_means_of_a_state_are_those_of_all_values_below_a_call_path() {
    let directory = fresh();
    analyze(SCRIPT, directory.path());
    let report = directory.path().join("report.cubex").display().to_string();
    let of_work = |metric: &str| {
        let (status, text, messages) = show(&["tree", "--json", "-m", metric, &report], &[]);
        assert_eq!(status, Status::Done, "{messages}");
        let tree: Value = serde_json::from_str(&text).unwrap();
        let work = tree["nodes"].as_array().unwrap().iter().find(|node| node["name"] == "work");
        work.and_then(|work| work[metric].as_f64()).unwrap_or_else(|| panic!("{tree:#}"))
    };
    assert_eq!(of_work("frequency"), 28e3);
    assert_eq!(of_work("frequency_min"), 20e3);
    assert_eq!(of_work("frequency_mean"), (28e3 + 20e3 + 24e3 + 26e3) / 4.0);
}
