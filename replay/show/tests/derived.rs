//! Derived metrics of reports of other programs.

use std::path::PathBuf;

use cubex::{Expression, Metric, MetricKind};
use serde_json::Value;
use show::status::Status;

use crate::support::{Maker, run};

/// A report with time in main (1, 2) and MPI_Recv (0.5, 0.25), and derived metrics: name, kind, expression, initialisation.
fn report(metrics: &[(&str, MetricKind, &str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut maker = Maker::new(2);
    let time = maker.metric("time", None);
    for (name, kind, value, init) in metrics {
        maker.cube.add_metric(Metric {
            unique_name: (*name).into(),
            display_name: (*name).into(),
            unit: "sec".into(),
            kind: *kind,
            expression: Some(Expression {
                value: (*value).into(),
                init: (*init).into(),
                ..Expression::default()
            }),
            ..Metric::default()
        });
    }
    let main = maker.call("main", None);
    let receive = maker.call("MPI_Recv", Some(main));
    maker.row(time, main, &[1.0, 2.0]);
    maker.row(time, receive, &[0.5, 0.25]);
    maker.write(&path, &[]);
    (directory, path)
}

/// Inclusive values of a metric at both call paths; `None` where there are none.
fn values(metrics: &[(&str, MetricKind, &str, &str)], name: &str) -> Option<(f64, f64)> {
    let (_directory, path) = report(metrics);
    let printed = run(80, &["tree", path.to_str().unwrap(), "-m", name, "--json"]);
    assert_eq!(printed.status, Status::Done, "{}", printed.messages);
    let value: Value = serde_json::from_str(&printed.results).unwrap();
    let of = |at: usize| value["nodes"][at][name].as_f64();
    of(0).zip(of(1))
}

/// The same of one metric.
fn value(kind: MetricKind, expression: &str, init: &str) -> Option<(f64, f64)> {
    values(&[("derived", kind, expression, init)], "derived")
}

use MetricKind::{Postderived, PrederivedExclusive, PrederivedInclusive};

#[test]
fn masks_by_region_are_what_score_p_uses() {
    let init = r#"{
        global(mask); ${i} = 0; // a comment
        while (${i} < ${cube::#callpaths}) {
            ${name} = ${cube::region::name}[${cube::callpath::calleeid}[${i}]];
            if ((${name} =~ /^MPI_(Send|Recv){1}$/) and not (${name} eq "MPI_Send")) { ${mask}[${i}] = 1; }
            elseif (${name} seq "MAIN") { ${mask}[${i}] = 0; }
            else { ${mask}[${i}] = 100; };
            ${i} = ${i} + 1;
        };
        return 0;
    }"#;
    // Line ends are lost when our writer writes them, and with them the end of the comment.
    let init = init.replace("// a comment", "");
    let expression = "${mask}[${calculation::callpath::id}] * ( metric::time(e) - metric::missing(e) )";
    assert_eq!(value(PrederivedExclusive, expression, &init), Some((0.75, 0.75)));
}

#[test]
fn kinds_differ_along_the_call_tree() {
    assert_eq!(value(PrederivedExclusive, "2 * metric::time()", ""), Some((7.5, 1.5)));
    assert_eq!(value(PrederivedInclusive, "metric::time(i) + 1", ""), Some((3.75 + 2.0, 0.75 + 2.0)));
    assert_eq!(value(Postderived, "metric::time() / metric::time(i)", ""), Some((1.0, 1.0)));
    assert_eq!(value(Postderived, "metric::time(e)", ""), Some((3.0, 0.75)));
    assert_eq!(value(Postderived, "max(metric::time(), 3) ^ 2 - -1", ""), Some((3.75 * 3.75 + 1.0, 10.0)));
}

#[test]
fn metrics_may_need_others_but_not_themselves() {
    let metrics = [
        ("a", PrederivedExclusive, "metric::time()", ""),
        ("b", Postderived, "metric::a() + metric::time()", ""),
        ("circle", Postderived, "metric::other()", ""),
        ("other", Postderived, "metric::circle()", ""),
        ("above", Postderived, "metric::circle() + 1", ""),
    ];
    assert_eq!(values(&metrics, "b"), Some((7.5, 1.5)));
    assert_eq!(values(&metrics, "circle"), None);
    assert_eq!(values(&metrics, "above"), None);
}

#[test]
fn what_is_not_understood_is_not_available_and_never_zero() {
    let expressions = [
        "metric::fixed::time()",
        "${calculation::sysres::id}",
        "unknown(3)",
        "metric::time(",
        "{ while (1) { ${i} = ${i} + 1; }; return 1; }",
        "{ ${i}[100000000000] = 1; return 1; }",
        "\"text\"",
        "metric::time() =~ /(/",
    ];
    // Half a gigabyte in the lists of a program.
    let lists: String = (0..64).map(|list| format!("${{a{list}}}[${{i}}] = ${{t}}; ")).collect();
    let text = "x".repeat(8192);
    let large = format!(
        "{{ ${{t}} = \"{text}\"; while (${{i}} < 1000) {{ {lists} ${{i}} = ${{i}} + 1; }}; return 1; }}"
    );
    let made = ["(".repeat(1000), "-".repeat(1000), large];
    for expression in expressions.map(str::to_owned).into_iter().chain(made) {
        let (_directory, path) = report(&[("derived", PrederivedExclusive, &expression, "")]);
        let printed = run(80, &["tree", path.to_str().unwrap(), "-m", "derived", "--min", "0"]);
        assert_eq!(printed.status, Status::Done, "{expression}: {}", printed.messages);
        assert!(printed.results.contains("n/a (derived)"), "{expression}: {}", printed.results);
        assert!(!printed.results.contains("0.0"), "{expression}: {}", printed.results);
    }
    // A mask that an initialisation should have set.
    let metrics = [("derived", PrederivedExclusive, "${mask}[0]", "{ ${mask} = unknown(); return 0; }")];
    assert_eq!(values(&metrics, "derived"), None);
}

#[test]
fn conditions_on_rows_are_evaluated_location_by_location() {
    let expression = "{ if (metric::time() > 1) { return 10; } else { return 1; }; }";
    assert_eq!(value(PrederivedExclusive, expression, ""), Some((1.0 + 10.0 + 1.0 + 1.0, 2.0)));
}

/// Pieces that programs consist of.
const PIECES: [&str; 36] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    "+",
    "-",
    "*",
    "/",
    "^",
    "<",
    ">=",
    "==",
    "!=",
    "=",
    "=~ /a+/",
    "eq",
    "and",
    "or",
    "xor",
    "not (",
    "if (",
    "elseif (",
    "else",
    "while (",
    "return",
    "global(a);",
    "${a}",
    "${a}[",
    "1",
    "1e300",
    "\"text\"",
    "metric::time(e)",
    "${calculation::callpath::id}",
];

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_program_does_harm(pieces in proptest::collection::vec(0..PIECES.len(), 0..40), init in proptest::bool::ANY) {
        let text: Vec<&str> = pieces.into_iter().map(|at| PIECES[at]).collect();
        let text = text.join(" ");
        let (value, init) = if init { ("${a}[0] + 1", text.as_str()) } else { (text.as_str(), "") };
        let (_directory, path) = report(&[("derived", PrederivedExclusive, value, init)]);
        let printed = run(80, &["tree", path.to_str().unwrap(), "-m", "derived", "--min", "0"]);
        proptest::prop_assert_eq!(printed.status, Status::Done, "{}: {}", text, printed.messages);
    }
}

