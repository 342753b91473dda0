//! From files and rows to findings. What is here for all tests: tables as advice 5.2 has them, and names.

mod costs;
mod errors;
mod examples;
mod finding;
mod reading;
mod specification;
mod workers;

use crate::rows::Values;
use crate::{
    Column, Context, Grouping, Names, Outcome, Over, Problem, Rows, Rules, Run, Schema, Source, Table,
    Totals, Type,
};

/// Columns from pairs of names and types; those of type path, operation and text are of the site.
fn columns(list: &[(&str, Type)]) -> Vec<Column> {
    let of_site = |kind: Type| matches!(kind, Type::Path | Type::Operation | Type::Text);
    let column = |&(name, kind): &(&str, Type)| Column::new(name, kind, "");
    list.iter()
        .map(column)
        .map(|column| if of_site(column.kind) { column.of_site() } else { column })
        .collect()
}

fn table(name: &str, grouping: Grouping, list: &[(&str, Type)]) -> Table {
    let mut columns = columns(list);
    columns.extend(self::columns(&[
        ("rank", Type::Rank),
        ("path", Type::Path),
        ("region", Type::Text),
        ("line", Type::Text),
    ]));
    Table { name: name.to_owned(), about: String::new(), columns, grouping }
}

/// Tables, columns and facts that the examples of advice 5 use.
pub(crate) fn schema() -> Schema {
    use Type::{Bool, Bytes, Count, Instant, Number, Operation, Path, Rank, Text, Time};
    let culprit = [
        ("cost", Time),
        ("cost_by(late_sender)", Time),
        ("static_share", Number),
        ("ranks", Count),
        ("ranks.most", Rank),
        ("ranks.ratio", Number),
        ("serial", Bool),
    ];
    let message = [
        ("bytes", Bytes),
        ("source", Rank),
        ("destination", Rank),
        ("send_path", Path),
        ("receive_path", Path),
        ("late_sender", Time),
        ("send_time", Time),
        ("between_receive_and_send", Time),
        ("sender_in_mpi", Time),
        ("sender_call", Text),
        ("two_way", Bool),
        ("same_envelope", Bool),
        ("send_enter", Instant),
        ("receive_enter", Instant),
    ];
    let collective = [
        ("operation", Operation),
        ("wait", Time),
        ("completion", Time),
        ("bytes", Bytes),
        ("last_rank", Rank),
        ("previous_region", Text),
        ("next_region", Text),
    ];
    let instance = [("time", Time), ("waiting", Time), ("between", Time)];
    let facts = [
        ("T", Time),
        ("all", Time),
        ("ranks", Count),
        ("wait_bound", Time),
        ("conserve_bound", Time),
        ("library", Text),
    ];
    Schema {
        tables: vec![
            table("collective", Grouping::Plain, &collective),
            table("culprit", Grouping::Groups(vec!["path".to_owned()]), &culprit),
            table("message", Grouping::Plain, &message),
            table("pair", Grouping::Pairs, &instance),
            table("place", Grouping::Plain, &[("time", Time), ("delay", Time), ("share", Number)]),
            table("visit", Grouping::Visits, &instance[..2]),
        ],
        run: columns(&facts),
        operations: ["Barrier", "Bcast", "Reduce", "Allreduce"].map(str::to_owned).to_vec(),
    }
}

/// A rule about collective operations with some lines of its own and of `finds`.
pub(crate) fn rule(lines: &str, finds: &str) -> String {
    format!(
        "format = 1\n[[rule]]\nid = \"a/b\"\nover = \"collective\"\n{lines}\n[rule.finds]\n{finds}\ntitle = \"t\"\nadvice = \"a\"\n"
    )
}

/// A rule with this `where` that always finds something.
pub(crate) fn filter(expression: &str) -> String {
    rule(&format!("where = '{expression}'"), "when = 'count() > 0'\nseverity = '1 s'")
}

/// A rule with this `when`.
pub(crate) fn when(expression: &str) -> String {
    rule("by = ['path']", &format!("when = '{expression}'\nseverity = '1 s'"))
}

