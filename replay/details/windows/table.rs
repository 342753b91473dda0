//! The tables of windows.

use std::collections::BTreeMap;

use details::manifest::Complete;
use details::{Column, Table, Unit, Values};
use model::Ticks;
use model::mpi::{self, Class};
use patterns::matched::BarrierClass;

use super::plan::{Plan, Window};
use super::read::MOST_MESSAGES;
use super::rows::{CallRow, MessageRow, Rows};
use crate::causes::{DelayClass, MOST_WAITS, WindowWait};
use crate::details::instances::{NO_NUMBER, NO_TICKS, WaitRow, columns};
use crate::ids::ReportPath;
use crate::int::to_u32;
use crate::metrics::Metrics;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::walk::MOST_CALLS;
use crate::wire::Half;

/// Flags of calls: began before the window, ends after it.
const BEGAN_BEFORE: u8 = 1;
const ENDS_AFTER: u8 = 2;

/// Makes the tables `windows`, `window_calls`, `window_messages` and `window_waits`. `instances` are the rows of that table,
/// `waits` those that root causes know in windows; `why_none` says why there are no windows.
pub(in crate::details) fn tables(
    tools: &Tools<'_>,
    paths: &ReportPaths,
    (plan, rows): (&Plan, &Rows),
    instances: &[WaitRow],
    waits: &[WindowWait],
    why_none: Option<&str>,
) -> Vec<(Table, Complete)> {
    let none = || why_none.map(|why| Complete::No(why.into()));
    let complete = |left_out: Option<String>| {
        none().unwrap_or_else(|| left_out.map_or(Complete::Is(true), Complete::No))
    };
    let without = (plan.without > 0)
        .then(|| format!("{} windows; {} instances are in none", plan.windows.len(), plan.without));
    let (waits, are_all) = wait_rows(tools, paths, (plan, rows), instances, waits);
    let longest = (!are_all).then(|| format!("of each location and window the {MOST_WAITS} longest"));
    let [(windows, _), (calls, dropped), (messages, of_most)] = tables_of_events(plan, rows);
    vec![
        (windows, complete(without)),
        (calls, complete(dropped)),
        (messages, complete(of_most)),
        (Table { name: "window_waits".into(), columns: columns(&waits) }, complete(longest)),
    ]
}

/// Makes the tables `windows`, `window_calls` and `window_messages`, each with what was left out of it by a limit.
pub(super) fn tables_of_events(plan: &Plan, rows: &Rows) -> [(Table, Option<String>); 3] {
    let dropped = rows.dropped_below.iter().filter(|&&ticks| ticks > 0).count();
    let dropped = (dropped > 0)
        .then(|| format!("{dropped} windows have more than {MOST_CALLS} calls: without the shortest"));
    let of_most = rows.messages.iter().filter(|messages| messages.len() >= MOST_MESSAGES).count();
    let of_most =
        (of_most > 0).then(|| format!("{of_most} windows: the {MOST_MESSAGES} that were waited for longest"));
    [(windows(plan, rows), None), (calls(plan, rows), dropped), (messages(rows), of_most)]
}

fn times(name: &str, values: impl Iterator<Item = Ticks>) -> Column {
    Column::new(name, Some(Unit::Tick), Values::I64(values.collect()))
}

fn numbers(name: &str, unit: Option<Unit>, values: impl Iterator<Item = u32>) -> Column {
    Column::new(name, unit, Values::U32(values.collect()))
}

fn windows(plan: &Plan, rows: &Rows) -> Table {
    let windows = || plan.windows.iter();
    let locations = |window: &Window| window.locations.iter().flat_map(|it| it.to_le_bytes()).collect();
    let locations = Values::Bytes(windows().map(locations).collect());
    let columns = vec![
        numbers("instance", None, windows().map(|window| to_u32(window.instance))),
        times("begin", windows().map(|window| window.begin)),
        times("end", windows().map(|window| window.end)),
        Column::new("locations", Some(Unit::Location), locations),
        times("dropped_below", rows.dropped_below.iter().copied()),
    ];
    Table { name: "windows".into(), columns }
}

