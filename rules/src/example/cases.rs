//! Cases of examples: rows by column, made of what a file says.

use std::cell::RefCell;

use crate::Type;
use crate::lex::{TokenKind, token};
use crate::read::{Cell, RawCase, RawExample};
use crate::rows::{ABSENT, ABSENT_FLAG, OwnedValues, Run, Values};
use crate::rule::{Rule, Rules};
use crate::schema::{Column, Names};
use crate::source::{Place, Problems, Text, quoted};
use crate::suggest::suggestion;

/// Ticks of a second in examples.
const TICKS: f64 = 1e9;

/// The column that is none: how often a row is there.
const TIMES: &str = "times";

/// Rows of all cases at most, those that are there several times counted as often.
const MOST_ROWS: usize = 1 << 20;

/// A case of an example.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(super) place: Place,
    /// Whether the rule finds something.
    pub(super) finds: bool,
    pub(super) rows: usize,
    /// Those that the rule reads; others are missing.
    columns: Vec<OwnedValues>,
    pub(super) run: Run,
    pub(super) known: Known,
}

/// Names that an example has, each once: paths and texts are positions here.
#[derive(Clone, Default, Debug)]
pub(super) struct Known {
    names: RefCell<Vec<String>>,
    operations: Vec<String>,
}

impl Known {
    fn new(rules: &Rules) -> Known {
        Known { operations: rules.schema.operations.clone(), ..Known::default() }
    }

    fn number(&self, name: &str) -> i64 {
        let mut names = self.names.borrow_mut();
        let at = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        i64::try_from(at).expect("names are few")
    }
}

impl Names for Known {
    fn name(&self, kind: Type, _: u16, number: i64) -> Option<String> {
        let number = usize::try_from(number).ok()?;
        match kind {
            Type::Operation => self.operations.get(number).cloned(),
            Type::Path | Type::Text => self.names.borrow().get(number).cloned(),
            _ => None,
        }
    }

    fn line(&self, _: i64) -> Option<String> {
        None
    }
}

/// Checks names and values of an example of a rule, and adds its rows to those of others.
pub(crate) fn check(
    rules: &Rules,
    rule: &Rule,
    example: &RawExample,
    rows: &mut usize,
    problems: &mut Problems,
) {
    let columns = &rules.schema.tables[rule.over.table].columns;
    let known = Known::new(rules);
    let cells = example.rows.iter().chain(example.cases.iter().map(|case| &case.cells)).flatten();
    for (name, text) in cells {
        let kind = match name.text.as_str() {
            TIMES => Some(Type::Count),
            _ => column(columns, name, problems).map(|at| columns[at].kind),
        };
        kind.and_then(|kind| value(text, kind, &known, problems));
    }
    for (name, text) in example.run.iter().chain(example.cases.iter().flat_map(|case| &case.run)) {
        if let Some(at) = column(&rules.schema.run, name, problems) {
            value(text, rules.schema.run[at].kind, &known, problems);
        }
    }
    for case in &example.cases {
        let before = *rows;
        let of_case = example.rows.iter().map(|row| times(&changed(row, case)));
        *rows = of_case.fold(before, usize::saturating_add);
        if *rows > MOST_ROWS && before <= MOST_ROWS {
            problems.add(case.place, format!("more than {MOST_ROWS} rows of all cases so far"));
        }
    }
}

impl Case {
    /// The cases of an example of a rule that was checked.
    pub(super) fn all(rules: &Rules, rule: &Rule, example: &RawExample) -> Vec<Case> {
        let schema = &rules.schema;
        let columns = &schema.tables[rule.over.table].columns;
        let read = rules.columns(rule.over);
        let of_case = |case: &RawCase| {
            let known = Known::new(rules);
            let rows: Vec<Vec<&Cell>> = example.rows.iter().map(|row| changed(row, case)).collect();
            let mut facts = vec![None; schema.run.len()];
            for (name, text) in example.run.iter().chain(&case.run) {
                if let Some(at) = position(&schema.run, &name.text) {
                    facts[at] = number_of(&text.text, schema.run[at].kind, &known);
                }
            }
            Case {
                place: case.place,
                finds: case.finds,
                rows: rows.iter().map(|row| times(row)).sum(),
                columns: filled(&rows, (columns, &read), &known),
                run: Run { ticks_per_second: TICKS, facts },
                known,
            }
        };
        example.cases.iter().map(of_case).collect()
    }

    /// Its rows by column.
    pub(super) fn columns(&self) -> Vec<Values<'_>> {
        self.columns.iter().map(OwnedValues::values).collect()
    }
}

/// Values that are not there, of so many rows.
fn absent(kind: Type, count: usize) -> OwnedValues {
    match kind {
        Type::Bool => OwnedValues::Flags(vec![ABSENT_FLAG; count]),
        kind if kind.is_whole() => OwnedValues::Whole(vec![ABSENT; count]),
        _ => OwnedValues::Numbers(vec![f64::NAN; count]),
    }
}