#[test]
fn metrics_that_are_switched_off_are_not_listed() {
    let metrics = [
        (
            "kept",
            PrederivedExclusive,
            "metric::time()",
            "{ cube::metric::set::gone(\"value\", \"VOID\"); return 0; }",
        ),
        ("gone", PrederivedExclusive, "metric::time()", ""),
    ];
    let (_directory, path) = report(&metrics);
    let printed = run(80, &["tree", "--metrics", path.to_str().unwrap()]).results;
    assert!(printed.contains("kept") && !printed.contains("gone"), "{printed}");
}

#[test]
fn ratios_of_functions_are_those_of_their_sums() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut maker = Maker::new(1);
    let [instructions, cycles] = ["ins", "cyc"].map(|name| maker.metric(name, None));
    for (name, value) in [("ipc", "metric::ins() / metric::cyc()"), ("twice", "2 * metric::ipc()")] {
        maker.cube.add_metric(Metric {
            unique_name: name.into(),
            kind: Postderived,
            expression: Some(Expression { value: value.into(), ..Expression::default() }),
            ..Metric::default()
        });
    }
    let main = maker.call("main", None);
    let [first, second] = ["first", "second"].map(|name| maker.call(name, Some(main)));
    let [one, other] = [first, second].map(|caller| maker.call("work", Some(caller)));
    maker.cube.cnodes[other.0].region = maker.cube.cnodes[one.0].region;
    for (metric, of_one, of_other) in [(instructions, 30.0, 10.0), (cycles, 10.0, 30.0)] {
        maker.row(metric, one, &[of_one]);
        maker.row(metric, other, &[of_other]);
    }
    maker.write(&path, &[]);
    for kind in ["--flat", "--callers"] {
        let printed = run(80, &["tree", path.to_str().unwrap(), "-m", "ipc,twice,ins", kind, "--json"]);
        assert_eq!(printed.status, Status::Done, "{}", printed.messages);
        let tree: Value = serde_json::from_str(&printed.results).unwrap();
        let work = tree["nodes"].as_array().unwrap().iter().find(|node| node["name"] == "work").unwrap();
        let of = |name: &str| (work[name].as_f64(), work[&format!("{name}.exclusive")].as_f64());
        assert_eq!(of("ipc"), (Some(1.0), Some(1.0)), "{kind}");
        assert_eq!(of("twice"), (Some(2.0), Some(2.0)), "{kind}");
        assert_eq!(of("ins"), (Some(40.0), Some(40.0)), "{kind}");
    }
}