pub(crate) fn read(text: &str) -> Result<Rules, Vec<Problem>> {
    crate::read(&[Source::new("a.toml", text)], &schema())
}

#[track_caller]
pub(crate) fn rules(text: &str) -> Rules {
    match read(text) {
        Ok(rules) => rules,
        Err(problems) => panic!("{}", problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")),
    }
}

/// Names of paths, and of texts; operations are those of the schema.
pub(crate) struct Known;

pub(crate) const PATHS: [&str; 4] =
    ["main/solve/MPI_Allreduce", "main/MPI_Barrier", "main/write/MPI_Gather", "main/relax"];

const TEXTS: [&str; 4] = ["MPI_Allreduce", "MPI_Barrier", "MPI_File_open", "relax"];

impl Names for Known {
    fn name(&self, kind: Type, _: u16, number: i64) -> Option<String> {
        let number = usize::try_from(number).ok()?;
        match kind {
            Type::Path => PATHS.get(number).map(|&name| name.to_owned()),
            Type::Text => TEXTS.get(number).map(|&name| name.to_owned()),
            Type::Operation => schema().operations.get(number).cloned(),
            _ => None,
        }
    }

    fn line(&self, path: i64) -> Option<String> {
        Some(format!("solver.c:{}", 10 + path))
    }
}

/// A run of 10 s on 4 ranks with ticks of a microsecond, whose bounds are not known.
pub(crate) fn run() -> Run {
    Run { ticks_per_second: 1e6, facts: vec![Some(1e7), Some(4e7), Some(4.0), None, None, Some(3.0)] }
}

/// Columns of whole numbers by name, of the same length; all others are missing.
pub(crate) type Given<'g> = &'g [(&'g str, Vec<i64>)];

/// Gathers rows of a table.
pub(crate) fn gathered(rules: &Rules, table: &str, given: Given<'_>) -> Totals {
    let position = rules.schema.tables.iter().position(|known| known.name == table).unwrap();
    let over = rules.tables().into_iter().find(|over| over.table == position).unwrap();
    let mut totals = rules.totals();
    add(rules, over, given, &mut totals);
    totals
}

/// Adds rows of a table.
pub(crate) fn add(rules: &Rules, over: Over, given: Given<'_>, totals: &mut Totals) {
    let columns = &rules.schema.tables[over.table].columns;
    for (name, _) in given {
        assert!(columns.iter().any(|column| column.name == *name), "{name}");
    }
    let flags: Vec<(&str, Vec<u8>)> = given
        .iter()
        .map(|(name, values)| (*name, values.iter().map(|&value| u8::try_from(value).unwrap_or(2)).collect()))
        .collect();
    let numbers: Vec<(&str, Vec<f64>)> = given
        .iter()
        .map(|(name, values)| (*name, values.iter().map(|&value| value as f64 / 100.0).collect()))
        .collect();
    let values: Vec<Values<'_>> = columns
        .iter()
        .map(|column| match given.iter().position(|(name, _)| *name == column.name) {
            None => Values::Missing,
            Some(at) => match column.kind {
                Type::Bool => Values::Flags(&flags[at].1),
                Type::Number => Values::Numbers(&numbers[at].1),
                _ => Values::Whole(&given[at].1),
            },
        })
        .collect();
    let count = given.first().map_or(0, |(_, values)| values.len());
    rules.scanner(over, &run()).add(Rows { count, columns: &values }, None, &Known, totals);
}

/// Judges groups; the cause of all waits is `main/relax`.
pub(crate) fn outcome(rules: &Rules, totals: &Totals) -> Outcome {
    rules.evaluate(totals, &Context { run: &run(), names: &Known, cause: &|_, _| Some(3) })
}

/// What a file with one rule about collective operations finds in rows.
#[track_caller]
pub(crate) fn found(text: &str, given: Given<'_>) -> Outcome {
    let rules = rules(text);
    outcome(&rules, &gathered(&rules, "collective", given))
}
