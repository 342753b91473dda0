//! The call tree.

use show::status::Status;

use crate::support::{Maker, run};

#[test]
fn values_are_inclusive_sums_over_locations() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut maker = Maker::new(2);
    let time = maker.metric("time", None);
    let main = maker.call("main", None);
    let work = maker.call("work", Some(main));
    maker.row(time, main, &[1.0, 1.0]);
    maker.row(time, work, &[2.0, 0.5]);
    maker.write(&path, &[]);
    let printed = run(80, &["tree", path.to_str().unwrap(), "-m", "time"]);
    assert_eq!(printed.status, Status::Done, "{}", printed.messages);
    assert_eq!(printed.results, "            time\nmain     4.500 s\n└─ work  2.500 s\n");
}
