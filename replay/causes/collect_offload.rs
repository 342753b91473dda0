//! Points and delays of accelerators: launches, and calls that wait for what streams run (site.md, 6.2).

use super::collect::Collector;
use super::delay::{Delay, DelayClass, Form, Notice};
use super::points::{Next, Peers, SyncPoint, caused, own_location};
use crate::accelerators::{EndEdge, OffloadEdges, StartEdge, Succession};
use crate::details::critical::Link;
use crate::int::to_u32;
use crate::journal::{EventSpot, JournalSpot};
use crate::trace::Trace;

impl Collector<'_> {
    /// Adds those of a process.
    pub(super) fn offload(&mut self, trace: &Trace, edges: &OffloadEdges) {
        // Of several points at one event the first counts, and a call that waits for its own copy waits.
        edges.ends.iter().filter(|end| end.ticks > 0).for_each(|end| self.end(trace, end));
        edges.starts.iter().for_each(|start| self.start(trace, start));
        edges.successions.iter().for_each(|succession| self.succession(trace, succession));
    }

    /// A launch is a point on both time lines: both have synchronised there. Where the stream had nothing to do before, the critical
    /// path goes on at the thread, backwards.
    fn start(&mut self, trace: &Trace, start: &StartEdge) {
        let (host, stream) = (start.host.in_journal(), start.stream.in_journal());
        self.add(host.location, caused(host.position, 0, Peers::One(own_location(trace, stream.location))));
        let point = caused(stream.position, 0, Peers::One(own_location(trace, host.location)));
        let next = match start.is_awaited {
            true => self.continues_at(host),
            false => Next::Through,
        };
        self.add(stream.location, SyncPoint { next, ..point });
        self.note(host, start.time, Link::Offload);
    }

    /// The critical path goes from a kernel or copy to the one of another stream that it has waited for.
    fn succession(&mut self, trace: &Trace, &Succession { end, begin, time }: &Succession) {
        let (end, begin) = (end.in_journal(), begin.in_journal());
        self.add(end.location, caused(end.position, 0, Peers::One(own_location(trace, begin.location))));
        let point = caused(begin.position, 0, Peers::One(own_location(trace, end.location)));
        let next = self.continues_at(end);
        self.add(begin.location, SyncPoint { next, ..point });
        self.note(end, time, Link::Offload);
    }

    /// The critical path always goes on at an event, backwards.
    fn continues_at(&mut self, spot: JournalSpot) -> Next {
        self.collected.meetings.push(vec![spot]);
        Next::Team(to_u32(self.collected.meetings.len() - 1))
    }

    /// A call that waits for a kernel or a copy.
    fn end(&mut self, trace: &Trace, end: &EndEdge) {
        let EndEdge { begin, ticks, .. } = *end;
        let [waiting, causing] = [end.waiting, end.causing].map(EventSpot::in_journal);
        let delay = Delay {
            class: DelayClass::Accelerator,
            form: Form::Edge,
            waiting,
            causing,
            wait: ticks,
            time: begin + ticks,
            scope: 0,
        };
        let partner = own_location(trace, causing.location);
        self.edge(Notice { delay, taken: 0 }, ticks, partner, begin);
    }
}
