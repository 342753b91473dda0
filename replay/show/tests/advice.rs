//! Advice of a report: the words of the summary of its analysis, and the member for scripts.

use details::advice::{ADVICE, AdviceFile};
use details::advice_words::nothing;
use serde_json::Value;
use show::overview::words::ALL;
use show::status::Status;

use crate::support::example::{self, Names};
use crate::support::{Printed, run};

/// What the program prints of the example with some advice; `None` is a report for which it was not looked for.
fn printed(advice: Option<&AdviceFile>, columns: usize, command: &[&str], more: &[&str]) -> Printed {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    match advice {
        Some(advice) => example::write_with_advice(&path, advice),
        None => example::write(&path, &Names::default(), |_| {}),
    }
    run(columns, &[command, &[path.to_str().unwrap()], more].concat())
}

fn of(advice: &AdviceFile, columns: usize, more: &[&str]) -> String {
    let printed = printed(Some(advice), columns, &["advice"], more);
    assert_eq!((printed.status, printed.messages.as_str()), (Status::Done, ""));
    printed.results
}

const BLOCK: &str = "\
Advice (of a run of 0.100 s; each by itself):
  1. about 0.037 s, 37.5 %   Work is not balanced: app/main/solve/work (solve.c:42)   [high]
       Rank 0 has most of the work: give each rank as much of it.
       or: Ranks wait at a barrier that may not be needed: app/main/solve/MPI_Barrier (solve.c:42) (0.015 s by itself)
       check: --what-if=balance=main/solve/work
  2. at most 0.030 s, 30.0 %   Messages are late: app/main/solve/MPI_Recv (solve.c:42)   [fair]
       Send earlier.
";

#[test]
fn advice_is_printed_in_the_words_of_the_summary() {
    assert_eq!(of(&example::advice(), 120, &[]), BLOCK);
    let all = AdviceFile { together: Some(0.05), ..example::advice() };
    let last = "  all of these that say \"about\" together: about 0.050 s, 50.0 %\n";
    assert_eq!(of(&all, 120, &[]), format!("{BLOCK}{last}"));
}

#[test]
fn lines_fit_a_narrow_screen_but_options_to_be_copied_are_whole() {
    let text = of(&example::advice(), 40, &[]);
    let check = "       check: --what-if=balance=main/solve/work";
    assert!(text.lines().any(|line| line == check), "{text}");
    assert!(text.lines().all(|line| line == check || line.chars().count() <= 40), "{text}");
    assert!(text.contains("\n       Rank 0 has most of the work:\n       give each rank"), "{text}");
}

#[test]
fn the_first_of_many_are_not_said_to_save_what_all_do() {
    let all = AdviceFile { together: Some(0.05), ..example::advice() };
    let text = of(&all, 120, &["-n", "1"]);
    assert!(text.starts_with("Advice (of a run") && text.ends_with("\nand 1 more (-n\u{20}2)\n"), "{text}");
    assert!(!text.contains("together") && !text.contains("Messages are late"), "{text}");
    assert_eq!(of(&all, 120, &["-n", "2"]), of(&all, 120, &[]));
    assert_eq!(of(&all, 120, &["-n", "0"]), "and 2 more (-n 2)\n");
}

#[test]
fn none_is_said_where_advice_was_looked_for() {
    assert_eq!(
        of(&example::no_advice(), 120, &[]),
        format!("{}\n", nothing(&example::no_advice(), "--all").join("\n"))
    );
}

#[test]
fn report_for_which_none_was_looked_for_says_what_to_run() {
    let printed = printed(None, 80, &["advice"], &[]);
    assert_eq!((printed.status, printed.results.as_str()), (Status::Failed, ""));
    assert!(printed.messages.contains("no member advice.json"), "{}", printed.messages);
    assert!(printed.messages.contains("replay-analyze --advice EXPERIMENT"), "{}", printed.messages);
}

#[test]
fn json_is_the_member_with_nothing_that_controls_a_terminal() {
    let advice = example::advice();
    assert_eq!(of(&advice, 80, &["--json", "-n", "1"]).as_bytes(), advice.to_bytes());
    let mut hostile = advice;
    hostile.advice[0].place.path = "a\u{9b}b\u{202e}c".into();
    let json = of(&hostile, 80, &["--json"]);
    assert!(json.contains(r"a\u009bb\u202ec"), "{json}");
    assert_eq!(AdviceFile::parse(json.as_bytes()), Ok(hostile.clone()));
    let text = of(&hostile, 120, &[]);
    assert!(text.contains("a\u{fffd}b\u{fffd}c"), "{text}");
}

#[test]
fn table_has_a_row_for_each_with_what_is_known() {
    let table = of(&example::advice(), 80, &["--tsv"]);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    let of_row = |row: usize, key: &str| rows[row][rows[0].iter().position(|it| *it == key).unwrap()];
    assert_eq!(rows.len(), 3);
    assert_eq!(
        [of_row(1, "rule"), of_row(1, "expected"), of_row(1, "scenario")],
        ["work/static", "0.0375", "balance=main/solve/work"]
    );
    assert_eq!([of_row(2, "rank"), of_row(2, "most_share"), of_row(2, "expected")], ["2", "0.3", ""]);
}

