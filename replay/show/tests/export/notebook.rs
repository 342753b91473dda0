//! `docs/notebook.md`: its blocks of code run on the Parquet files of a report.

use std::fmt::Write as _;

use super::judges::judge;
use super::plain;

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
    let path = exported.path().join("notebook.py");
    std::fs::write(&path, script).unwrap();
    let Some(printed) = judge("data", "pandas, polars, pyarrow", "notebook.py", &[&path, &out]) else {
        return;
    };
    assert!(printed.matches("# block").count() >= 20, "{printed}");
    assert!(printed.contains("rank 1") && printed.contains("mpi_latesender"), "{printed}");
}
