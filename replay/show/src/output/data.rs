//! Documents for scripts: JSON, CSV and TSV, with full precision, times in seconds, and `.` as decimal point.

use serde_json::{Map, Value};

use super::document::{Cell, Document, Part, Shown, Table};
use super::names::{is_hostile, printable};

/// A document as JSON: an object with `schema`, the facts, and each table as a list of objects.
pub(super) fn json(document: &Document) -> String {
    let mut object = Map::new();
    object.insert("schema".to_owned(), format!("replay-show.{}/1", document.command).into());
    object.extend(document.facts.clone());
    for table in tables(document) {
        let rows = table.rows.iter().map(|row| {
            let cells =
                data_columns(table).zip(row).filter_map(|(key, cell)| Some((key?.to_owned(), value(cell))));
            Value::Object(cells.collect())
        });
        object.insert(table.key.to_owned(), rows.collect());
    }
    escaped(&serde_json::to_string_pretty(&Value::Object(object)).unwrap_or_default()) + "\n"
}

/// JSON without hostile characters, which can be within strings only.
pub(crate) fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len() + 1);
    for letter in json.chars() {
        // Space between values; strings have none of these as they are.
        if is_hostile(letter) && !matches!(letter, '\n' | '\r' | '\t') {
            let mut units = [0; 2];
            letter.encode_utf16(&mut units).iter().for_each(|unit| escaped += &format!("\\u{unit:04x}"));
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

/// The first table of a document as CSV (RFC 4180, but lines end with a line feed).
pub(super) fn csv(document: &Document) -> String {
    separated(document, ",", |text| {
        if text.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text
        }
    })
}

/// The first table of a document as TSV: no name has a tabulator or line feed.
pub(super) fn tsv(document: &Document) -> String {
    separated(document, "\t", |text| text)
}

fn separated(document: &Document, separator: &str, quote: impl Fn(String) -> String) -> String {
    let Some(table) = tables(document).next() else { return String::new() };
    let keys: Vec<Option<&str>> = data_columns(table).collect();
    let titles = keys.iter().flatten().map(|key| quote(name(key)));
    let mut text = titles.collect::<Vec<_>>().join(separator) + "\n";
    for row in &table.rows {
        let cells = keys.iter().zip(row).filter(|(key, _)| key.is_some()).map(|(_, cell)| quote(field(cell)));
        text += &cells.collect::<Vec<_>>().join(separator);
        text.push('\n');
    }
    text
}

fn tables(document: &Document) -> impl Iterator<Item = &Table> {
    document.parts.iter().filter_map(|part| match part {
        Part::Table(table) if table.shown != Shown::TextOnly => Some(table),
        _ => None,
    })
}

/// The keys of columns; `None` for those that only text shows.
fn data_columns(table: &Table) -> impl Iterator<Item = Option<&str>> {
    table.columns.iter().map(|column| (column.shown != Shown::TextOnly).then_some(column.key.as_str()))
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Nothing | Cell::Obstacle(_) | Cell::Bar(_) => Value::Null,
        Cell::Name(name) | Cell::Title(name) | Cell::Location(name) | Cell::Node { name, .. } => {
            name.as_str().into()
        }
        Cell::Words(line) => line.spans.iter().map(|span| span.text.as_str()).collect::<String>().into(),
        // Not a number, or infinite: null.
        Cell::Number(value, _)
        | Cell::Sparse(value, _)
        | Cell::Signed(value, _, _)
        | Cell::Change(value, _)
        | Cell::Share(value)
        | Cell::Ratio(value) => (*value).into(),
        Cell::Integer(number) => (*number).into(),
        Cell::Data(value) => value.clone(),
    }
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Nothing | Cell::Obstacle(_) | Cell::Bar(_) => String::new(),
        Cell::Name(text) | Cell::Title(text) | Cell::Location(text) | Cell::Node { name: text, .. } => {
            name(text)
        }
        Cell::Words(line) => name(&line.spans.iter().map(|span| span.text.as_str()).collect::<String>()),
        Cell::Signed(value, _, _) | Cell::Change(value, _) if !value.is_finite() => String::new(),
        Cell::Number(value, _)
        | Cell::Sparse(value, _)
        | Cell::Signed(value, _, _)
        | Cell::Change(value, _)
        | Cell::Share(value)
        | Cell::Ratio(value) => value.to_string(),
        Cell::Integer(number) => number.to_string(),
        Cell::Data(Value::Null) => String::new(),
        Cell::Data(Value::String(text)) => name(text),
        Cell::Data(value) => value.to_string(),
    }
}

/// A name that no spreadsheet takes for a formula.
fn name(text: &str) -> String {
    let text = printable(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Column, Line};
    use crate::values::Unit;

    fn document(text: &str) -> Document {
        let mut table =
            Table::new("rows", vec![Column::new("name", ""), Column::new("time", ""), Column::text("more")]);
        let time = Cell::Number(0.1 + 0.2, Unit::Seconds);
        table.rows.push(vec![Cell::Name(text.into()), time, Cell::Words(Line::from("words"))]);
        let mut document = Document::new("test");
        document.fact("file", "a");
        document.table(table);
        document
    }

    #[test]
    fn json_has_schema_facts_and_tables_in_full_precision() {
        let value: Value = serde_json::from_str(&json(&document("a\u{202e}\n\"b"))).unwrap();
        assert_eq!(value["schema"], "replay-show.test/1");
        assert_eq!(value["file"], "a");
        assert_eq!(value["rows"][0]["name"], "a\u{202e}\n\"b");
        assert_eq!(value["rows"][0]["time"], 0.1 + 0.2);
        assert!(value["rows"][0].get("more").is_none());
        assert!(json(&document("\u{202e}\u{85}")).contains("\\u202e\\u0085"));
    }

    #[test]
    fn csv_quotes_and_defuses_names() {
        assert_eq!(csv(&document("a,\"b\"")), "name,time\n\"a,\"\"b\"\"\",0.30000000000000004\n");
        assert_eq!(csv(&document("=1+2")), "name,time\n'=1+2,0.30000000000000004\n");
        assert_eq!(tsv(&document("a\tb")), "name\ttime\na\u{fffd}b\t0.30000000000000004\n");
    }
}
