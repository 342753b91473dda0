//! Windows of events as JSON: what a request asks for is read from the trace.

use std::sync::{Mutex, PoisonError};

use details::manifest::Manifest;
use details::{Table, Values};
use replay::details::windows::{MOST_LOCATIONS, TraceWindows};
use serde_json::{Map, Value};

use super::response::Response;

/// Stands for none in columns of 32 bits.
const NONE: u32 = u32::MAX;

/// The trace of a report, or why there is none.
#[derive(Debug)]
pub(super) struct Windows {
    /// One window is read at a time: each may take much memory.
    trace: Mutex<Result<TraceWindows, String>>,
    ticks_per_second: u64,
}

impl Windows {
    /// Windows of a trace.
    pub(super) fn new(trace: Result<TraceWindows, String>, manifest: Option<&Manifest>) -> Windows {
        let ticks_per_second = manifest.map_or(0, |manifest| manifest.ticks_per_second);
        Windows { trace: Mutex::new(trace), ticks_per_second }
    }

    /// Answers a query: `begin=TICKS&end=TICKS&locations=N,N`.
    pub(super) fn answer(&self, query: &str) -> Response {
        let wanted = match Wanted::parse(query) {
            Ok(wanted) => wanted,
            Err(message) => return error(400, &message),
        };
        let trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        let trace = match &*trace {
            Ok(trace) => trace,
            Err(message) => return error(404, message),
        };
        match trace.read(wanted.begin..wanted.end, &wanted.locations) {
            Ok(tables) => json(200, &self.object(&wanted, &tables)),
            Err(message) => error(400, &message.to_string()),
        }
    }

    fn object(&self, wanted: &Wanted, tables: &[(Table, Option<String>)]) -> Value {
        let mut object = Map::new();
        object.insert("schema".into(), "replay-window/1".into());
        object.insert("ticks_per_second".into(), self.ticks_per_second.into());
        object.insert("begin".into(), wanted.begin.into());
        object.insert("end".into(), wanted.end.into());
        object.insert("locations".into(), wanted.locations.clone().into());
        let mut complete = Map::new();
        for (table, left_out) in tables {
            if table.name == "windows" {
                let dropped = table.column("dropped_below").map(|column| numbers(&column.values));
                let dropped = dropped.and_then(|all| all.first().cloned());
                object.insert("dropped_below".into(), dropped.unwrap_or_default());
                continue;
            }
            complete.insert(table.name.clone(), left_out.clone().map_or(Value::Bool(true), Value::from));
            // There is one window only.
            let columns = table.columns.iter().filter(|column| column.name != "window");
            let columns = columns.map(|column| (column.name.clone(), numbers(&column.values).into()));
            object.insert(table.name.clone(), Value::Object(columns.collect()));
        }
        object.insert("complete".into(), Value::Object(complete));
        Value::Object(object)
    }
}

/// The numbers of a column; null for none.
fn numbers(values: &Values) -> Vec<Value> {
    match values {
        Values::U8(rows) => rows.iter().map(|&row| row.into()).collect(),
        Values::U16(rows) => rows.iter().map(|&row| row.into()).collect(),
        Values::U32(rows) => {
            rows.iter().map(|&row| if row == NONE { Value::Null } else { row.into() }).collect()
        }
        Values::U64(rows) => rows.iter().map(|&row| row.into()).collect(),
        Values::I64(rows) => rows.iter().map(|&row| row.into()).collect(),
        Values::F64(rows) => rows.iter().map(|&row| row.into()).collect(),
        Values::Bytes(_) => Vec::new(),
    }
}

fn json(status: u16, value: &Value) -> Response {
    let mut body = serde_json::to_vec(value).unwrap_or_default();
    body.push(b'\n');
    Response::new(status, "application/json", body)
}

fn error(status: u16, message: &str) -> Response {
    json(status, &serde_json::json!({ "error": message }))
}

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Wanted {
    begin: i64,
    end: i64,
    locations: Vec<u32>,
}

impl Wanted {
    fn parse(query: &str) -> Result<Wanted, String> {
        let (mut begin, mut end, mut locations) = (None, None, None);
        let expected = "expected begin=TICKS&end=TICKS&locations=N,N";
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let wrong = || format!("{key}: no number; {expected}");
            match key {
                "begin" => begin = Some(value.parse().map_err(|_| wrong())?),
                "end" => end = Some(value.parse().map_err(|_| wrong())?),
                "locations" => {
                    // A comma may come as its number.
                    let value = value.replace("%2C", ",").replace("%2c", ",");
                    let numbers = value.split(',').take(MOST_LOCATIONS + 1).map(str::parse);
                    locations = Some(numbers.collect::<Result<_, _>>().map_err(|_| wrong())?);
                }
                _ => return Err(format!("unknown key; {expected}")),
            }
        }
        match (begin, end, locations) {
            (Some(begin), Some(end), Some(locations)) => Ok(Wanted { begin, end, locations }),
            _ => Err(expected.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_or_refused() {
        let wanted = Wanted { begin: 10, end: 20, locations: vec![0, 3] };
        assert_eq!(Wanted::parse("begin=10&end=20&locations=0,3"), Ok(wanted.clone()));
        assert_eq!(Wanted::parse("locations=0%2C3&end=20&begin=10&"), Ok(wanted));
        for wrong in [
            "",
            "begin=10",
            "begin=x&end=20&locations=1",
            "begin=1&end=2&locations=",
            "begin=1&end=2&locations=-1",
            "begin=1&end=99999999999999999999&locations=1",
            "begin=1&end=2&locations=1&more=1",
        ] {
            assert!(Wanted::parse(wrong).unwrap_err().contains("expected begin"), "{wrong}");
        }
    }
}
