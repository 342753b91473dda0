//! A file of rules: read or refused with places in it, in little time; what is read goes through rows and is judged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use replay_fuzz::check_message;
use rules::{ABSENT, Column, Context, Grouping, Names, Rows, Run, Schema, Source, Table, Type, Values};

/// Values of whole numbers; a column begins with one of them, by its position.
const WHOLE: [i64; 8] = [0, 1, 2, ABSENT, -1, 1_000_000, i64::MAX, 3];
const NUMBERS: [f64; 8] = [0.0, 0.5, f64::NAN, -1.0, 1e300, 1.0, f64::INFINITY, 2.0];
const FLAGS: [u8; 8] = [0, 1, 2, 1, 0, 1, 1, 0];

/// Rows of a table.
const COUNT: usize = 5;

struct Known;

impl Names for Known {
    fn name(&self, _: Type, _: u16, number: i64) -> Option<String> {
        (number < 4).then(|| format!("main/solve/MPI_{number}"))
    }

    fn line(&self, path: i64) -> Option<String> {
        (path < 2).then(|| format!("a.c:{path}"))
    }
}

/// A table of each kind with a column of each type.
fn schema() -> Schema {
    let columns = [
        ("wait", Type::Time),
        ("begin", Type::Instant),
        ("bytes", Type::Bytes),
        ("members", Type::Count),
        ("share", Type::Number),
        ("speed", Type::Rate),
        ("rank", Type::Rank),
        ("path", Type::Path),
        ("operation", Type::Operation),
        ("region", Type::Text),
        ("previous_region", Type::Text),
        ("next_region", Type::Text),
        ("late", Type::Bool),
    ];
    let columns = columns.map(|(name, kind)| Column::new(name, kind, "")).to_vec();
    let table = |name: &str, grouping| Table {
        name: name.to_owned(),
        about: String::new(),
        columns: columns.clone(),
        grouping,
    };
    Schema {
        tables: vec![
            table("message", Grouping::Plain),
            table("culprit", Grouping::Groups(vec!["path".to_owned()])),
            table("visit", Grouping::Visits),
            table("pair", Grouping::Pairs),
        ],
        run: vec![
            Column::new("all", Type::Time, ""),
            Column::new("ranks", Type::Count, ""),
            Column::new("library", Type::Text, ""),
            Column::new("sorted", Type::Bool, ""),
        ],
        operations: vec!["Barrier".to_owned(), "Bcast".to_owned()],
    }
}

// The whole input is the file; that which is no UTF-8 is replaced.
fuzz_target!(|input: &[u8]| {
    let source = Source::new("a.toml", String::from_utf8_lossy(input));
    let rules = match rules::read(std::slice::from_ref(&source), &schema()) {
        Ok(rules) => rules,
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a problem");
            let mut last = (0, 0);
            for problem in problems {
                check_message(&problem.message);
                let line = source.text.split('\n').nth(problem.line - 1).expect("a line of the file");
                assert!(problem.column <= line.chars().count() + 1, "a place in the line");
                assert!(!problem.excerpt.contains(char::is_control), "control characters");
                assert!(last <= (problem.line, problem.column), "in the order of places");
                last = (problem.line, problem.column);
            }
            return;
        }
    };
    let run = Run { ticks_per_second: 1e6, facts: vec![Some(4e6), Some(4.0), None, Some(1.0)] };
    let mut whole = rules.totals();
    let mut merged = rules.totals();
    for over in rules.tables() {
        let columns = &schema().tables[over.table].columns;
        let values = |column: usize| match columns[column].kind {
            Type::Number | Type::Rate => Values::Numbers(&NUMBERS[column % 3..][..COUNT]),
            Type::Bool => Values::Flags(&FLAGS[column % 3..][..COUNT]),
            _ if column == 3 => Values::Missing,
            _ => Values::Whole(&WHOLE[column % 3..][..COUNT]),
        };
        let values: Vec<Values<'_>> = (0..columns.len()).map(values).collect();
        let rows = Rows { count: COUNT, columns: &values };
        rules.scanner(over, &run).add(rows, None, &Known, &mut whole);
        let mut part = rules.totals();
        rules.scanner(over, &run).add(rows, None, &Known, &mut part);
        let words = part.to_words();
        let part = rules.totals_from_words(&words).expect("what was written");
        assert_eq!(part.to_words(), words, "the same words again");
        merged.merge(part);
    }
    assert_eq!(whole.to_words(), merged.to_words(), "the same of several workers");
    let context = Context { run: &run, names: &Known, cause: &|_, keys| keys.first().copied() };
    let outcome = rules.evaluate(&whole, &context);
    for finding in &outcome.findings {
        assert!(finding.severity.is_finite() && finding.gain.is_none_or(f64::is_finite), "a number");
    }
    let turned = [Source::new("b.toml", "format = 1"), source];
    let again = rules::read(&turned, &schema()).expect("another file has no influence");
    assert_eq!(again, rules, "the same rules");
});
