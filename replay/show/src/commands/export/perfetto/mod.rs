//! `perfetto`: a trace for <https://ui.perfetto.dev>.
//!
//! Below the track "ranks" there are nodes, ranks and threads, all plain tracks in their order; below a thread its waits.
//! Arrows lead from sends to receives and from causes to waits. Counters and the critical path have tracks of their own.
//! All packets are one sequence, sorted by time, in nanoseconds since the begin of the trace.

mod messages;
mod tracks;

use std::io::Write;

use prost::Message as _;
use rustc_hash::FxHashMap;

use super::Remarks;
use super::events::{Event, Events, Series, Stretch, What, counters, from_tables, stretches};
use super::source::Source;
use super::text::name;
use crate::error::{Error, Result};
use crate::paths;
use messages::{
    COUNTER, DebugAnnotation, INSTANT, Interned, InternedData, NEEDS_STATE, SLICE_BEGIN, SLICE_END,
    STATE_CLEARED, Trace, TracePacket, TrackDescriptor, TrackEvent,
};

/// Something at a time, in the order in which it is written.
#[derive(Clone, Copy)]
enum Item<'i> {
    Event(&'i Event),
    CriticalBegin(&'i Stretch),
    CriticalEnd,
    Count(usize, f64),
}

/// Writes a trace.
///
/// # Errors
/// If the report has no events, or the output cannot be written.
pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> Result<Remarks> {
    let (events, remarks) = from_tables(source)?;
    let (critical, series) = (stretches(source)?, counters(source)?);
    let mut packets = Packets::new(out);
    for descriptor in tracks::descriptors(source, &events, &series, !critical.is_empty()) {
        packets.describe(descriptor)?;
    }
    for (time, item) in items(&events, &critical, &series) {
        match item {
            Item::Event(event) => add_event(source, &events, event, &mut packets)?,
            Item::CriticalBegin(stretch) => {
                let place = source.location_name(stretch.location);
                let function =
                    stretch.cnode.map_or("", |cnode| paths::name(source.cube(), cubex::CnodeId(cnode)));
                let track = packets.slice(tracks::CRITICAL, "critical", &format!("{place}: {function}"));
                packets.push(time, track)?;
            }
            Item::CriticalEnd => packets.push(time, end(tracks::CRITICAL))?,
            Item::Count(at, value) => {
                let event = TrackEvent {
                    kind: Some(COUNTER),
                    track_uuid: Some(tracks::counter(at)),
                    double_counter_value: Some(value),
                    ..TrackEvent::default()
                };
                packets.push(time, event)?;
            }
        }
    }
    Ok(remarks)
}

/// Everything in order of time.
fn items<'i>(events: &'i Events, critical: &'i [Stretch], series: &[Series]) -> Vec<(i64, Item<'i>)> {
    let mut items: Vec<(i64, Item<'i>)> =
        events.events.iter().map(|event| (event.time, Item::Event(event))).collect();
    // The path may be on several threads at once: a slice begins when the one before has ended.
    let mut last = i64::MIN;
    for stretch in critical {
        let begin = stretch.begin.max(last);
        if begin < stretch.end {
            items.push((begin, Item::CriticalBegin(stretch)));
            items.push((stretch.end, Item::CriticalEnd));
            last = stretch.end;
        }
    }
    for (at, series) in series.iter().enumerate() {
        items.extend(series.points.iter().map(|&(time, value)| (time, Item::Count(at, value))));
    }
    // Stable: events of one time are in their order, and an end is in front of the next begin.
    items.sort_by_key(|(time, _)| *time);
    items
}

fn end(track: u64) -> TrackEvent {
    TrackEvent { kind: Some(SLICE_END), track_uuid: Some(track), ..TrackEvent::default() }
}

fn add_event(source: &Source<'_>, events: &Events, event: &Event, packets: &mut Packets<'_>) -> Result<()> {
    let location = event.location;
    let (calls, waits) = (tracks::location(location), tracks::waits(location));
    let mut add = match event.what {
        What::Enter { function } => {
            let function = &events.functions[function];
            packets.slice(calls, function.category, &name(&function.name))
        }
        What::Leave => end(calls),
        What::WaitBegin(wait) => {
            let mut add = packets.slice(waits, "wait", &name(&source.metric_title(wait.metric)));
            let cause = wait.cause.map(|cause| source.location_name(cause));
            add.debug_annotations.extend(cause.map(|cause| packets.text("cause", cause)));
            let path = wait.cnode.map(|cnode| paths::path(source.cube(), cubex::CnodeId(cnode)));
            add.debug_annotations.extend(path.map(|path| packets.text("call path", path)));
            if wait.bytes >= 0 {
                add.debug_annotations.push(packets.number("bytes", wait.bytes));
            }
            add.debug_annotations.push(packets.number("ticks", wait.ticks));
            add
        }
        What::WaitEnd(number, wait) => {
            if wait.has_arrow() {
                let mut arrow = packets.instant(waits, "wait", "cause has come");
                arrow.terminating_flow_ids.push(number);
                packets.push(event.time, arrow)?;
            }
            end(waits)
        }
        What::Cause(number, _) => {
            let mut add = packets.instant(calls, "wait", "somebody waits for this");
            add.flow_ids.push(number);
            add
        }
        What::Send(number, message) => {
            let mut add = packets.instant(calls, "mpi", "send");
            add.flow_ids.push(number);
            add.debug_annotations.push(packets.number("bytes", message.bytes));
            add.debug_annotations.push(packets.number("tag", message.tag));
            add.debug_annotations.push(packets.text("to", source.location_name(message.destination)));
            add
        }
        What::Receive(number, message) => {
            let mut add = packets.instant(calls, "mpi", "receive");
            add.terminating_flow_ids.push(number);
            add.debug_annotations.push(packets.text("from", source.location_name(message.source)));
            add
        }
    };
    add.kind = add.kind.or(Some(INSTANT));
    packets.push(event.time, add)
}

/// The packets of a trace, with the names that have been interned.
struct Packets<'o> {
    out: &'o mut dyn Write,
    is_first: bool,
    categories: FxHashMap<String, u64>,
    names: FxHashMap<String, u64>,
    annotations: FxHashMap<String, u64>,
    /// Names for the next packet.
    pending: InternedData,
    bytes: Vec<u8>,
}

