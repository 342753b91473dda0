//! Tables of the report's details: all their columns, with times in seconds beside ticks, and names beside numbers.
//!
//! | column of the details | columns |
//! |---|---|
//! | ticks, as `begin` or `cnode_ticks` | `begin` in seconds and `begin_ticks`; `cnode_seconds` and `cnode_ticks` |
//! | call path, as `cause_cnode` | `cause_cnode`, `cause_path` |
//! | location, as `cause_location` | `cause_location`, `cause_rank` |
//! | `metric` | its unique name |
//! | `region` | `region`, `function` |
//! | `iteration`, where only some were recorded | `iteration`, and its number in the program as `of_loop` |
//! | all others | the same |

use details::manifest::{Complete, Manifest, member};
use details::{Table, Unit, Values};

use super::Kind::{Double, Int32, Int64, Text};
use super::definitions::rank;
use super::{Cell, Column, Take, TakeRow, number, text, unsigned};
use crate::commands::export::Remarks;
use crate::commands::export::source::Source;
use crate::error::Result;
use crate::paths;
use crate::tables::{Columns, seconds};

/// Tables of details, and what they are called here.
const TABLES: [(&str, &str); 14] = [
    ("instances", "instances"),
    ("chains", "chains"),
    ("matrix", "matrix"),
    ("collectives", "collectives"),
    ("last", "last"),
    ("sizes", "sizes"),
    ("critical", "critical"),
    ("windows", "windows"),
    ("window_calls", "calls"),
    ("window_messages", "messages"),
    ("window_waits", "waits"),
    ("flow", "flow"),
    ("series", "series"),
    ("efficiency", "efficiency"),
];

/// A column with what makes its cells.
pub(super) struct Expressed<'e> {
    pub(super) column: Column,
    make: Box<dyn Fn(usize) -> Cell<'e> + 'e>,
}

impl<'e> Expressed<'e> {
    /// The cell of a row.
    pub(super) fn cell(&self, row: usize) -> Cell<'e> {
        (self.make)(row)
    }
}

/// Gives all tables that the report has.
pub(super) fn give(source: &Source<'_>, take: &mut dyn Take, remarks: &mut Remarks) -> Result<()> {
    let Some(manifest) = &source.opened.manifest else { return Ok(()) };
    let mut missing = Vec::new();
    for (name, title) in TABLES {
        let Some(table) = source.opened.table(name)? else {
            // The last three are those that other features bring.
            if !matches!(name, "flow" | "series" | "efficiency") {
                missing.push(title);
            }
            continue;
        };
        let known = manifest.tables.iter().find(|known| known.member == member(name));
        if let Some(Complete::No(what)) = known.map(|known| &known.complete) {
            remarks.push(format!("{title} is not complete: {what}"));
        }
        let expressed = expressed(source, manifest, name, &table)?;
        let columns: Vec<Column> = expressed.iter().map(|it| it.column.clone()).collect();
        let rows = |row: &mut TakeRow<'_>| {
            (0..table.rows()).try_for_each(|at| {
                row(&expressed.iter().map(|expressed| expressed.cell(at)).collect::<Vec<_>>())
            })
        };
        take.table(title, &columns, Box::new(rows))?;
    }
    if !missing.is_empty() {
        remarks.push(format!(
            "without {}, which the report does not have: replay-analyze --details inside EXPERIMENT writes them",
            missing.join(", ")
        ));
    }
    Ok(())
}

