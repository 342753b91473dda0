//! Tables of a report's details, with numbers of all types as one.

use std::collections::BTreeMap;
use std::path::Path;

use cubex::Report;
use details::manifest::{Complete, MANIFEST, Manifest, member};
use details::{Table, Values};

/// A row of a table: numbers by column.
pub(crate) type Row = BTreeMap<String, i128>;

/// The details of a report.
pub(crate) struct Details {
    pub(crate) manifest: Manifest,
    report: Report,
}

impl Details {
    /// Opens the details of a report.
    pub(crate) fn open(path: &Path) -> Details {
        let report = Report::open(path).unwrap();
        let manifest = Manifest::parse(&report.member(MANIFEST).unwrap().expect("a manifest")).unwrap();
        Details { manifest, report }
    }

    /// The rows of a table; `None` if the report does not have it. Columns of bytes are left out.
    pub(crate) fn rows(&self, name: &str) -> Option<Vec<Row>> {
        let table = details::parse(&self.report.member(&member(name)).unwrap()?).unwrap();
        assert_eq!(table.name, name);
        Some(rows_of(&table))
    }

    /// The lists of locations in a column of bytes.
    pub(crate) fn lists(&self, name: &str, column: &str) -> Vec<Vec<u32>> {
        let table = details::parse(&self.report.member(&member(name)).unwrap().unwrap()).unwrap();
        let Values::Bytes(rows) = &table.column(column).unwrap().values else {
            panic!("{column} has numbers")
        };
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        rows.iter().map(|bytes| bytes.chunks(4).map(word).collect()).collect()
    }

    /// Whether a table has all there is.
    pub(crate) fn is_complete(&self, name: &str) -> bool {
        let tables = &self.manifest.tables;
        let table = tables.iter().find(|table| table.member == member(name)).expect("a table");
        table.complete == Complete::Is(true)
    }

    /// The unique name of a row's metric.
    pub(crate) fn metric(&self, row: &Row) -> &str {
        &self.manifest.metrics[usize::try_from(row["metric"]).unwrap()].name
    }

    /// Ticks in seconds.
    pub(crate) fn seconds(&self, ticks: i128) -> f64 {
        ticks as f64 / self.manifest.ticks_per_second as f64
    }
}

/// The rows of a table. Columns of bytes are left out.
pub(crate) fn rows_of(table: &Table) -> Vec<Row> {
    let mut rows = vec![Row::new(); table.rows()];
    for column in &table.columns {
        let values: Vec<i128> = match &column.values {
            Values::U8(values) => values.iter().map(|&value| value.into()).collect(),
            Values::U16(values) => values.iter().map(|&value| value.into()).collect(),
            Values::U32(values) => values.iter().map(|&value| value.into()).collect(),
            Values::U64(values) => values.iter().map(|&value| value.into()).collect(),
            Values::I64(values) => values.iter().map(|&value| value.into()).collect(),
            Values::F64(_) | Values::Bytes(_) => continue,
        };
        for (row, value) in rows.iter_mut().zip(values) {
            row.insert(column.name.clone(), value);
        }
    }
    rows
}
