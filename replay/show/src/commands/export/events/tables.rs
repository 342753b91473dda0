//! Events of the tables `window_calls`, `window_messages` and `window_waits`, of `instances` and of `critical`.

use std::collections::{BTreeMap, BTreeSet};

use cubex::LocationId;
use details::Table;
use details::manifest::Manifest;

use super::nested::{Call, append};
use super::{Event, Events, Function, Message, Place, Stretch, Wait, What, nanoseconds, trace};
use crate::commands::export::source::Source;
use crate::commands::export::{Format, Remarks};
use crate::error::{Error, Result};
use crate::tables::Columns;

/// What of the tables is selected.
struct Selection<'s> {
    source: &'s Source<'s>,
    manifest: &'s Manifest,
    /// Begin and end in nanoseconds.
    begin: i64,
    end: i64,
    /// Windows that are selected; `None` for all.
    windows: Option<Vec<bool>>,
}

impl Selection<'_> {
    fn time(&self, ticks: i64) -> i64 {
        nanoseconds(ticks, self.manifest.ticks_per_second)
    }

    fn has(&self, location: usize) -> bool {
        self.source.locations.get(location).copied().unwrap_or(false)
    }

    /// Whether a time span touches the selected time.
    fn touches(&self, begin: i64, end: i64) -> bool {
        begin <= self.end && end >= self.begin
    }

    fn has_window(&self, window: i64) -> bool {
        let Some(windows) = &self.windows else { return true };
        usize::try_from(window).is_ok_and(|window| windows.get(window) == Some(&true))
    }
}

/// Reads the events that a report has.
///
/// # Errors
/// If it has none, or a table is damaged; the message says how to get them.
pub(in crate::commands::export) fn from_tables(source: &Source<'_>) -> Result<(Events, Remarks)> {
    let opened = source.opened;
    let mut remarks = Remarks::new();
    let archive = trace::archive(source);
    let calls = if archive.is_some() { None } else { opened.table("window_calls")? };
    let instances = opened.table("instances")?;
    // Counters are something to look at, too, but not for formats of calls.
    let is_enough = match source.args.format {
        Format::Chrome | Format::Perfetto => instances.is_some() || opened.table("grid")?.is_some(),
        Format::Paraver => instances.is_some(),
        _ => false,
    };
    if archive.is_none() && (opened.manifest.is_none() || calls.is_none() && !is_enough) {
        opened.required_table("window_calls")?;
    }
    // A trace can be exported beside a report of any program.
    let without = Manifest::default();
    let manifest = opened.manifest.as_ref().unwrap_or(&without);
    let (begin, end) = match source.args.window()? {
        Some((begin, end)) => (of_seconds(begin), of_seconds(end)),
        None => (i64::MIN, i64::MAX),
    };
    let windows = windows(source, &mut remarks)?;
    let selection = Selection { source, manifest, begin, end, windows };
    let mut events = no_events(source);
    events.end = selection.time(i64::try_from(manifest.end).unwrap_or(i64::MAX));
    match (&archive, &calls) {
        (Some(archive), _) => {
            let messages = trace::add(source, archive, (begin, end), &mut events)?;
            events.end = events.events.iter().fold(events.end, |end, event| end.max(event.time));
            add_messages(&selection, messages.into_iter(), &mut events.events);
        }
        (None, Some(table)) => add_calls(&selection, table, &mut events.events)?,
        (None, None) => remarks.push(
            "without calls and messages, as the report has no windows: replay-analyze --details inside \
             EXPERIMENT writes them, unless it is told --windows 0"
                .into(),
        ),
    }
    let is_behind = archive.is_some() || opened.manifest.is_some() && begin > events.end;
    if is_behind && events.events.is_empty() && source.args.window()?.is_some() {
        return Err(Error::new("--window: there are no events in this time"));
    }
    if archive.is_none()
        && let Some(table) = opened.table("window_messages")?
    {
        let messages = read_messages(&selection, &table)?;
        add_messages(&selection, messages.into_iter(), &mut events.events);
    }
    let mut waits = BTreeSet::new();
    if let Some(table) = opened.table("window_waits")? {
        read_waits(&selection, "window_waits", &table, usize::MAX, &mut waits)?;
    }
    if let Some(table) = &instances {
        let most = source.args.instances.unwrap_or(usize::MAX);
        read_waits(&selection, "instances", table, most, &mut waits)?;
    }
    add_waits(waits, &mut events.events);
    events.events.sort_by_key(|event| (event.time, event.what.order()));
    Ok((events, remarks))
}

/// Seconds as nanoseconds.
#[expect(clippy::cast_possible_truncation, reason = "saturates")]
fn of_seconds(seconds: f64) -> i64 {
    (1e9 * seconds).round() as i64
}