#[test]
fn damaged_member_is_left_out_with_a_message() {
    let wrong = AdviceFile { schema: "replay-advice/9".into(), ..example::advice() };
    let failed = printed(Some(&wrong), 80, &["advice"], &[]);
    assert_eq!((failed.status, failed.results.as_str()), (Status::Failed, ""));
    assert!(failed.messages.contains("expected \"replay-advice/1\""), "{}", failed.messages);
    let first = printed(Some(&wrong), 80, &[], &["--json"]);
    assert_eq!(first.status, Status::Done);
    assert!(first.messages.contains("r.cubex: member advice.json: schema"), "{}", first.messages);
    let value: Value = serde_json::from_str(&first.results).unwrap();
    assert_eq!(value["schema"], "replay-show.overview/1");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::write(&path, &Names::default(), |members| members.push((ADVICE.into(), b"{\xff".to_vec())));
    let failed = run(80, &["advice", path.to_str().unwrap()]);
    assert_eq!((failed.status, failed.results.as_str()), (Status::Failed, ""));
}

/// The first screen, and what scripts get of it.
fn first(advice: Option<&AdviceFile>) -> (String, Value) {
    let text = printed(advice, 120, &[], &[]);
    assert_eq!((text.status, text.messages.as_str()), (Status::Done, ""));
    let json = printed(advice, 120, &[], &["--json"]);
    (text.results, serde_json::from_str(&json.results).unwrap())
}

#[test]
fn first_screen_has_advice_in_the_place_of_culprits() {
    let (text, json) = first(Some(&example::advice()));
    let expected = "
Do first
 1 Work is not balanced: about 0.037 s, 37.5 % of the run [high]
   app/main/solve/work (solve.c:42)
   Rank 0 has most of the work: give each rank as much of it.
   check: --what-if=balance=main/solve/work
 2 Messages are late: at most 0.030 s, 30.0 % of the run [fair]
   app/main/solve/MPI_Recv (solve.c:42)
   Send earlier.

Where time went
";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("More: replay-show advice · tree · "), "{text}");
    let list = json["advice"].as_array().unwrap();
    assert_eq!(list.len(), 2);
    let share = |at: usize| (1000.0 * list[at]["share"].as_f64().unwrap()).round();
    assert_eq!((&list[0]["cnode"], share(0)), (&4.into(), 375.0));
    assert_eq!((&list[1]["expected"], share(1)), (&Value::Null, 300.0));
    // What others wait for stays what it is.
    assert_eq!(json["actions"], first(None).1["actions"]);
    assert_eq!(json["advice_together"], Value::Null);
}

#[test]
fn first_screen_says_where_advice_was_looked_for_and_there_is_none() {
    let (text, json) = first(Some(&example::no_advice()));
    assert!(
        text.contains(&format!("\nDo first\n {}\n\nWhere", nothing(&example::no_advice(), ALL).join("\n "))),
        "{text}"
    );
    assert!(!text.contains("others wait") && !text.contains("replay-show advice"), "{text}");
    assert_eq!(json["advice"], Value::Array(Vec::new()));
    assert!(!json["actions"].as_array().unwrap().is_empty());
}

#[test]
fn first_screen_without_advice_promises_no_gain() {
    let (text, json) = first(None);
    assert!(text.contains("\nDo first\n 1 Balance work: ") && text.contains("others wait 0.180 s"), "{text}");
    assert!(!text.contains("of the run [") && !text.contains("advice"), "{text}");
    assert_eq!((&json["advice"], &json["advice_together"]), (&Value::Null, &Value::Null));
}

#[test]
fn first_screen_has_three_of_many_and_what_all_save_only_with_all() {
    let with = |count: usize| {
        let one = example::advice().advice.remove(0);
        let advice = vec![one; count];
        first(Some(&AdviceFile { advice, together: Some(0.05), ..example::advice() })).0
    };
    let text = with(3);
    assert!(
        text.contains("\n 3 Work is") && text.contains("\n all of these together: about 0.050 s, 50.0 %\n"),
        "{text}"
    );
    let text = with(5);
    assert!(text.contains("\n and 2 more (replay-show advice)\n"), "{text}");
    assert!(!text.contains("\n 4 ") && !text.contains("together"), "{text}");
}

#[test]
fn place_that_the_report_does_not_have_is_named_and_not_linked() {
    let mut advice = example::advice();
    advice.advice[0].place.cnode = Some(5);
    advice.advice[1].place.cnode = None;
    let (text, json) = first(Some(&advice));
    assert!(text.contains("   app/main/solve/work (solve.c:42)\n"), "{text}");
    assert_eq!((&json["advice"][0]["cnode"], &json["advice"][1]["cnode"]), (&Value::Null, &Value::Null));
}