/// The columns of a table, with what numbers refer to.
///
/// # Errors
/// If they refer to what does not exist.
pub(super) fn expressed<'e>(
    source: &'e Source<'_>,
    manifest: &'e Manifest,
    name: &str,
    table: &'e Table,
) -> Result<Vec<Expressed<'e>>> {
    let columns = Columns::of(name, table);
    let cube = source.cube();
    let mut all = Vec::new();
    for described in &table.columns {
        let name = &described.name;
        match (&described.values, described.unit) {
            (Values::Bytes(rows), _) => add(&mut all, name.clone(), Text, "", move |row| listed(&rows[row])),
            (Values::F64(rows), unit) => {
                let unit = if unit == Some(Unit::Second) { "s" } else { "" };
                add(&mut all, name.clone(), Double, unit, move |row| Cell::Double(rows[row]));
            }
            (_, Some(Unit::Tick)) => add_ticks(&mut all, manifest, name, columns.integers(name)?),
            (_, Some(Unit::Cnode)) => {
                let cnodes = columns.positions(name, cube.cnodes.len())?;
                let path =
                    name.strip_suffix("cnode").map_or(format!("{name}_path"), |it| format!("{it}path"));
                let shared = std::rc::Rc::new(cnodes);
                let paths = shared.clone();
                add(&mut all, name.clone(), Int32, "", move |row| position(shared[row]));
                add(&mut all, path, Text, "", move |row| match paths[row] {
                    Some(cnode) => text(paths::path(cube, cubex::CnodeId(cnode))),
                    None => Cell::Nothing,
                });
            }
            (_, Some(Unit::Location)) => {
                let shared = std::rc::Rc::new(columns.positions(name, cube.locations.len())?);
                let locations = shared.clone();
                let rank_name = match name.strip_suffix("location") {
                    Some(front) => format!("{front}rank"),
                    None => format!("{name}_rank"),
                };
                add(&mut all, name.clone(), Int32, "", move |row| position(shared[row]));
                add(&mut all, rank_name, Int32, "", move |row| {
                    locations[row].and_then(|at| rank(source, at)).map_or(Cell::Nothing, unsigned)
                });
            }
            _ if name == "metric" => {
                let metrics = columns.positions(name, manifest.metrics.len())?;
                add(&mut all, name.clone(), Text, "", move |row| match metrics[row] {
                    Some(metric) => text(&*manifest.metrics[metric].name),
                    None => Cell::Nothing,
                });
            }
            _ if name == "region" => {
                let shared = std::rc::Rc::new(columns.positions(name, cube.regions.len())?);
                let regions = shared.clone();
                add(&mut all, name.clone(), Int32, "", move |row| position(shared[row]));
                add(&mut all, "function".into(), Text, "", move |row| match regions[row] {
                    Some(region) => text(&*cube.regions[region].name),
                    None => Cell::Nothing,
                });
            }
            _ if name == "iteration" && manifest.recorded.is_some() => {
                let shared = std::rc::Rc::new(columns.integers(name)?);
                let rows = shared.clone();
                add(&mut all, name.clone(), Int64, "", move |row| Cell::Integer(shared[row]));
                add(&mut all, "of_loop".into(), Int64, "", move |row| {
                    let number = u64::try_from(rows[row]).ok();
                    let number =
                        manifest.recorded.as_ref().zip(number).and_then(|(it, number)| it.number(number));
                    number.map_or(Cell::Nothing, unsigned)
                });
            }
            (values, unit) => {
                let unit = if unit == Some(Unit::Byte) { "B" } else { "" };
                let is_wide = matches!(values, Values::U64(_) | Values::I64(_) | Values::U32(_))
                    && !matches!(name.as_str(), "communicator" | "window" | "instance");
                let rows = columns.integers(name)?;
                let kind = if is_wide { Int64 } else { Int32 };
                let is_unsigned = !matches!(values, Values::I64(_));
                add(&mut all, name.clone(), kind, unit, move |row| match rows[row] {
                    // The number for none.
                    ..0 if is_unsigned => Cell::Nothing,
                    value => Cell::Integer(value),
                });
            }
        }
    }
    Ok(all)
}

fn add<'e>(
    all: &mut Vec<Expressed<'e>>,
    name: String,
    kind: super::Kind,
    unit: &'static str,
    make: impl Fn(usize) -> Cell<'e> + 'e,
) {
    all.push(Expressed { column: Column { name: name.into(), kind, unit }, make: Box::new(make) });
}

/// Seconds and ticks.
fn add_ticks<'e>(all: &mut Vec<Expressed<'e>>, manifest: &'e Manifest, name: &str, rows: Vec<i64>) {
    let (in_seconds, in_ticks) = match name.strip_suffix("ticks") {
        Some(front) => (format!("{front}seconds"), name.to_owned()),
        None => (name.to_owned(), format!("{name}_ticks")),
    };
    // Only of messages it is known how much of a wait is direct; -1 stands for unknown.
    let may_be_missing = name == "direct";
    let rows = std::rc::Rc::new(rows);
    let shared = rows.clone();
    let value =
        move |rows: &[i64], row: usize| Some(rows[row]).filter(|&ticks| ticks >= 0 || !may_be_missing);
    add(all, in_seconds, Double, "s", move |row| match value(&rows, row) {
        Some(ticks) => Cell::Double(seconds(manifest, ticks)),
        None => Cell::Nothing,
    });
    add(all, in_ticks, Int64, "ticks", move |row| value(&shared, row).map_or(Cell::Nothing, Cell::Integer));
}

fn position(position: Option<usize>) -> Cell<'static> {
    position.map_or(Cell::Nothing, number)
}

/// Numbers of 32 bits, such as the locations of a window, as text with spaces between them.
fn listed(bytes: &[u8]) -> Cell<'static> {
    let numbers = bytes
        .chunks_exact(4)
        .map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]).to_string());
    text(numbers.collect::<Vec<_>>().join(" "))
}
