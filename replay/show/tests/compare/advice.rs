//! Advice in comparisons: what is new and gone, and gates over it.

use details::advice::{AdviceFile, Advised, AdvisedGain, AdvisedPlace, AdvisedRun, SCHEMA};
use serde_json::{Value, json as value};
use show::status::Status;

use super::{Chain, Reports, json};
use crate::support::run;

/// Advice of rules at call paths: what it saves at most, and as replayed, of a run of 0.2 s.
fn advice(list: &[(&str, &str, f64, Option<f64>)]) -> AdviceFile {
    let one = |&(rule, path, most, expected): &(&str, &str, f64, Option<f64>)| Advised {
        rule: rule.into(),
        title: format!("Title of {rule}"),
        place: AdvisedPlace { path: path.into(), ..AdvisedPlace::default() },
        gain: AdvisedGain { by: "wait".into(), most, expected },
        confidence: 0.9,
        ..Advised::default()
    };
    AdviceFile {
        advice: list.iter().map(one).collect(),
        run: AdvisedRun { seconds: 0.2, ..AdvisedRun::default() },
        schema: SCHEMA.into(),
        ..AdviceFile::default()
    }
}

const BALANCE: (&str, &str, f64, Option<f64>) = ("work/static", "main/work", 0.05, Some(0.04));
const BARRIER: (&str, &str, f64, Option<f64>) = ("sync/barrier", "main/MPI_Barrier", 0.03, Some(0.02));
const LOCK: (&str, &str, f64, Option<f64>) = ("rma/lock", "main/MPI_Win_lock", 0.06, None);

/// How a gate ends between reports with some advice, and what is printed.
fn diff(a: Option<AdviceFile>, b: Option<AdviceFile>, gate: &str, options: &[&str]) -> (Status, String) {
    let reports = Reports::new();
    let a = reports.add("a", &Chain { advice: a, ..Chain::default() });
    // One more culprit than A.
    let culprits = Some(vec!["work", "MPI_Barrier"]);
    let b = reports.add("b", &Chain { advice: b, culprits, ..Chain::default() });
    let printed = run(160, &[&["diff", &a, &b, "--fail-if", gate], options].concat());
    (printed.status, printed.results + &printed.messages)
}

fn check(advice: Option<AdviceFile>, gate: &str, options: &[&str]) -> (Status, String) {
    let reports = Reports::new();
    let a = reports.add("a", &Chain { advice, ..Chain::default() });
    let printed = run(160, &[&["check", &a, "--fail-if", gate], options].concat());
    (printed.status, printed.results + &printed.messages)
}

#[test]
fn new_actions_are_advice_where_both_have_it_and_culprits_otherwise() {
    let (one, two) = (|| Some(advice(&[BALANCE])), || Some(advice(&[BALANCE, BARRIER, LOCK])));
    for (a, b, count, counted) in [
        (one(), two(), 2, "advice"),
        (two(), one(), 0, "advice"),
        (Some(advice(&[])), one(), 1, "advice"),
        // The same rule at another call path is another one.
        (one(), Some(advice(&[("work/static", "main/other", 0.05, None)])), 1, "advice"),
        (None, two(), 1, "culprits"),
        (one(), None, 1, "culprits"),
        (None, None, 1, "culprits"),
    ] {
        let (status, text) = diff(a, b, &format!("actions.new >= {}", count + 1), &[]);
        assert_eq!(status, Status::Done, "{text}");
        assert!(text.contains(&format!("   {count}, counting {counted}\n")), "{count} of {counted}: {text}");
    }
    assert_eq!(diff(one(), two(), "actions.new > 1", &[]).0, Status::GateFailed);
}

#[test]
fn advice_of_one_side_only_is_new_or_gone() {
    let reports = Reports::new();
    let of =
        |name: &str, list: Option<AdviceFile>| reports.add(name, &Chain { advice: list, ..Chain::default() });
    let (a, b) = (of("a", Some(advice(&[BALANCE, BARRIER]))), of("b", Some(advice(&[LOCK, BALANCE]))));
    let printed = run(160, &["diff", &a, &b]).results;
    let new = " advice new: Title of rma/lock: at most 0.060 s, 30.0 % of the run [high] (main/MPI_Win_lock, rma/lock)\n";
    let gone = " advice gone: Title of sync/barrier: about 0.020 s, 10.0 % of the run [high] (main/MPI_Barrier, sync/barrier)\n";
    assert!(printed.contains(&format!("{new}{gone}")), "{printed}");
    let one = |rule: &str, path: &str, most: f64, expected: Value| value!({"rule": rule, "title": format!("Title of {rule}"), "path": path, "most": most, "expected": expected});
    let expected = value!({
        "new": [one("rma/lock", "main/MPI_Win_lock", 0.06, Value::Null)],
        "gone": [one("sync/barrier", "main/MPI_Barrier", 0.03, value!(0.02))],
    });
    assert_eq!(json(&["diff", &a, &b])["advice"], expected);
    let without = of("without", None);
    for (files, only) in [([&a, &without], "A"), ([&without, &a], "B")] {
        let printed = run(160, &["diff", files[0], files[1]]).results;
        let says = format!(" advice is not compared: it was looked for in {only} only\n");
        assert!(printed.contains(&says), "{printed}");
        assert_eq!(json(&["diff", files[0], files[1]])["advice"], Value::Null);
    }
    assert!(!run(160, &["diff", &without, &without]).results.contains("advice"));
}

