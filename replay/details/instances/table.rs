//! The rows of the table `instances`.

use details::manifest::Complete;
use details::{Column, Table, Unit, Values};

use super::{NO_NUMBER, Selected, SelectedWait};
use crate::int::to_u32;
use crate::metrics::Metrics;
use crate::wire::Half;
use model::Ticks;

/// What later steps have found out about the waits of the table, by row; empty where they did not run.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::details) struct Found<'a> {
    /// The call path of the report that the cause was in for most of its excess time.
    pub(in crate::details) origins: &'a [u32],
    /// The ticks that were not caused by earlier waiting, of waits for messages.
    pub(in crate::details) direct: &'a [Option<Ticks>],
    /// The window around it, or [`NO_NUMBER`].
    pub(in crate::details) windows: &'a [u32],
}

/// Makes the table.
pub(in crate::details) fn table(
    metrics: &Metrics,
    selected: &Selected,
    found: Found<'_>,
) -> (Table, Complete) {
    let (waits, rows) = (&selected.waits, selected.waits.len());
    let numbers = |name: &str, unit: Option<Unit>, of: &dyn Fn(&SelectedWait) -> u32| {
        Column::new(name, unit, Values::U32(waits.iter().map(of).collect()))
    };
    let times = |name: &str, of: &dyn Fn(&SelectedWait) -> Ticks| {
        Column::new(name, Some(Unit::Tick), Values::I64(waits.iter().map(of).collect()))
    };
    let later = |values: &[u32]| (0..rows).map(|row| values.get(row).copied().unwrap_or(NO_NUMBER)).collect();
    let direct = |row: usize| found.direct.get(row).copied().flatten().unwrap_or(-1);
    let columns = vec![
        numbers("metric", None, &|wait| metric(metrics, wait)),
        numbers("location", Some(Unit::Location), &|wait| wait.both.waiting.location),
        numbers("cnode", Some(Unit::Cnode), &|wait| wait.paths[0].to_half()),
        times("enter", &|wait| wait.both.call.enter),
        times("leave", &|wait| wait.both.call.leave),
        times("begin", &|wait| wait.both.begin),
        times("ticks", &|wait| wait.both.ticks),
        times("all_ticks", &|wait| wait.instance.duration.0),
        numbers("cause_location", Some(Unit::Location), &|wait| wait.instance.cause.location),
        numbers("cause_cnode", Some(Unit::Cnode), &|wait| wait.paths[1].to_half()),
        times("cause_enter", &|wait| wait.both.cause_call.enter),
        times("cause_leave", &|wait| wait.both.cause_call.leave),
        Column::new("origin_cnode", Some(Unit::Cnode), Values::U32(later(found.origins))),
        numbers("communicator", None, &|wait| wait.both.communicator),
        numbers("tag", None, &|wait| wait.both.tag),
        Column::new(
            "bytes",
            Some(Unit::Byte),
            Values::U64(waits.iter().map(|wait| wait.both.bytes).collect()),
        ),
        numbers("members", Some(Unit::Count), &|wait| wait.both.members),
        Column::new("direct", Some(Unit::Tick), Values::I64((0..rows).map(direct).collect())),
        Column::new("window", None, Values::U32(later(found.windows))),
    ];
    let complete = match selected.found == u64::from(to_u32(rows)) {
        true => Complete::Is(true),
        false => Complete::No(format!(
            "the {rows} longest of {} instances: those of trace.stat, and of the 64 longest of each metric as many as fit",
            selected.found
        )),
    };
    (Table { name: "instances".into(), columns }, complete)
}

/// Position of the wait state's metric in the manifest.
fn metric(metrics: &Metrics, wait: &SelectedWait) -> u32 {
    let is_its = |pattern: &crate::metrics::NumberedPattern| pattern.subject == Some(wait.subject);
    metrics.patterns.iter().position(is_its).map_or(NO_NUMBER, to_u32)
}
