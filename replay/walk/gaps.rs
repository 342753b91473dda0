//! Gaps: stretches in which recording was off, and the counts of messages and collective operations in them
//! that are missing in the trace ([`model::attributes`]).

use model::{Definitions, MeasurementMode, Ticks, attributes};
use otf2::{Attributes, MappingType, Mappings};
use patterns::matched::Interval;
use rustc_hash::FxHashMap;

use super::attributes::reference;
use super::process::ProcessWalk;
use crate::call_tree::NO_SITE;
use crate::findings::Finding;
use crate::ids::{CallId, EventNumber};
use crate::trace::Artificial;

/// Maximum number of messages on a channel; larger counts are impossible.
const MOST: u64 = 1 << 48;

/// Says that whole operations are missing, on all members.
const EVEN: u64 = 2;

/// References of the attributes on missing operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct GapAttributes {
    unrecorded: Option<u64>,
    posted: Option<u64>,
    disordered: Option<u64>,
    counted: u64,
}

impl GapAttributes {
    /// Returns those that a trace defines; `None` if it has no counts of missing operations.
    pub(super) fn find(definitions: &Definitions) -> Option<GapAttributes> {
        let find = |name| reference(definitions, name);
        Some(GapAttributes {
            unrecorded: find(attributes::UNRECORDED),
            posted: find(attributes::POSTED),
            disordered: find(attributes::DISORDERED),
            counted: find(attributes::COUNTED)?,
        })
    }

    /// Reads the attributes of an event.
    #[cold]
    pub(super) fn read(&self, attributes: Attributes<'_>, mappings: &Mappings) -> MissingOperations {
        let mut told = MissingOperations::default();
        for attribute in attributes {
            let known = Some(u64::from(mappings.global(MappingType::Attribute, attribute.attribute)));
            let value = attribute.value.bits;
            if known == self.unrecorded {
                told.unrecorded = Some(value);
            } else if known == self.posted {
                told.posted = Some(value);
            } else if known == self.disordered {
                told.is_disordered = value != 0;
            } else if known == Some(self.counted) {
                (told.is_counted, told.is_even) = (value != 0, value == EVEN);
            }
        }
        told
    }
}

/// Attributes of an event on missing operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct MissingOperations {
    /// Number of missing operations before this one.
    pub(super) unrecorded: Option<u64>,
    /// The time at which a receive was posted, in ticks of the location.
    posted: Option<u64>,
    /// The same in ticks of the analysis.
    pub(super) posted_at: Option<Ticks>,
    pub(super) is_disordered: bool,
    is_counted: bool,
    /// Whether whole operations are missing, on all members.
    pub(super) is_even: bool,
}

impl MissingOperations {
    /// Converts the time.
    pub(super) fn with_time(self, ticks: impl FnOnce(u64) -> Ticks) -> MissingOperations {
        MissingOperations { posted_at: self.posted.map(ticks), ..self }
    }
}

/// Subject of a count of missing operations: messages sent or received, by the position of their envelope, or
/// collective operations, by that of their communicator; those among neighbours by themselves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Counted {
    Sends(u32),
    Receives(u32),
    Collectives(u32),
    Neighborhoods(u32),
}

/// The last count of each subject.
#[derive(Debug, Default)]
pub(super) struct Counts(FxHashMap<Counted, u64>);

/// A point at which recording was resumed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Resumed {
    time: Ticks,
    /// The stretch before, in which recording was off, as a call.
    off: CallId,
    position: EventNumber,
}

impl ProcessWalk<'_> {
    /// Switches recording on or off.
    pub(super) fn switch(&mut self, thread: usize, mode: MeasurementMode, time: Ticks) {
        let region = self.trace.artificial(Artificial::MeasurementOff);
        let mut frames = self.threads[thread].stack.frames().iter();
        let off_since = frames.find(|frame| frame.region == region).map(|frame| frame.enter);
        let is_counted = self.told.is_counted;
        if !is_counted && self.operations.pause.is_some() {
            self.operations.lose_count();
            // A recorder that has lost count says so without switching.
            if off_since.is_some() == (mode == MeasurementMode::OFF) {
                return;
            }
        }
        if mode == MeasurementMode::OFF {
            // Only short archives lack whole operations, and their sources have no gaps.
            match self.told.is_even {
                true => self.find(Finding::LeftOut, thread, || "left out from here on"),
                false => self.find(Finding::RecordingOff, thread, || "recording stops"),
            }
            if is_counted {
                self.operations.pause(self.told.is_even);
            } else {
                self.operations.switch_off();
            }
            self.operations.off.push(Interval::new(time, Ticks::MAX));
            self.account_common(thread, 0, None, time);
            self.enter(thread, region, NO_SITE, time);
        } else if let Some(since) = off_since {
            self.threads[thread].last_values.iter_mut().for_each(|last| last.forget());
            self.threads[thread].forget_states();
            let open = Interval::new(since, Ticks::MAX);
            if let Some(off) = self.operations.off.iter_mut().rfind(|off| **off == open) {
                off.leave = time;
            }
            let off = self.call_while_off(thread).filter(|_| is_counted);
            let ticks = self.threads[thread].counted(since, time - since);
            self.threads[thread].elapsed.add_off(ticks);
            self.note_gap(thread, region, time);
            self.leave(thread, region, time);
            // Outside of any region nothing has a position.
            if let Some(off) = off.filter(|_| self.threads[thread].stack.last().is_some()) {
                let position = self.threads[thread].mark_innermost();
                self.resumed.entry(thread).or_default().push(Resumed { time, off, position });
            }
        }
    }

    /// Returns the position of a receive's posting while recording was off: the stretch as a call, and the
    /// point at which recording was resumed.
    pub(super) fn missing_posting(&self, thread: usize, posted: Ticks) -> Option<(CallId, EventNumber)> {
        let all = self.resumed.get(&thread)?;
        let next = all.get(all.partition_point(|resumed| resumed.time < posted))?;
        Some((next.off, next.position))
    }

    /// Returns the stretch in which recording is off and counted, as a call, if a thread is in one:
    /// operations that started before it may end there.
    pub(super) fn call_while_off(&mut self, thread: usize) -> Option<CallId> {
        let region = self.trace.artificial(Artificial::MeasurementOff);
        let innermost = self.threads[thread].stack.last()?.region;
        if innermost != region || self.operations.pause.is_none() {
            return None;
        }
        self.call(thread)
    }

    /// Notes the number of operations missing before this one. Returns whether it is possible.
    pub(super) fn count_missing(&mut self, what: Counted, missing: u64) -> bool {
        let before = self.counts.0.insert(what, missing).unwrap_or(0);
        let most = if matches!(what, Counted::Collectives(_) | Counted::Neighborhoods(_)) {
            u64::from(u32::MAX) / 2
        } else {
            MOST
        };
        let is_possible = missing >= before && missing <= most && self.operations.pause.is_some();
        if !is_possible {
            self.operations.lose_count();
        }
        is_possible
    }
}
