//! Examples of a file as they stand there: rows of a table, and changes of them with which a rule finds something, or does not.

use super::fields::Fields;
use super::raw::missing;
use crate::source::{Place, Problems, Text};

/// Examples of a file at most.
const MOST_EXAMPLES: usize = 1024;

/// Rows of an example, and changes of them, at most.
const MOST_LISTED: usize = 64;

/// Values of a row at most.
const MOST_VALUES: usize = 64;

const KEYS: [&str; 5] = ["rule", "run", "rows", "finds", "silent"];

/// The name of a column or fact, and its value.
pub(crate) type Cell = (Text, Text);

/// An example.
#[derive(Debug)]
pub(crate) struct RawExample {
    pub(crate) rule: Text,
    pub(crate) run: Vec<Cell>,
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) cases: Vec<RawCase>,
}

/// What is changed in all rows and in the run, and whether the rule then finds something.
#[derive(Debug)]
pub(crate) struct RawCase {
    pub(crate) place: Place,
    pub(crate) finds: bool,
    pub(crate) run: Vec<Cell>,
    pub(crate) cells: Vec<Cell>,
}

/// Reads the examples of a file.
pub(super) fn read(fields: &Fields<'_>, problems: &mut Problems) -> Vec<RawExample> {
    let all = fields.tables("example", MOST_EXAMPLES, problems);
    all.iter().filter_map(|fields| example(fields, problems)).collect()
}

fn example(fields: &Fields<'_>, problems: &mut Problems) -> Option<RawExample> {
    fields.check_keys(&KEYS, problems);
    let rows = fields.tables("rows", MOST_LISTED, problems);
    let cases = [("finds", true), ("silent", false)].map(|(key, finds)| {
        let cases = fields.tables(key, MOST_LISTED, problems);
        cases.iter().map(|case| self::case(case, finds, problems)).collect::<Vec<_>>()
    });
    let example = RawExample {
        rule: fields.text("rule", problems).or_else(|| {
            if !fields.has("rule") {
                missing(fields.place(), "example", "rule", problems);
            }
            None
        })?,
        run: run(fields, problems),
        rows: rows.iter().map(|row| row.cells(MOST_VALUES, problems)).collect(),
        cases: cases.into_iter().flatten().collect(),
    };
    if example.cases.is_empty() {
        problems.add(fields.place(), "example without \"finds\" and \"silent\", expected one of them");
    }
    Some(example)
}

fn case(fields: &Fields<'_>, finds: bool, problems: &mut Problems) -> RawCase {
    RawCase {
        place: fields.place(),
        finds,
        run: run(fields, problems),
        cells: fields.without("run").cells(MOST_VALUES, problems),
    }
}

fn run(fields: &Fields<'_>, problems: &mut Problems) -> Vec<Cell> {
    fields.table("run", problems).map(|run| run.cells(MOST_VALUES, problems)).unwrap_or_default()
}
