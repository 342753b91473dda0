//! The rows of the table `instances`, and its columns, which other tables of waits have, too.

use details::manifest::Complete;
use details::{Column, Table, Unit, Values};
use model::Ticks;

use super::{NO_NUMBER, Selected, SelectedWait};
use crate::ids::ReportPath;
use crate::int::to_u64;
use crate::metrics::{Metrics, NumberedPattern};
use crate::wire::Half;

/// Stands for no ticks in the column `direct`.
pub(in crate::details) const NO_TICKS: Ticks = -1;

/// A row of a table of waits. Fields are the columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::details) struct WaitRow {
    pub(in crate::details) metric: u32,
    pub(in crate::details) location: u32,
    pub(in crate::details) path: ReportPath,
    pub(in crate::details) enter: Ticks,
    pub(in crate::details) leave: Ticks,
    pub(in crate::details) begin: Ticks,
    pub(in crate::details) ticks: Ticks,
    pub(in crate::details) all_ticks: Ticks,
    pub(in crate::details) cause_location: u32,
    pub(in crate::details) cause_path: ReportPath,
    pub(in crate::details) cause_enter: Ticks,
    pub(in crate::details) cause_leave: Ticks,
    /// The call path of the report that the cause was in for most of its excess time, or none.
    pub(in crate::details) origin: ReportPath,
    pub(in crate::details) communicator: u32,
    pub(in crate::details) tag: u32,
    pub(in crate::details) bytes: u64,
    pub(in crate::details) members: u32,
    /// The ticks that were not caused by earlier waiting, or [`NO_TICKS`].
    pub(in crate::details) direct: Ticks,
    /// The window around it, or [`NO_NUMBER`].
    pub(in crate::details) window: u32,
}

impl WaitRow {
    /// The row of a selected wait.
    pub(in crate::details) fn new(
        metrics: &Metrics,
        wait: &SelectedWait,
        (origin, direct): (ReportPath, Option<Ticks>),
        window: u32,
    ) -> WaitRow {
        let SelectedWait { subject, instance, both, paths: [path, cause_path] } = *wait;
        let is_its = |pattern: &&NumberedPattern| pattern.subject == Some(subject);
        let of_subject = || metrics.patterns.iter().find(is_its).map(|pattern| pattern.position);
        WaitRow {
            metric: both.pattern.or_else(of_subject).unwrap_or(NO_NUMBER),
            location: both.waiting.location,
            path,
            enter: both.call.enter,
            leave: both.call.leave,
            begin: both.begin,
            ticks: both.ticks,
            all_ticks: instance.duration.0,
            cause_location: instance.cause.location,
            cause_path,
            cause_enter: both.cause_call.enter,
            cause_leave: both.cause_call.leave,
            origin,
            communicator: both.communicator,
            tag: both.tag,
            bytes: both.bytes,
            members: both.members,
            direct: direct.unwrap_or(NO_TICKS),
            window,
        }
    }
}

/// Makes the table.
pub(in crate::details) fn table(rows: &[WaitRow], selected: &Selected) -> (Table, Complete) {
    let complete = match selected.found == to_u64(rows.len()) {
        true => Complete::Is(true),
        false => Complete::No(format!(
            "{} of {} instances: those of trace.stat, and of the 64 longest of each metric the longest",
            rows.len(),
            selected.found
        )),
    };
    (Table { name: "instances".into(), columns: columns(rows) }, complete)
}

/// Makes the columns of a table of waits.
pub(in crate::details) fn columns(rows: &[WaitRow]) -> Vec<Column> {
    let numbers = |name: &str, unit: Option<Unit>, of: fn(&WaitRow) -> u32| {
        Column::new(name, unit, Values::U32(rows.iter().map(of).collect()))
    };
    let paths = |name: &str, of: fn(&WaitRow) -> ReportPath| {
        let paths = rows.iter().map(|row| of(row).to_half());
        Column::new(name, Some(Unit::Cnode), Values::U32(paths.collect()))
    };
    let times = |name: &str, of: fn(&WaitRow) -> Ticks| {
        Column::new(name, Some(Unit::Tick), Values::I64(rows.iter().map(of).collect()))
    };
    let bytes = Values::U64(rows.iter().map(|row| row.bytes).collect());
    vec![
        numbers("metric", None, |row| row.metric),
        numbers("location", Some(Unit::Location), |row| row.location),
        paths("cnode", |row| row.path),
        times("enter", |row| row.enter),
        times("leave", |row| row.leave),
        times("begin", |row| row.begin),
        times("ticks", |row| row.ticks),
        times("all_ticks", |row| row.all_ticks),
        numbers("cause_location", Some(Unit::Location), |row| row.cause_location),
        paths("cause_cnode", |row| row.cause_path),
        times("cause_enter", |row| row.cause_enter),
        times("cause_leave", |row| row.cause_leave),
        paths("origin_cnode", |row| row.origin),
        numbers("communicator", None, |row| row.communicator),
        numbers("tag", None, |row| row.tag),
        Column::new("bytes", Some(Unit::Byte), bytes),
        numbers("members", Some(Unit::Count), |row| row.members),
        times("direct", |row| row.direct),
        numbers("window", None, |row| row.window),
    ]
}