fn calls(plan: &Plan, rows: &Rows) -> Table {
    let all =
        || (0..).zip(&rows.calls).flat_map(|(window, calls)| calls.iter().map(move |call| (window, call)));
    let open = |(window, row): (u32, &CallRow)| {
        let Window { begin, end, .. } = plan.windows[window as usize];
        let before = if row.call.enter < begin { BEGAN_BEFORE } else { 0 };
        before | if row.call.leave > end { ENDS_AFTER } else { 0 }
    };
    let columns = vec![
        numbers("window", None, all().map(|(window, _)| window)),
        numbers("location", Some(Unit::Location), all().map(|(_, row)| row.location)),
        times("enter", all().map(|(_, row)| row.call.enter)).delta(),
        times("leave", all().map(|(_, row)| row.call.leave)).delta(),
        numbers("cnode", Some(Unit::Cnode), all().map(|(_, row)| row.path.to_half())),
        numbers("depth", Some(Unit::Count), all().map(|(_, row)| row.call.depth)),
        Column::new("open", None, Values::U8(all().map(open).collect())),
    ];
    Table { name: "window_calls".into(), columns }
}

fn messages(rows: &Rows) -> Table {
    let all = || (0..).zip(&rows.messages).flat_map(|(window, list)| list.iter().map(move |it| (window, it)));
    let of = |name: &str, unit: Option<Unit>, field: fn(&MessageRow) -> u32| {
        numbers(name, unit, all().map(|(_, message)| field(message)))
    };
    let time =
        |name: &str, field: fn(&MessageRow) -> Ticks| times(name, all().map(|(_, message)| field(message)));
    let bytes = Values::U64(all().map(|(_, message)| message.bytes).collect());
    let columns = vec![
        numbers("window", None, all().map(|(window, _)| window)),
        of("source", Some(Unit::Location), |message| message.source),
        of("destination", Some(Unit::Location), |message| message.destination),
        time("send_enter", |message| message.send_enter).delta(),
        time("send_leave", |message| message.send_leave).delta(),
        time("post", |message| message.post).delta(),
        time("receive_leave", |message| message.receive_leave).delta(),
        Column::new("bytes", Some(Unit::Byte), bytes),
        of("tag", None, |message| message.tag),
        of("communicator", None, |message| message.communicator),
        time("ticks", |message| message.ticks),
    ];
    Table { name: "window_messages".into(), columns }
}

/// The rows of waits in windows: those of the table `instances`, and others that root causes know. Returns whether there can
/// be no more of these.
fn wait_rows(
    tools: &Tools<'_>,
    paths: &ReportPaths,
    (plan, rows): (&Plan, &Rows),
    instances: &[WaitRow],
    waits: &[WindowWait],
) -> (Vec<WaitRow>, bool) {
    let mut all: Vec<WaitRow> = Vec::new();
    let mut of_location: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (number, window) in (0..).zip(&plan.windows) {
        let is_in = |row: &&WaitRow| {
            let end = row.begin.saturating_add(row.ticks);
            window.has(row.location) && row.begin < window.end && end > window.begin
        };
        all.extend(instances.iter().filter(is_in).map(|row| WaitRow { window: number, ..*row }));
    }
    let key = |row: &WaitRow| (row.window, row.location, row.begin, row.metric, row.ticks);
    // Root causes do not know all kinds of waiting.
    let wait = |row: &WaitRow| (row.window, row.location, row.begin, row.ticks);
    let mut known: Vec<_> = all.iter().map(wait).collect();
    known.sort_unstable();
    for found in waits {
        *of_location.entry((found.window, found.location)).or_default() += 1;
        let row = row_of(tools, paths, rows, found);
        if known.binary_search(&wait(&row)).is_err() {
            all.push(row);
        }
    }
    all.sort_by_key(key);
    (all, of_location.values().all(|&count| count < MOST_WAITS))
}

/// The row of a wait that is no severe one: with the calls and the message of the window that it belongs to, as far as both
/// sides are in the window.
fn row_of(tools: &Tools<'_>, paths: &ReportPaths, rows: &Rows, wait: &WindowWait) -> WaitRow {
    let (calls, messages) = (&rows.calls[wait.window as usize], &rows.messages[wait.window as usize]);
    let end = wait.begin.saturating_add(wait.ticks);
    let (enter, leave) = call_at(calls, wait.location, wait.path, wait.begin).unwrap_or((wait.begin, end));
    let (cause_enter, cause_leave) = call_at(calls, wait.cause_location, wait.cause_path, wait.cause_time)
        .unwrap_or((wait.cause_time, wait.cause_time));
    let is_its = |message: &&MessageRow| match wait.class {
        DelayClass::LateSender => {
            (message.source, message.destination) == (wait.cause_location, wait.location)
                && (message.send_enter, message.receive_leave) == (wait.cause_time, leave)
        }
        DelayClass::LateReceiver => {
            (message.source, message.destination) == (wait.location, wait.cause_location)
                && message.post == wait.cause_time
        }
        _ => false,
    };
    let message = messages.iter().find(is_its);
    WaitRow {
        metric: metric(tools, paths, wait),
        location: wait.location,
        path: wait.path,
        enter,
        leave,
        begin: wait.begin,
        ticks: wait.ticks,
        all_ticks: wait.ticks,
        cause_location: wait.cause_location,
        cause_path: wait.cause_path,
        cause_enter,
        cause_leave,
        origin: ReportPath::NONE,
        communicator: wait.communicator,
        tag: message.map_or(NO_NUMBER, |message| message.tag),
        bytes: message.map_or(0, |message| message.bytes),
        members: 0,
        direct: NO_TICKS,
        window: wait.window,
    }
}

