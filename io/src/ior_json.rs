//! What IOR measured, from its own output (`-O summaryFormat=JSON`), as lines of a table of systems (io.md 4.9).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::access::Kind;
use crate::numbers::to_f64;
use crate::systems::{MIB, Manners, Measured, Problem};

/// The lines that the output of IOR makes, for a system of this name; one for writing and one for reading of each test, with the
/// median of all runs. Bandwidth is bytes / `wrRdTime` where that is there, as opening is not in what is measured here, else `bwMiB`.
///
/// # Errors
/// If it is no such output; the problem names the test and the field.
pub fn read_ior(file: &str, text: &str, system: &str) -> Result<Vec<Measured>, Problem> {
    let problem = |line, field: String, text: &str| Problem {
        file: file.to_owned(),
        line,
        field,
        text: text.to_owned(),
    };
    let json: Value = serde_json::from_str(text)
        .map_err(|error| problem(error.line(), String::new(), &format!("no JSON: {error}")))?;
    let tests = json.get("tests").and_then(Value::as_array);
    let tests = tests.ok_or_else(|| problem(0, "tests".to_owned(), "no list of tests of IOR"))?;
    let mut made = Vec::new();
    for (number, test) in (1..).zip(tests) {
        let test = Test { test };
        let lines = test.measured(file, system);
        made.extend(
            lines.map_err(|field| problem(0, format!("test {number}: {field}"), "missing or wrong"))?,
        );
    }
    Ok(made)
}

struct Test<'a> {
    test: &'a Value,
}

impl Test<'_> {
    /// A parameter, wherever it is.
    fn parameter(&self, name: &str) -> Option<&Value> {
        ["Parameters", "Options"].iter().find_map(|place| self.test.get(place)?.get(name))
    }

    fn number(&self, name: &'static str) -> Result<u64, &'static str> {
        self.parameter(name).and_then(as_number).filter(|number| *number > 0).ok_or(name)
    }

    /// Whether a parameter is set; not if it is missing.
    fn flag(&self, name: &'static str) -> Result<bool, &'static str> {
        match self.parameter(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => as_number(other).map(|number| number != 0).ok_or(name),
        }
    }

    fn measured(&self, file: &str, system: &str) -> Result<Vec<Measured>, &'static str> {
        let is_mpi = match self.parameter("api").and_then(Value::as_str) {
            Some(api) if api.starts_with("MPIIO") => true,
            Some(api) if api.starts_with("POSIX") => false,
            _ => return Err("api"),
        };
        let np = self.number("tasks").or_else(|_| self.number("numTasks")).map_err(|_| "tasks")?;
        let (block, transfer) = (self.number("blockSize")?, self.number("transferSize")?);
        let segments = self.number("segmentCount")?;
        let bytes = to_f64(np) * to_f64(block) * to_f64(segments);
        let results = self.test.get("Results").and_then(Value::as_array).ok_or("Results")?;
        let mut runs: BTreeMap<Kind, Vec<f64>> = BTreeMap::new();
        for result in results {
            let kind = match result.get("access").and_then(Value::as_str) {
                Some("write") => Kind::Write,
                Some("read") => Kind::Read,
                _ => return Err("access"),
            };
            let positive = |name| result.get(name).and_then(Value::as_f64).filter(|number| *number > 0.0);
            let by_time = positive("wrRdTime").map(|time| bytes / time);
            let bandwidth = by_time.or_else(|| positive("bwMiB").map(|rate| rate * MIB)).ok_or("bwMiB")?;
            runs.entry(kind).or_default().push(bandwidth);
        }
        let fsync = self.flag("fsync")?;
        let manners = Manners {
            is_mpi,
            kind: Kind::Read,
            collective: self.flag("collective")?,
            per_process: self.flag("filePerProc")?,
            random: self.flag("randomOffset")?,
            fsync: false,
        };
        let line = |(kind, mut runs): (Kind, Vec<f64>)| Measured {
            system: system.to_owned(),
            manners: Manners { kind, fsync: fsync && kind == Kind::Write, ..manners },
            np,
            nodes: self.number("nodes").ok(),
            transfer,
            block: Some(block),
            segments: Some(segments),
            runs: u64::try_from(runs.len()).ok(),
            bandwidth: median(&mut runs),
            source: file.to_owned(),
        };
        Ok(runs.into_iter().map(line).collect())
    }
}

fn as_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The number in the middle, or the mean of both; 0 of none.
pub(crate) fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match (numbers.get(middle), middle.checked_sub(1).and_then(|below| numbers.get(below))) {
        (Some(above), Some(below)) if numbers.len().is_multiple_of(2) => f64::midpoint(*below, *above),
        (Some(number), _) => *number,
        (None, _) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = r#"{"tests": [{
        "Parameters": {"api": "MPIIO", "nodes": 2, "blockSize": 1048576, "transferSize": "262144", "segmentCount": 4,
            "collective": 1, "filePerProc": 0, "randomOffset": 0, "fsync": "TRUE"},
        "Options": {"tasks": 8},
        "Results": [
            {"access": "write", "bwMiB": 5, "wrRdTime": 1.0},
            {"access": "write", "bwMiB": 5, "wrRdTime": 4.0},
            {"access": "write", "bwMiB": 5, "wrRdTime": 2.0},
            {"access": "read", "bwMiB": 80.0}]}]}"#;

    #[test]
    fn runs_become_lines_with_medians() {
        let lines = read_ior("o.json", OUTPUT, "A").unwrap();
        let shape = |it: &Measured| (it.manners.kind, it.manners.fsync, it.bandwidth / MIB, it.runs);
        let shapes: Vec<_> = lines.iter().map(shape).collect();
        assert_eq!(shapes, [(Kind::Read, false, 80.0, Some(1)), (Kind::Write, true, 16.0, Some(3))]);
        assert_eq!((lines[0].np, lines[0].transfer, lines[0].nodes), (8, 262_144, Some(2)));
        assert_eq!(median(&mut [4.0, 1.0]), 2.5);
    }

    #[test]
    fn what_is_missing_is_named() {
        let wrong = |from, to| read_ior("o.json", &OUTPUT.replace(from, to), "A").unwrap_err().to_string();
        assert_eq!(wrong("\"tasks\": 8", ""), "o.json: test 1: tasks: missing or wrong");
        assert_eq!(wrong("MPIIO", "HDF5"), "o.json: test 1: api: missing or wrong");
        assert_eq!(wrong("\"tests\"", "\"no\""), "o.json: tests: no list of tests of IOR");
        assert!(wrong("{\"tests", "{\"\n").starts_with("o.json:"));
    }
}