#[test]
fn ratios_of_processes_are_those_of_their_sums_and_those_of_nothing_are_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut maker = Maker::new(3);
    let [sum, values] = ["sum", "values"].map(|name| maker.metric(name, None));
    maker.cube.add_metric(Metric {
        unique_name: "mean".into(),
        kind: Postderived,
        expression: Some(Expression {
            value: "metric::sum() / metric::values()".into(),
            ..Expression::default()
        }),
        ..Metric::default()
    });
    let main = maker.call("main", None);
    let idle = maker.call("idle", Some(main));
    // The first two locations are one process: a mean of 0 is a value, unlike that of nothing.
    maker.cube.locations[1].group = maker.cube.locations[0].group;
    maker.cube.locations[2].group = maker.cube.locations[1].group;
    maker.cube.locations[2].group.0 += 1;
    maker.cube.location_groups.remove(1);
    maker.row(sum, main, &[-30.0, 30.0, 0.0]);
    maker.row(values, main, &[10.0, 30.0, 0.0]);
    maker.row(sum, idle, &[0.0, 0.0, 0.0]);
    maker.write(&path, &[]);
    let path = path.to_str().unwrap();
    let read = |arguments: &[&str]| -> Value {
        let printed = run(80, &[arguments, &[path, "-m", "mean", "--json"]].concat());
        assert_eq!(printed.status, Status::Done, "{}", printed.messages);
        serde_json::from_str(&printed.results).unwrap()
    };
    let of = |value: &Value, table: &str| -> Vec<Option<f64>> {
        value[table].as_array().unwrap().iter().map(|row| row["mean"].as_f64()).collect()
    };
    assert_eq!(of(&read(&["tree"]), "nodes"), [Some(0.0), None]);
    let ranks = read(&["ranks", "--by", "location"]);
    assert_eq!(of(&ranks, "rows"), [Some(1.0), Some(-3.0), None]);
    assert_eq!(of(&ranks, "distribution")[..2], [Some(-1.0), Some(-3.0)]);
    assert_eq!(of(&read(&["ranks", "--by", "process"]), "rows"), [Some(0.0), None]);
    let printed = run(80, &["tree", path, "-m", "mean"]);
    assert_eq!(printed.results, "         mean\nmain        0\n└─ idle     ·\n", "{}", printed.messages);
    let printed = run(80, &["export", "hatchet", path, "-m", "mean"]);
    assert_eq!(printed.status, Status::Done, "{}", printed.messages);
    let hatchet: Value = serde_json::from_str(&printed.results).unwrap();
    let main = &hatchet[0]["metrics"];
    assert_eq!((main["mean"].as_f64(), main["mean (inc)"].as_f64()), (Some(0.0), Some(0.0)), "{hatchet}");
    assert!(hatchet[0]["children"][0]["metrics"]["mean"].is_null(), "{hatchet}");
}

#[test]
fn other_expressions_than_quotients_have_the_values_that_cube_gives_them_for_nothing() {
    let of_nothing = |expression: &str| value(Postderived, expression, "");
    assert_eq!(of_nothing("5 / 2"), Some((2.5, 2.5)));
    assert_eq!(of_nothing("metric::missing() + 100 / 4"), Some((25.0, 25.0)));
    assert_eq!(of_nothing("{ if (metric::missing() == 0) { return 7; }; return 1; }"), Some((7.0, 7.0)));
}

#[test]
fn gates_on_a_ratio_of_nothing_are_missing_and_say_so() {
    let (_directory, path) = report(&[("ratio", Postderived, "metric::missing() / metric::missing()", "")]);
    let printed = run(120, &["check", path.to_str().unwrap(), "--fail-if", "ratio > 1"]);
    assert_ne!(printed.status, Status::Done, "{}", printed.results);
    assert!(printed.results.contains("metric ratio has no value anywhere"), "{}", printed.results);
}