/// The places and functions of a report.
fn no_events(source: &Source<'_>) -> Events {
    let cube = source.cube();
    let places = cube.locations.iter().enumerate().map(|(at, location)| {
        let group = cube.location_groups.get(location.group.0);
        Place {
            process: location.group.0,
            process_name: group.map_or(String::new(), crate::places::process_name),
            thread_name: if location.name.is_empty() {
                source.location_name(LocationId(at).0)
            } else {
                location.name.clone()
            },
            thread: location.rank,
            node: group.map_or(0, |group| group.system_tree_node.0),
            is_selected: source.locations[at],
        }
    });
    let functions = cube.regions.iter().map(|region| Function {
        name: region.name.clone(),
        category: match region.paradigm.as_str() {
            "mpi" => "mpi",
            "openmp" => "omp",
            _ => "user",
        },
    });
    Events { places: places.collect(), functions: functions.collect(), events: Vec::new(), end: 0 }
}

/// The windows around the instances that were asked for; `None` for all.
fn windows(source: &Source<'_>, remarks: &mut Remarks) -> Result<Option<Vec<bool>>> {
    let Some(most) = source.args.instances else { return Ok(None) };
    let Some(table) = source.opened.table("windows")? else {
        remarks.push("--instances has no effect on calls: the report has no table of windows".into());
        return Ok(None);
    };
    let instances = Columns::of("windows", &table).integers("instance")?;
    let is_wanted = |instance: i64| usize::try_from(instance).is_ok_and(|instance| instance < most);
    Ok(Some(instances.into_iter().map(is_wanted).collect()))
}

fn add_calls(selection: &Selection<'_>, table: &Table, events: &mut Vec<Event>) -> Result<()> {
    let cube = selection.source.cube();
    let columns = Columns::of("window_calls", table);
    let windows = columns.integers("window")?;
    let locations = columns.positions("location", cube.locations.len())?;
    let cnodes = columns.positions("cnode", cube.cnodes.len())?;
    let (enters, leaves) = (columns.integers("enter")?, columns.integers("leave")?);
    let depths = columns.integers("depth")?;
    let mut by_location: BTreeMap<usize, Vec<Call>> = BTreeMap::new();
    for row in 0..table.rows() {
        let (Some(location), Some(cnode)) = (locations[row], cnodes[row]) else { continue };
        let (enter, leave) = (selection.time(enters[row]), selection.time(leaves[row]));
        let is_wanted = selection.has(location)
            && selection.has_window(windows[row])
            && leave >= enter
            && selection.touches(enter, leave);
        if is_wanted {
            let (enter, leave) = (enter.max(selection.begin), leave.min(selection.end));
            let call = Call { enter, leave, key: cnode, depth: depths[row] };
            by_location.entry(location).or_default().push(call);
        }
    }
    for (location, calls) in by_location {
        append(calls, location, |cnode| cube.cnodes[cnode].region.0, events);
    }
    Ok(())
}

/// The messages of the selected windows; one may be in several.
fn read_messages(selection: &Selection<'_>, table: &Table) -> Result<BTreeSet<Message>> {
    let columns = Columns::of("window_messages", table);
    let count = selection.source.cube().locations.len();
    let windows = columns.integers("window")?;
    let (sources, destinations) =
        (columns.positions("source", count)?, columns.positions("destination", count)?);
    let (send_enters, send_leaves) = (columns.integers("send_enter")?, columns.integers("send_leave")?);
    let (posts, receive_leaves) = (columns.integers("post")?, columns.integers("receive_leave")?);
    let (bytes, tags) = (columns.integers("bytes")?, columns.integers("tag")?);
    let communicators = columns.integers("communicator")?;
    let messages = (0..table.rows()).filter(|&row| selection.has_window(windows[row])).filter_map(|row| {
        Some(Message {
            source: sources[row]?,
            destination: destinations[row]?,
            send_enter: selection.time(send_enters[row]),
            send_leave: selection.time(send_leaves[row]),
            post: selection.time(posts[row]),
            receive_leave: selection.time(receive_leaves[row]),
            bytes: bytes[row],
            tag: tags[row],
            communicator: communicators[row],
        })
    });
    Ok(messages.collect())
}