/// Enter and leave of the innermost call of a location at a call path and a time. Calls are ordered by location and enter.
fn call_at(calls: &[CallRow], location: u32, path: ReportPath, time: Ticks) -> Option<(Ticks, Ticks)> {
    let behind = calls.partition_point(|row| (row.location, row.call.enter) <= (location, time));
    let before = calls[..behind].iter().rev().take_while(|row| row.location == location);
    let call = before.into_iter().find(|row| row.path == path)?.call;
    (time <= call.leave).then_some((call.enter, call.leave))
}

/// The metric of a wait of one-sided communication, by the calls of both sides.
fn of_one_sided(tools: &Tools<'_>, paths: &ReportPaths, wait: &WindowWait) -> &'static str {
    let name = |path| mpi::plain(tools.trace.region_name(paths.region(path)));
    let call = name(wait.path);
    let is_access = !call.starts_with("win_");
    let is_for_post = wait.cause_path != ReportPath::NONE && name(wait.cause_path) == "win_post";
    match &call[..] {
        "win_fence" => "mpi_rma_wait_at_fence",
        "win_free" => "mpi_rma_wait_at_free",
        "win_wait" => "mpi_rma_early_wait",
        "win_start" | "win_complete" => "mpi_rma_sync_late_post",
        _ if is_access && wait.is_for_lock => "mpi_rma_comm_lock_competition",
        _ if is_access && is_for_post => "mpi_rma_comm_late_post",
        _ if is_access => "mpi_rma_comm_wait_for_progress",
        _ if wait.is_for_lock => "mpi_rma_sync_lock_competition",
        "win_lock" | "win_lock_all" | "win_unlock" | "win_unlock_all" => "mpi_rma_sync_wait_for_progress",
        _ if call.starts_with("win_flush") => "mpi_rma_sync_wait_for_progress",
        _ => "mpi_rma_wait_at_create",
    }
}

/// Position of the metric of a wait in the manifest.
fn metric(tools: &Tools<'_>, paths: &ReportPaths, wait: &WindowWait) -> u32 {
    let Metrics { patterns, .. } = tools.metrics;
    let kind = tools.trace.kinds.get(paths.region(wait.path) as usize);
    let is_completion = kind.is_some_and(|it| it.completion.blocks());
    let name = match wait.class {
        class if class.is_of_collectives() && is_completion => "mpi_nbcoll_wait",
        DelayClass::LateSender => "mpi_latesender",
        DelayClass::LateReceiver => "mpi_latereceiver",
        DelayClass::Barrier => "mpi_barrier_wait",
        DelayClass::AllToAll => "mpi_wait_nxn",
        DelayClass::OneToAll => "mpi_latebroadcast",
        DelayClass::AllToOne => "mpi_earlyreduce",
        DelayClass::Neighbors => "mpi_wait_neighbor",
        DelayClass::Communicators => "mpi_comm_wait_at_create",
        DelayClass::Progress => "mpi_p2p_wait_for_progress",
        DelayClass::OneSided => of_one_sided(tools, paths, wait),
        DelayClass::Files => match mpi::class(tools.trace.region_name(paths.region(wait.path))) {
            Class::FileReadTogether | Class::FileWriteTogether => "mpi_io_collective_wait",
            _ => "mpi_mgmt_file_wait",
        },
        DelayClass::ThreadBarrier if kind.is_some_and(|it| it.barrier == Some(BarrierClass::Explicit)) => {
            "omp_ebarrier_wait"
        }
        DelayClass::ThreadBarrier | DelayClass::IdleThreads => "omp_ibarrier_wait",
        DelayClass::Accelerator => "accel_wait",
    };
    patterns.iter().find(|it| it.pattern.metric.id == name).map_or(NO_NUMBER, |it| it.position)
}
