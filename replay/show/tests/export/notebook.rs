//! `docs/notebook.md`: its blocks of code run on the Parquet files of a report.

use std::fmt::Write as _;

use super::judges::judge;
use super::plain;
use crate::support::run;

#[test]
fn blocks_of_the_notebook_run() {
    let exported = plain();
    let out = exported.export("parquet", &[]);
    let page = include_str!("../../../../docs/notebook.md");
    let mut script = String::new();
    for (number, block) in (1..).zip(page.split("```python\n").skip(1)) {
        let code = block.split("```").next().unwrap();
        let _ = write!(script, "print('# block {number}')\n{code}\n");
    }
    script.push_str("print('all waiting:', waits['value'].sum(), waiting['value'].sum())\n");
    let path = exported.path().join("notebook.py");
    std::fs::write(&path, script).unwrap();
    let Some(printed) = judge("data", "pandas, polars, pyarrow", "notebook.py", &[&path, &out]) else {
        return;
    };
    assert!(printed.matches("# block").count() >= 20, "{printed}");
    let ranks = run(80, &["ranks", "-m", "waiting", "--json", exported.report.to_str().unwrap()]);
    let ranks: serde_json::Value = serde_json::from_str(&ranks.results).unwrap();
    let of_ranks = ranks["rows"].as_array().unwrap().iter().map(|row| row["waiting"].as_f64().unwrap());
    let all: f64 = of_ranks.sum();
    let sums = printed.lines().find_map(|line| line.strip_prefix("all waiting: ")).unwrap();
    for sum in sums.split(' ') {
        assert!(all > 0.0 && (sum.parse::<f64>().unwrap() - all).abs() < 1e-9, "{sums}, not {all}");
    }
    assert!(printed.contains("rank 1") && printed.contains("mpi_latesender"), "{printed}");
}
