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

#[test]
fn counters_have_their_own_names_and_those_of_cube() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut maker = Maker::new(1);
    let counter = maker.metric("page_faults", None);
    maker.cube.metrics[counter.0].display_name = "page-faults".into();
    let main = maker.call("main", None);
    maker.row(counter, main, &[2.0]);
    maker.write(&path, &[]);
    let [own, of_cube] = ["page-faults", "page_faults"].map(|name| {
        let printed = run(80, &["tree", path.to_str().unwrap(), "-m", name]);
        assert_eq!(printed.status, Status::Done, "{}", printed.messages);
        printed.results
    });
    assert_eq!(own, of_cube);
}

#[test]
fn minima_and_maxima_are_no_sums_and_those_of_nothing_are_not_shown() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut maker = Maker::new(2);
    let least = maker.metric("least", None);
    let most = maker.metric("most", None);
    maker.cube.metrics[least.0].data_type = cubex::DataType::MinDouble;
    maker.cube.metrics[most.0].data_type = cubex::DataType::MaxDouble;
    let main = maker.call("main", None);
    let work = maker.call("work", Some(main));
    maker.call("nothing", Some(main));
    for metric in [least, most] {
        maker.row(metric, main, &[3.0, 1.5]);
        maker.row(metric, work, &[2.0, 4.0]);
    }
    maker.write(&path, &[]);
    let printed = run(80, &["tree", path.to_str().unwrap(), "-m", "least,most"]);
    let expected = "              least     most\nmain        1.500 s  4.000 s\n├─ work     2.000 s  4.000 s\n└─ nothing        ·        ·\n";
    assert_eq!(printed.results, expected, "{}", printed.messages);
}

#[test]
fn glob_that_matches_nothing_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut maker = Maker::new(1);
    let time = maker.metric("time", None);
    let main = maker.call("main", None);
    maker.row(time, main, &[1.0]);
    maker.write(&path, &[]);
    for options in
        [&["--path", "nosuch"][..], &["--path", "nosuch", "--flat"], &["--path", "nosuch", "--json"]]
    {
        let printed = run(200, &[&["tree", path.to_str().unwrap()], options].concat());
        assert_eq!((printed.status, printed.results.as_str()), (Status::Failed, ""), "{options:?}");
        assert!(printed.messages.contains("\"nosuch\" matches no call path"), "{}", printed.messages);
    }
}

#[test]
fn siblings_of_one_name_have_their_line_if_they_differ_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut maker = Maker::new(1);
    let time = maker.metric("time", None);
    let root = maker.call("prog", None);
    let mut add = |name: &str, line: Option<u32>, file: &str| {
        let call = maker.call(name, Some(root));
        (maker.cube.cnodes[call.0].line, maker.cube.cnodes[call.0].module) = (line, file.into());
        maker.row(time, call, &[1.0]);
    };
    add("main", Some(7), "/src/seq.c");
    add("main", Some(9), "/src/seq.c");
    add("main", Some(11), "");
    add("main", None, "");
    add("once", Some(3), "/src/seq.c");
    add("twice", Some(4), "/src/seq.c");
    add("twice", Some(4), "/src/seq.c");
    maker.write(&path, &[]);
    let path = path.to_str().unwrap();
    let printed = run(80, &["tree", path, "-m", "time"]);
    let lines = printed.results.lines().skip(2);
    let names: Vec<&str> = lines.filter_map(|line| line.split("─ ").nth(1)?.split("  ").next()).collect();
    let expected = ["main (seq.c:7)", "main (seq.c:9)", "main (line 11)", "main", "once", "twice", "twice"];
    assert_eq!(names, expected, "{}", printed.results);
    let json = run(80, &["tree", path, "-m", "time", "--json"]).results;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["nodes"][1]["name"], "main", "scripts get names");
}