/// Puts a value into some rows of a column, if it is there.
// Whole values of examples are far below 2^53, and have been rounded.
#[allow(clippy::cast_possible_truncation)]
fn fill(column: &mut OwnedValues, rows: std::ops::Range<usize>, value: f64) {
    match column {
        OwnedValues::Whole(values) => values[rows].fill(value as i64),
        OwnedValues::Numbers(values) => values[rows].fill(value),
        OwnedValues::Flags(values) => values[rows].fill(u8::from(value == 1.0)),
        OwnedValues::Missing => {}
    }
}

/// A row with what a case changes in it.
fn changed<'c>(row: &'c [Cell], case: &'c RawCase) -> Vec<&'c Cell> {
    let stays = |cell: &&Cell| case.cells.iter().all(|own| own.0.text != cell.0.text);
    case.cells.iter().chain(row.iter().filter(stays)).collect()
}

/// How often a row is there.
fn times(row: &[&Cell]) -> usize {
    let cell = row.iter().find(|cell| cell.0.text == TIMES);
    cell.map_or(1, |(_, text)| quantity(&text.text, Type::Count).map_or(0, whole))
}

/// Columns of rows, each as often as it says; of those that are read.
fn filled(rows: &[Vec<&Cell>], (columns, read): (&[Column], &[usize]), known: &Known) -> Vec<OwnedValues> {
    let count = rows.iter().map(|row| times(row)).sum();
    let of_kind = |name: &str, kind| columns.iter().position(|it| it.name == name && it.kind == kind);
    let (path, region) = (of_kind("path", Type::Path), of_kind("region", Type::Text));
    let empty = |(at, column): (usize, &Column)| match read.contains(&at) {
        true => absent(column.kind, count),
        false => OwnedValues::Missing,
    };
    let mut filled: Vec<OwnedValues> = columns.iter().enumerate().map(empty).collect();
    let mut end = 0;
    for row in rows {
        let range = end..end + times(row);
        end = range.end;
        let mut put = |at: usize, text: &str| {
            if let Some(value) = number_of(text, columns[at].kind, known) {
                fill(&mut filled[at], range.clone(), value);
            }
        };
        // A call path ends with its function, unless the row has another one.
        if let (Some(path), Some(region)) = (path, region)
            && let Some((_, text)) = row.iter().find(|cell| cell.0.text == columns[path].name)
        {
            put(region, text.text.rsplit('/').next().unwrap_or_default());
        }
        for (name, text) in row {
            if let Some(at) = position(columns, &name.text) {
                put(at, &text.text);
            }
        }
    }
    filled
}

/// The position of a column or fact.
fn position(columns: &[Column], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.name == name)
}

/// The same; says if there is none.
fn column(columns: &[Column], name: &Text, problems: &mut Problems) -> Option<usize> {
    let at = position(columns, &name.text);
    if at.is_none() {
        let hint = suggestion(&name.text, columns.iter().map(|column| column.name.as_str()));
        problems.add(name.start(), format!("unknown column {}{hint}", quoted(&name.text)));
    }
    at
}

/// A value of a type: times in ticks, names as numbers, truth as 1.
fn value(text: &Text, kind: Type, known: &Known, problems: &mut Problems) -> Option<f64> {
    let found = number_of(&text.text, kind, known);
    if found.is_none() {
        let kind = if kind == Type::Rank { "whole number" } else { kind.name() };
        problems.add(text.start(), format!("{} is no {kind}", quoted(&text.text)));
    }
    found
}

/// The same of a text; `None` if it is none of the type.
fn number_of(written: &str, kind: Type, known: &Known) -> Option<f64> {
    match kind {
        Type::Bool => match written {
            "true" => Some(1.0),
            "false" => Some(0.0),
            _ => None,
        },
        Type::Path | Type::Text => Some(number(known.number(written))),
        Type::Operation => {
            let at = known.operations.iter().position(|operation| operation == written);
            at.and_then(|at| i64::try_from(at).ok()).map(number)
        }
        _ => quantity(written, kind),
    }
}

/// A number with its unit, of a type that has numbers.
fn quantity(written: &str, kind: Type) -> Option<f64> {
    let (sign, digits) = written.strip_prefix('-').map_or((1.0, written), |digits| (-1.0, digits));
    let word = token(digits, 0).ok().filter(|word| word.at.end == digits.len())?;
    let TokenKind::Number(number, of) = word.kind else { return None };
    let value = sign * number;
    match (kind, of) {
        (Type::Time | Type::Instant, Type::Time) => Some((value * TICKS).round()),
        (Type::Bytes, Type::Bytes) => Some(value.round()),
        (Type::Count | Type::Rank, Type::Count) => Some(value),
        (Type::Number, Type::Number | Type::Count) => Some(value),
        // Bytes of a second are those of so many ticks.
        (Type::Rate, Type::Bytes) => Some(value / TICKS),
        _ => None,
    }
}

// Numbers of names are few, and counts were read as such.
#[allow(clippy::cast_precision_loss)]
fn number(number: i64) -> f64 {
    number as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(count: f64) -> usize {
    count.max(0.0) as usize
}
