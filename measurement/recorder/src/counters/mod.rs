//! Counters of the processor and of the kernel (site.md, 5.2): their values at each event that changes the call path, as a `Metric` in
//! front of it, at the time of that. They count from the begin of the thread on, so that the difference of two records belongs to the
//! time between their events.

mod choice;
mod group;
#[cfg(any(target_arch = "x86_64", test))]
mod page;

use recording::counters::{CLASS, KernelEvent};
use recording::journal::CounterDefinition;
use recording::settings::ProfileMode;

use crate::events::Events;
use crate::process::Process;
use crate::record::WriteMetric;

use group::Group;

pub(crate) use choice::choose;

/// The counters of a recording: the same in all processes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Chosen {
    /// What they count.
    pub(crate) counters: Vec<CounterDefinition>,
    events: Vec<KernelEvent>,
}

/// The counters of one thread.
pub(crate) struct Counters {
    group: Option<Group>,
    number: usize,
    /// Whether values were not known at an event.
    has_gaps: bool,
}

impl Counters {
    /// Those of a thread without any.
    pub(crate) fn none() -> Counters {
        Counters { group: None, number: 0, has_gaps: false }
    }

    /// Those of the calling thread from now on, if the recording has any.
    pub(crate) fn begin(process: &Process) -> Counters {
        let Chosen { events, .. } = &process.counters;
        if events.is_empty() || process.settings.profile == ProfileMode::Report {
            return Counters::none();
        }
        match Group::open(events) {
            Ok(group) => Counters { group: Some(group), number: events.len(), has_gaps: false },
            Err(cause) => {
                process.notice(&format!("counters are not recorded of a thread: {cause}"));
                Counters::none()
            }
        }
    }

    /// Whether they are recorded.
    pub(crate) fn are_recorded(&self) -> bool {
        self.group.is_some()
    }

    /// Records the values at the next event, which is at that time.
    #[inline(always)]
    pub(crate) fn settle(&mut self, events: &mut Events, time: u64, write: WriteMetric) {
        if self.group.is_some() && !events.is_muted() {
            self.record(events, time, write);
        }
    }

    fn record(&mut self, events: &mut Events, time: u64, write: WriteMetric) {
        match self.group.as_ref().and_then(Group::read) {
            Some(values) => write(events, time, CLASS, &values[..self.number]),
            None => self.has_gaps = true,
        }
    }

    /// Says in the journal what is missing.
    pub(crate) fn remark(&self, process: &Process) {
        if self.has_gaps {
            process.notice(
                "counters had no values at some events of a thread: what they have counted is with later ones, or missing",
            );
        }
    }
}