#[test]
fn advice_of_a_side_is_that_of_most_of_its_runs() {
    let reports = Reports::new();
    let of =
        |name: &str, list: &[_]| reports.add(name, &Chain { advice: Some(advice(list)), ..Chain::default() });
    let a = of("a", &[BALANCE]);
    let b = [of("b1", &[BARRIER]), of("b2", &[BALANCE, BARRIER]), of("b3", &[LOCK])];
    let printed = run(100, &["diff", "--json", &a, "--", &b[0], &b[1], &b[2]]);
    let value: Value = serde_json::from_str(&printed.results).unwrap();
    assert_eq!(value["advice"]["new"].as_array().unwrap().len(), 1, "{value}");
    assert_eq!(value["advice"]["new"][0]["rule"], "sync/barrier");
}

#[test]
fn numbers_of_advice_are_compared_with_limits() {
    let three = || Some(advice(&[BALANCE, BARRIER, LOCK]));
    for (fails, passes) in [
        ("advice.count > 2", "advice.count > 3"),
        ("advice.most > 29%", "advice.most > 31%"),
        ("advice.most >= 60 ms", "advice.most > 0.061s"),
        ("advice.expected > 19%", "advice.expected > 21%"),
        ("advice.expected > 0", "advice.expected > 41ms"),
    ] {
        let (status, text) = check(three(), fails, &[]);
        assert_eq!(status, Status::GateFailed, "{fails}: {text}");
        let (status, text) = check(three(), passes, &[]);
        assert_eq!(status, Status::Done, "{passes}: {text}");
    }
    assert!(check(three(), "advice.most > 10%", &[]).1.contains("   30.0 % of the run\n"));
    for (fails, passes) in [
        ("advice.most > +4pp", "advice.most > +6pp"),
        ("advice.most > +5%", "advice.most > +50%"),
        ("advice.count > +1", "advice.count > +2"),
        ("advice.most > 1.1x", "advice.expected > 1.1x"),
    ] {
        for (gate, expected) in [(fails, Status::GateFailed), (passes, Status::Done)] {
            let (status, text) = diff(Some(advice(&[BALANCE])), three(), gate, &[]);
            assert_eq!(status, expected, "{gate}: {text}");
        }
    }
}

#[test]
fn no_advice_is_0_and_unknown_advice_has_no_number() {
    for gate in ["advice.count > 0", "advice.most > 0%", "advice.expected > 0s"] {
        assert_eq!(check(Some(advice(&[])), gate, &[]).0, Status::Done, "{gate}");
        let (status, text) = check(None, gate, &[]);
        assert_eq!(status, Status::Failed, "{gate}: {text}");
        assert!(text.contains("replay-analyze --advice or --what-if"), "{text}");
        assert_eq!(check(None, gate, &["--missing", "pass"]).0, Status::Done, "{gate}");
    }
    // Of what nobody has replayed a bound is known.
    assert_eq!(check(Some(advice(&[LOCK])), "advice.most > 0.05s", &[]).0, Status::GateFailed);
    let (status, text) = check(Some(advice(&[LOCK])), "advice.expected < 10%", &[]);
    assert_eq!(status, Status::Failed, "{text}");
    assert!(text.contains("none of its advice was replayed"), "{text}");
}

#[test]
fn log_has_no_advice() {
    let reports = Reports::new();
    let report = reports.add("a", &Chain { advice: Some(advice(&[BALANCE])), ..Chain::default() });
    let log = reports.path("log.jsonl").into_os_string().into_string().unwrap();
    assert_eq!(run(100, &["history", "add", &log, &report]).status, Status::Done);
    let against = |gate: &str| run(160, &["diff", "--against", &log, &report, "--fail-if", gate]);
    let changed = against("advice.most > +1%");
    assert_eq!(changed.status, Status::Failed);
    assert!(changed.results.contains("a log has no advice"), "{}", changed.results);
    let actions = against("actions.new > 0");
    assert_eq!(actions.status, Status::Done, "{}", actions.results);
    assert!(actions.results.contains("0, counting culprits"), "{}", actions.results);
}
