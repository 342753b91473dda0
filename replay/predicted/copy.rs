//! Copies the records of a location with other times.

use model::{Ticks, attributes};
use otf2::{
    Attribute, Attributes, ClockCorrection, Event, EventCursor, EventRecord, EventWriter, MappingType,
    Mappings, Timestamp, Value,
};

use crate::trace::Trace;
use crate::what_if::RecordTimes;

/// What was copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Copied {
    /// The latest time of a record, as measured and as replayed; [`Ticks::MIN`] without any.
    pub(super) measured: Ticks,
    pub(super) replayed: Ticks,
    /// How many records have another time.
    pub(super) moved: u64,
}

crate::wire::wire!(Copied { measured, replayed, moved });

impl Default for Copied {
    fn default() -> Copied {
        Copied { measured: Ticks::MIN, replayed: Ticks::MIN, moved: 0 }
    }
}

impl Copied {
    pub(super) fn merge(&mut self, other: Copied) {
        self.measured = self.measured.max(other.measured);
        self.replayed = self.replayed.max(other.replayed);
        self.moved += other.moved;
    }
}

/// A location whose records are copied.
#[derive(Debug)]
pub(super) struct Source<'s> {
    pub(super) trace: &'s Trace,
    pub(super) mappings: &'s Mappings,
    pub(super) clock: ClockCorrection,
    pub(super) times: RecordTimes<'s>,
}

/// Copies all records that were walked.
///
/// # Errors
/// If the file is damaged, or a record cannot be written.
pub(super) fn copy(
    mut events: EventCursor<'_>,
    mut source: Source<'_>,
    out: &mut EventWriter,
) -> Result<Copied, otf2::Error> {
    let posted = source.posted();
    let mut copied = Copied::default();
    let mut last = 0;
    for _ in 0..source.times.count() {
        let Some(record) = events.next()? else { break };
        let Some((measured, replayed)) = source.times.next(begins(&record.event)) else { break };
        copied.merge(Copied { measured, replayed, moved: u64::from(measured != replayed) });
        // What is not moved keeps its time, however far away that is.
        let global = source.clock.correct(record.time);
        let time = match measured == replayed {
            true => global,
            false => source.trace.definitions.clock.global_offset.wrapping_add_signed(replayed),
        };
        // No file has times that go backwards.
        last = time.max(last);
        let moved = last.wrapping_sub(global);
        let event = match record.event {
            Event::BufferFlush { stop_time } => {
                let stop = source.clock.correct(stop_time.0).wrapping_add(moved);
                Event::BufferFlush { stop_time: Timestamp(stop) }
            }
            other => other,
        };
        match posted {
            Some(posted) if !record.attributes.is_empty() => {
                let all = source.attributes(&record, posted, moved);
                out.write(last, event, Attributes::from(&all[..]))?;
            }
            _ => out.write(last, event, record.attributes)?,
        }
    }
    Ok(copied)
}

impl Source<'_> {
    /// The reference of the attribute that has the time at which a receive was posted.
    fn posted(&self) -> Option<u64> {
        let names = &self.trace.definitions.attributes;
        Some(names.reference(names.iter().position(|name| name == attributes::POSTED)?))
    }

    /// The attributes of a record: those that are times move with it.
    fn attributes(&mut self, record: &EventRecord<'_>, posted: u64, moved: u64) -> Vec<Attribute> {
        let Source { mappings, clock, .. } = self;
        let moved = |attribute: Attribute| {
            let global = mappings.global(MappingType::Attribute, attribute.attribute);
            if u64::from(global) != posted {
                return attribute;
            }
            let Value { kind, bits } = attribute.value;
            Attribute { value: Value::new(kind, clock.correct(bits).wrapping_add(moved)), ..attribute }
        };
        record.attributes.into_iter().map(moved).collect()
    }
}

/// Whether a record inside of a call begins something, and so stays near the enter of the call; others stay near its leave.
fn begins(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::MpiSend { .. }
            | Event::MpiIsend { .. }
            | Event::MpiIrecvRequest { .. }
            | Event::MpiImrecvRequest { .. }
            | Event::MpiCollectiveBegin {}
            | Event::NonBlockingCollectiveRequest { .. }
            | Event::RmaCollectiveBegin {}
            | Event::RmaRequestLock { .. }
            | Event::RmaPut { .. }
            | Event::RmaGet { .. }
            | Event::RmaAtomic { .. }
            | Event::IoOperationBegin { .. }
            | Event::IoOperationIssued { .. }
            | Event::ThreadTaskCreate { .. }
            | Event::ThreadCreate { .. }
    )
}
