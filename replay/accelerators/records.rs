//! Records of events: what an event stands for when something waits for it (site.md, 6.2).

use model::Ticks;
use rustc_hash::FxHashMap;

use crate::operations::{EventCall, Offload};

/// The calls that record each event.
#[derive(Clone, Debug, Default)]
pub(super) struct Records<'o> {
    /// By number of the event, in the order of the ends of calls.
    of_events: FxHashMap<u64, Vec<&'o EventCall>>,
}

impl<'o> Records<'o> {
    /// Sorts those of a process.
    pub(super) fn new(offload: &'o Offload) -> Records<'o> {
        let mut of_events: FxHashMap<u64, Vec<&EventCall>> = FxHashMap::default();
        for record in &offload.records {
            if let Some(event) = record.event {
                of_events.entry(event).or_default().push(record);
            }
        }
        Records { of_events }
    }

    /// The last record of an event before a time.
    pub(super) fn last(&self, event: u64, before: Ticks) -> Option<&'o EventCall> {
        let of_event = self.of_events.get(&event)?;
        let end = of_event.partition_point(|record| record.call.leave <= before);
        end.checked_sub(1).map(|last| of_event[last])
    }
}
