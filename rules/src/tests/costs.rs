//! What rules cost: `cargo test --release -p rules -- --ignored --nocapture costs`.

use std::time::Instant;

use super::{Known, rules, run};
use crate::{Over, Rows, Rules, Values};

/// Rows of the table of collective operations that are gone through at once.
const ROWS: usize = 1 << 20;

/// A file with as many rules as there may be, each with this condition, all of them different by a number at `@`.
fn file(rule: &str) -> String {
    let one = |at: usize| {
        let rule = rule.replace('@', &format!("{at}"));
        format!(
            "[[rule]]\nid = 'a/r{at}'\nover = 'collective'\n{rule}\nseverity = '1 s'\ntitle = 't'\nadvice = 'a'\n"
        )
    };
    (0..256).fold("format = 1\n".to_owned(), |all, at| all + &one(at))
}

/// Seconds for so many times the rows, with all columns.
fn seconds(rules: &Rules, times: usize) -> f64 {
    let number = |step: usize| (0..ROWS).map(move |row| (row * step % 1000) as i64);
    let columns: Vec<Vec<i64>> =
        (1..=rules.schema.tables[0].columns.len()).map(|at| number(2 * at + 1).collect()).collect();
    // Names are few: operations, paths and texts.
    let columns: Vec<Vec<i64>> =
        (rules.schema.tables[0].columns.iter().zip(columns))
            .map(|(about, values)| {
                if about.kind.is_name() {
                    values.into_iter().map(|value| value % 4).collect()
                } else {
                    values
                }
            })
            .collect();
    let values: Vec<Values<'_>> = columns.iter().map(|column| Values::Whole(column)).collect();
    let mut totals = rules.totals();
    let mut scanner = rules.scanner(Over { table: 0, event: None }, &run());
    let begin = Instant::now();
    for _ in 0..times {
        scanner.add(Rows { count: ROWS, columns: &values }, None, &Known, &mut totals);
    }
    begin.elapsed().as_secs_f64()
}

/// Files of 256 rules that are nearly as bad as they may be: what each rule has, and how often the rows are gone through.
fn files() -> [(&'static str, String, usize); 4] {
    let chain = |part: &str, count: usize, sign: &str| vec![part; count].join(sign);
    let any = chain("wait > @ us", 31, " or ");
    let sum = chain("wait + bytes / 1 B * completion", 8, " + ");
    let eight: String = (0..8).map(|at| format!("s{at} = 'sum({sum} + @ us + {at} us)'\n")).collect();
    let filtering = |filter: &str| format!("where = '{filter}'\n[rule.finds]\nwhen = 'count() > 0'");
    [
        (
            "condition of 125 parts whose first one never holds",
            filtering(&format!("wait < 0 s and ({any})")),
            10,
        ),
        ("condition of 61 steps", filtering(&any), 10),
        ("sum of 57 steps", format!("[rule.finds]\nwhen = 'sum({sum} + @ us) > 0 s'"), 10),
        ("eight sums of 58 steps", format!("[rule.let]\n{eight}[rule.finds]\nwhen = 's7 > 0 s'"), 1),
    ]
}

#[test]
fn files_that_are_nearly_as_bad_as_they_may_be_are_within_the_limits() {
    for (what, rule, _) in files() {
        assert_eq!(rules(&file(&rule)).rules().len(), 256, "{what}");
    }
}

#[test]
#[ignore = "takes minutes: numbers for benches/records"]
fn costs_of_files_that_are_nearly_as_bad_as_they_may_be() {
    for (what, rule, times) in files() {
        let seconds = seconds(&rules(&file(&rule)), times);
        println!("{what}, 256 rules: {seconds:.1} s for {} rows", ROWS * times);
    }
}
