//! The tables `waits`, `hops` and `activities`: the severest waits and how each came about, numbered and told as by the command
//! `waits`.

use details::{Column, Table, Values as Rows};

use super::{Blocks, Source, position};
use crate::commands::waits::{Waits, is_completion};
use crate::error::Result;
use crate::output::names::printable;
use crate::tables::waits::{Hop, Instance};

/// Adds the tables, if the report has them.
pub(super) fn add(source: &Source<'_>, blocks: &mut Blocks) -> Result<()> {
    let Some(manifest) = &source.opened.manifest else { return Ok(()) };
    let Some(table) = source.opened.table("instances")? else { return Ok(()) };
    let read = Waits::read(source.opened, manifest, &table)?;
    let activities = read.activities(source.opened, manifest).unwrap_or_else(|error| {
        blocks.limits.push(format!("{error}; shown without the events around waits"));
        Vec::new()
    });
    let Waits { waits, hops, remark } = read;
    blocks.limits.extend(remark);
    let cube = source.values.cube();
    let metric = |wait: &Instance| {
        let name = wait.metric.and_then(|at| manifest.metrics.get(at)).map(|metric| metric.name.as_str());
        position(name.and_then(|name| cube.metric_named(name)).map(|id| id.0))
    };
    let completion = |wait: &Instance| {
        let name = wait.metric.and_then(|at| manifest.metrics.get(at));
        u8::from(name.is_some_and(|metric| is_completion(&metric.name)))
    };
    let numbers = |number: fn(&Instance) -> i64| Rows::I64(waits.iter().map(number).collect());
    let positions =
        |of: fn(&Instance) -> Option<usize>| Rows::U32(waits.iter().map(|wait| position(of(wait))).collect());
    let columns = [
        ("metric", Rows::U32(waits.iter().map(metric).collect())),
        ("completion", Rows::U8(waits.iter().map(completion).collect())),
        ("location", positions(|it| it.location)),
        ("cnode", positions(|it| it.cnode)),
        ("enter", numbers(|it| it.enter)),
        ("leave", numbers(|it| it.leave)),
        ("begin", numbers(|it| it.begin)),
        ("ticks", numbers(|it| it.ticks)),
        ("all_ticks", numbers(|it| it.all_ticks)),
        ("cause_location", positions(|it| it.cause_location)),
        ("cause_cnode", positions(|it| it.cause_cnode)),
        ("cause_enter", numbers(|it| it.cause_enter)),
        ("cause_leave", numbers(|it| it.cause_leave)),
        ("origin_cnode", positions(|it| it.origin_cnode)),
        ("communicator", numbers(|it| it.communicator)),
        ("tag", numbers(|it| it.tag)),
        ("bytes", numbers(|it| it.bytes)),
        ("members", numbers(|it| it.members)),
        ("window", positions(|it| it.window)),
    ];
    blocks.table(&table_of("waits", columns.into()))?;
    let numbers = |number: fn(&Hop) -> i64| Rows::I64(hops.iter().map(number).collect());
    let positions =
        |of: fn(&Hop) -> Option<usize>| Rows::U32(hops.iter().map(|hop| position(of(hop))).collect());
    let columns = [
        ("wait", positions(|it| Some(it.instance))),
        ("hop", numbers(|it| it.hop)),
        ("location", positions(|it| it.location)),
        ("cnode", positions(|it| it.cnode)),
        ("begin", numbers(|it| it.begin)),
        ("ticks", numbers(|it| it.ticks)),
        ("cause_location", positions(|it| it.cause_location)),
        ("cause_cnode", positions(|it| it.cause_cnode)),
        ("cause_time", numbers(|it| it.cause_time)),
    ];
    blocks.table(&table_of("hops", columns.into()))?;
    let all = || activities.iter().enumerate().flat_map(|(at, of)| of.iter().map(move |name| (at, name)));
    blocks.table(&table_of(
        "activities",
        vec![
            ("wait", Rows::U32(all().map(|(at, _)| position(Some(at))).collect())),
            ("name", Rows::Bytes(all().map(|(_, name)| printable(name).into_bytes()).collect())),
        ],
    ))
}

/// A table of columns.
pub(super) fn table_of(name: &str, columns: Vec<(&str, Rows)>) -> Table {
    let columns = columns.into_iter().map(|(name, rows)| Column::new(name, None, rows));
    Table { name: name.into(), columns: columns.collect() }
}
