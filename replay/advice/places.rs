//! Rows of the table of places: call paths at threads, with every metric.

use rules::{Names, Rows, Rules, Run, Schema, Totals, Values};

use super::Known;
use super::schema::{LINE, PATH, RANK, REGION, THREAD};
use crate::fraction;
use crate::ids::Row;
use crate::tools::Tools;

/// Goes through the places of this worker.
pub(super) fn scan(
    tools: &Tools<'_>,
    known: Known<'_>,
    (rules, schema, run, names): (&Rules, &Schema, &Run, &dyn Names),
    totals: &mut Totals,
) {
    let Some(over) = rules.tables().into_iter().find(|over| schema.tables[over.table].name == "place") else {
        return;
    };
    let read = rules.columns(over);
    let count = schema.tables[over.table].columns.len();
    let mut scanner = rules.scanner(over, run);
    for (at, (process, results)) in known.processes.iter().zip(known.results).enumerate() {
        let rank = tools.trace.processes[process.number].rank.map_or(rules::ABSENT, i64::from);
        let numbers = &known.paths.numbers[at];
        for (thread, severities) in results.severities.iter().enumerate() {
            let rows: Vec<(Row, i64)> = severities
                .paths()
                .iter()
                .enumerate()
                .filter_map(|(row, path)| {
                    let path = numbers.get(path.index()).filter(|path| !path.is_none())?;
                    Some((Row::new(row), path.index() as i64))
                })
                .collect();
            let mut columns: Vec<Vec<i64>> = vec![Vec::new(); count];
            for &column in &read {
                columns[column] = match column {
                    PATH | LINE => rows.iter().map(|&(_, path)| path).collect(),
                    REGION => {
                        let region = |&(_, path): &(Row, i64)| {
                            known
                                .paths
                                .region(crate::ids::ReportPath::new(usize::try_from(path).unwrap_or(0)))
                        };
                        rows.iter().map(|row| region(row).into()).collect()
                    }
                    RANK => vec![rank; rows.len()],
                    THREAD => vec![thread as i64; rows.len()],
                    _ => {
                        let id = &schema.tables[over.table].columns[column].name;
                        let Some(metric) = tools.metrics.find(id) else { continue };
                        let whole = severities.column(metric);
                        let (_, shares) = severities.records();
                        let value = |&(row, _): &(Row, i64)| {
                            whole.get(row.index()).copied().unwrap_or(0)
                                + fraction::whole_part(shares.value(metric, row))
                        };
                        rows.iter().map(value).collect()
                    }
                };
            }
            // Columns that no rule reads, or whose metric the analysis does not have, are missing.
            let values = |values: &'_ Vec<i64>| values.len() == rows.len();
            let columns: Vec<Values<'_>> = columns
                .iter()
                .map(|column| if values(column) { Values::Whole(column) } else { Values::Missing })
                .collect();
            scanner.add(Rows { count: rows.len(), columns: &columns }, None, names, totals);
        }
    }
}