/// Adds both ends of messages between selected locations in the selected time.
fn add_messages(selection: &Selection<'_>, messages: impl Iterator<Item = Message>, events: &mut Vec<Event>) {
    let is_selected = |message: &Message| {
        let is_inside = message.send_enter >= selection.begin && message.receive_leave <= selection.end;
        // With wrong clocks a message may arrive before it is sent: no arrow leads back in time.
        let is_forward = message.send_enter < message.receive_leave;
        selection.has(message.source) && selection.has(message.destination) && is_inside && is_forward
    };
    for (number, message) in (1..).zip(messages.filter(is_selected)) {
        let Message { source, destination, send_enter, receive_leave, .. } = message;
        let send = What::Send(number, message);
        events.push(Event { time: send_enter, location: source, what: send });
        let receive = What::Receive(number, message);
        events.push(Event { time: receive_leave, location: destination, what: receive });
    }
}

/// Reads the first `most` rows of a table of waits; those without length are left out.
fn read_waits(
    selection: &Selection<'_>,
    name: &str,
    table: &Table,
    most: usize,
    waits: &mut BTreeSet<Wait>,
) -> Result<()> {
    let cube = selection.source.cube();
    let columns = Columns::of(name, table);
    let metrics = columns.positions("metric", selection.manifest.metrics.len())?;
    let locations = columns.positions("location", cube.locations.len())?;
    let cnodes = columns.positions("cnode", cube.cnodes.len())?;
    let causes = columns.positions("cause_location", cube.locations.len())?;
    let (begins, ticks) = (columns.integers("begin")?, columns.integers("ticks")?);
    let (cause_enters, bytes) = (columns.integers("cause_enter")?, columns.integers("bytes")?);
    // Those around windows belong to their windows.
    let windows = if name == "window_waits" { Some(columns.integers("window")?) } else { None };
    for row in 0..table.rows().min(most) {
        let Some(location) = locations[row].filter(|&location| selection.has(location)) else { continue };
        if windows.as_ref().is_some_and(|windows| !selection.has_window(windows[row])) {
            continue;
        }
        let begin = selection.time(begins[row]);
        let end = selection.time(begins[row].saturating_add(ticks[row]));
        if begin < end && begin >= selection.begin && end <= selection.end {
            waits.insert(Wait {
                location,
                begin,
                end,
                ticks: ticks[row],
                metric: metrics[row],
                cnode: cnodes[row],
                cause: causes[row].filter(|&cause| selection.has(cause)),
                cause_time: selection.time(cause_enters[row]),
                bytes: bytes[row],
            });
        }
    }
    Ok(())
}

/// Waits of a location one after the other: where two overlap, the later one begins when the earlier one ends.
fn add_waits(waits: BTreeSet<Wait>, events: &mut Vec<Event>) {
    let mut last: BTreeMap<usize, i64> = BTreeMap::new();
    // Numbers that no message has.
    for (number, mut wait) in (1 << 32..).zip(waits) {
        let end = last.entry(wait.location).or_insert(i64::MIN);
        wait.begin = wait.begin.max(*end);
        if wait.begin >= wait.end {
            continue;
        }
        *end = wait.end;
        let location = wait.location;
        events.push(Event { time: wait.begin, location, what: What::WaitBegin(wait) });
        events.push(Event { time: wait.end, location, what: What::WaitEnd(number, wait) });
        if let Some(cause) = wait.cause.filter(|_| wait.has_arrow()) {
            let what = What::Cause(number, wait);
            events.push(Event { time: wait.cause_time, location: cause, what });
        }
    }
}

/// The stretches of the critical path, in order of time; none if the report has no such table.
///
/// # Errors
/// If the table is damaged.
pub(in crate::commands::export) fn stretches(source: &Source<'_>) -> Result<Vec<Stretch>> {
    let Some(manifest) = &source.opened.manifest else { return Ok(Vec::new()) };
    let Some(table) = source.opened.table("critical")? else { return Ok(Vec::new()) };
    let columns = Columns::of("critical", &table);
    let locations = columns.positions("location", source.cube().locations.len())?;
    let cnodes = columns.positions("cnode", source.cube().cnodes.len())?;
    let (begins, ends) = (columns.integers("begin")?, columns.integers("end")?);
    let time = |ticks| nanoseconds(ticks, manifest.ticks_per_second);
    let stretches = (0..table.rows()).filter_map(|row| {
        let location = locations[row].filter(|&at| source.locations[at])?;
        let (begin, end) = (time(begins[row]), time(ends[row]));
        (begin < end).then_some(Stretch { location, begin, end, cnode: cnodes[row] })
    });
    let mut stretches: Vec<Stretch> = stretches.collect();
    stretches.sort_by_key(|stretch| (stretch.begin, stretch.end, stretch.location));
    if let Some((begin, end)) = source.args.window()? {
        let (begin, end) = (of_seconds(begin), of_seconds(end));
        stretches.retain(|stretch| stretch.begin <= end && stretch.end >= begin);
    }
    Ok(stretches)
}
