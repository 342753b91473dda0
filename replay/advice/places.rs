//! Rows of the table of places: call paths at threads, with every metric.

use rules::{Names, Rows, Totals, Values};

use super::Known;
use super::schema::{DELAY, IDLE, LINE, PATH, RANK, REGION, THREAD};
use super::sequence::rank_of;
use super::sums::costs;
use super::tables::Tables;
use crate::fraction;
use crate::idle_threads::IdleThreads;
use crate::ids::{ReportPath, Row};
use crate::results::Results;
use crate::tools::Tools;
use crate::walk::WalkedProcess;

/// Goes through the places of this worker.
pub(super) fn scan(
    tools: &Tools<'_>,
    known: Known<'_>,
    (tables, names): (Tables<'_, '_>, &dyn Names),
    totals: &mut Totals,
) {
    let Some(over) = tables.over("place") else { return };
    let read = tables.rules.columns(over);
    let columns_of_table = &tables.schema.tables[over.table].columns;
    let mut scanner = tables.scanner(over);
    for (at, (process, results)) in known.processes.iter().zip(known.results).enumerate() {
        let rank = rank_of(tools, process.number);
        let numbers = &known.paths.numbers[at];
        let idle = if read.contains(&IDLE) { idle(tools, process, results) } else { Vec::new() };
        for (thread, severities) in results.severities.iter().enumerate() {
            let rows: Vec<(Row, ReportPath)> = severities
                .paths()
                .iter()
                .enumerate()
                .filter_map(|(row, path)| {
                    let path = numbers.get(path.index()).filter(|path| !path.is_none())?;
                    Some((Row::new(row), *path))
                })
                .collect();
            let mut columns: Vec<Vec<i64>> = vec![Vec::new(); columns_of_table.len()];
            for &column in &read {
                columns[column] = match column {
                    PATH | LINE => rows.iter().map(|&(_, path)| path.index() as i64).collect(),
                    REGION => rows.iter().map(|&(_, path)| known.paths.region(path).into()).collect(),
                    RANK => vec![rank; rows.len()],
                    THREAD => vec![thread as i64; rows.len()],
                    IDLE if thread > 0 => vec![0; rows.len()],
                    IDLE => {
                        let of = |row: Row| idle.get(severities.paths()[row.index()].index()).copied();
                        rows.iter().map(|&(row, _)| of(row).unwrap_or(0)).collect()
                    }
                    DELAY => rows.iter().map(|&(row, _)| costs(tools, severities, row).all).collect(),
                    _ => {
                        let id = &columns_of_table[column].name;
                        let Some(metric) = tools.metrics.find(id) else { continue };
                        let whole = severities.column(metric);
                        let (_, shares) = severities.records();
                        let value = |&(row, _): &(Row, ReportPath)| {
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

/// By call path of a process: the time that its worker threads have nothing to do while the main thread is there; empty without workers.
fn idle(tools: &Tools<'_>, process: &WalkedProcess, results: &Results) -> Vec<i64> {
    let Some(idle) = IdleThreads::new(tools.trace, tools.metrics, process, &results.severities) else {
        return Vec::new();
    };
    let workers = process.locations.iter().skip(1).filter(|location| location.is_worker).count() as i64;
    let mut by_path = vec![0; process.paths.len()];
    for &(path, ticks) in idle.outside() {
        by_path[path.index()] = ticks.saturating_mul(workers);
    }
    by_path
}