/// The number of a name; a new one goes to `pending`.
fn intern(known: &mut FxHashMap<String, u64>, pending: &mut Vec<Interned>, name: &str) -> u64 {
    if let Some(&iid) = known.get(name) {
        return iid;
    }
    let iid = known.len() as u64 + 1;
    known.insert(name.to_owned(), iid);
    pending.push(Interned { iid: Some(iid), name: Some(name.to_owned()) });
    iid
}

impl<'o> Packets<'o> {
    fn new(out: &'o mut dyn Write) -> Packets<'o> {
        Packets {
            out,
            is_first: true,
            categories: FxHashMap::default(),
            names: FxHashMap::default(),
            annotations: FxHashMap::default(),
            pending: InternedData::default(),
            bytes: Vec::new(),
        }
    }

    /// An event with a name.
    fn named(&mut self, kind: i32, track: u64, category: &str, name: &str) -> TrackEvent {
        let pending = &mut self.pending;
        TrackEvent {
            category_iids: vec![intern(&mut self.categories, &mut pending.event_categories, category)],
            kind: Some(kind),
            name_iid: Some(intern(&mut self.names, &mut pending.event_names, name)),
            track_uuid: Some(track),
            ..TrackEvent::default()
        }
    }

    fn slice(&mut self, track: u64, category: &str, name: &str) -> TrackEvent {
        self.named(SLICE_BEGIN, track, category, name)
    }

    fn instant(&mut self, track: u64, category: &str, name: &str) -> TrackEvent {
        self.named(INSTANT, track, category, name)
    }

    fn annotation(&mut self, name: &str) -> DebugAnnotation {
        let iid = intern(&mut self.annotations, &mut self.pending.debug_annotation_names, name);
        DebugAnnotation { name_iid: Some(iid), ..DebugAnnotation::default() }
    }

    fn text(&mut self, name: &str, value: String) -> DebugAnnotation {
        DebugAnnotation { string_value: Some(value), ..self.annotation(name) }
    }

    fn number(&mut self, name: &str, value: i64) -> DebugAnnotation {
        DebugAnnotation { int_value: Some(value), ..self.annotation(name) }
    }

    fn describe(&mut self, descriptor: TrackDescriptor) -> Result<()> {
        self.write(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() })
    }

    /// Writes an event with the names that it needs.
    fn push(&mut self, time: i64, event: TrackEvent) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let interned_data = (pending != InternedData::default()).then_some(pending);
        // Clocks that run backwards may have events before the begin.
        let timestamp = Some(u64::try_from(time).unwrap_or(0));
        self.write(TracePacket {
            timestamp,
            track_event: Some(event),
            interned_data,
            ..TracePacket::default()
        })
    }

    fn write(&mut self, packet: TracePacket) -> Result<()> {
        let cleared = if self.is_first { STATE_CLEARED } else { 0 };
        self.is_first = false;
        let packet = TracePacket {
            trusted_packet_sequence_id: Some(1),
            sequence_flags: Some(NEEDS_STATE | cleared),
            ..packet
        };
        self.bytes.clear();
        let trace = Trace { packet: vec![packet] };
        trace.encode(&mut self.bytes).map_err(|error| Error::new(format!("cannot write: {error}")))?;
        Ok(self.out.write_all(&self.bytes)?)
    }
}
