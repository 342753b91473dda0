//! What `matrix` says of operations and options.

use show::status::Status;

use crate::support::example::{self, Names};
use crate::support::{Printed, run};

fn matrix(options: &[&str]) -> Printed {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::write(&path, &Names::default(), |_| {});
    run(100, &[&["matrix", path.to_str().unwrap()], options].concat())
}

#[test]
fn rows_that_are_left_out_are_counted() {
    let printed = matrix(&["--collectives", "-n", "1"]);
    assert_eq!(printed.results.matches("and 1 more (-n 2)").count(), 1, "{}", printed.results);
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    for options in [
        &["--sizes", "--comm", "0"][..],
        &["--sizes", "-n", "1"],
        &["--sizes", "-m", "bytes"],
        &["--collectives", "-m", "bytes"],
    ] {
        let printed = matrix(options);
        assert_eq!((printed.status, printed.results.as_str()), (Status::Failed, ""), "{options:?}");
    }
    assert_eq!(matrix(&["--sizes"]).status, Status::Done);
}
