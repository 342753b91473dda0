//! Writes the events of a thread: its steps, with the ends of messages among them.

use std::path::Path;

use model::CollectiveOp;
use otf2::{Attributes, Event, EventWriter, List, MetricValue, ROOT_NONE, ValueType};

use crate::contexts::Node;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::messages::Paired;
use crate::placing::{Side, place};
use crate::spool::Spool;
use crate::steps::{Collective, Step, Steps};

/// The end of a message, with its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct End {
    /// The number of steps in front of it.
    position: u64,
    time: u64,
    /// At one place, what is over comes before what begins.
    begins: bool,
    message: u32,
    kind: Kind,
}

/// What happens to a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Sent,
    Started,
    SendComplete,
    Received,
    Posted,
    Complete,
}

/// A call that has not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Open {
    region: u32,
    /// Its call path, if events have call paths.
    context: Option<u32>,
    /// The collective operation that it is, with its root.
    collective: Option<(CollectiveOp, Collective, u32)>,
}

/// Writes the events of a thread.
pub(crate) struct Location<'e> {
    events: &'e mut Events,
    writer: EventWriter,
    messages: &'e [Paired],
    /// Sums of counters.
    counts: Vec<u64>,
    open: Vec<Open>,
    /// The context of the next call.
    next: Option<u32>,
    /// The context that a thread is known to be in.
    context: Option<u32>,
}

/// What all threads share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around<'a> {
    pub(crate) spool: &'a Spool,
    /// For messages: the file of the spool.
    pub(crate) place: &'a Path,
    /// The end of the trace.
    pub(crate) end: u64,
}

impl<'e> Location<'e> {
    pub(crate) fn new(events: &'e mut Events, writer: EventWriter, messages: &'e [Paired]) -> Location<'e> {
        let (counts, open) = (Vec::new(), Vec::new());
        Location { events, writer, messages, counts, open, next: None, context: None }
    }

    /// Writes all; returns the number of events.
    pub(crate) fn write(mut self, stream: usize, mut sides: Vec<Side>, around: &Around<'_>) -> Result<u64> {
        let failed = |cause| Error::io(around.place, "read a temporary file", &cause);
        place(Steps::new(around.spool, stream), &mut sides).map_err(failed)?;
        let ends = self.ends(&sides);
        drop(sides);
        let mut ends = ends.iter().peekable();
        let has_program = !self.events.has_functions;
        if has_program {
            self.enter(0, self.events.program)?;
        }
        let mut steps = Steps::new(around.spool, stream);
        let mut position: u64 = 0;
        while let Some((time, step)) = steps.next().map_err(failed)? {
            while let Some(end) = ends.next_if(|end| end.position <= position) {
                self.end(end)?;
            }
            self.step(time, step)?;
            position += 1;
        }
        for end in ends {
            self.end(end)?;
        }
        if has_program {
            self.leave(around.end)?;
        }
        Ok(self.writer.finish()?)
    }

    /// The ends of messages that events tell, in their order.
    fn ends(&mut self, sides: &[Side]) -> Vec<End> {
        let mut ends = Vec::with_capacity(2 * sides.len());
        for side in sides {
            let Side { message, is_send, begin, end, begins, ends: over } = *side;
            let is_shared = self.message(message).is_some_and(|paired| paired.is_shared);
            // Without length a request would be complete when it is posted.
            let needs_request = is_shared && !is_send && begin < end;
            let is_one_call = begins.call == over.call && !needs_request;
            let begin = |kind| End { position: begins.position, time: begin, begins: true, message, kind };
            let over = |kind| End { position: over.position, time: end, begins: false, message, kind };
            match (is_send, is_one_call) {
                (true, true) => ends.push(begin(Kind::Sent)),
                (true, false) => ends.extend([begin(Kind::Started), over(Kind::SendComplete)]),
                (false, true) => ends.push(over(Kind::Received)),
                (false, false) => ends.extend([begin(Kind::Posted), over(Kind::Complete)]),
            }
            self.events.remarks.outside += u64::from(begins.call == 0) + u64::from(side.ends.call == 0);
        }
        ends.sort_unstable();
        ends
    }

    fn message(&self, message: u32) -> Option<&Paired> {
        self.messages.get(usize::try_from(message).ok()?)
    }

    fn event(&mut self, time: u64, event: Event<'_>) -> Result<()> {
        Ok(self.writer.write(time, event, Attributes::EMPTY)?)
    }

    /// Writes the end of a message. The two requests of one are numbered by its position.
    fn end(&mut self, end: &End) -> Result<()> {
        let Some(&Paired { message, layer, .. }) = self.message(end.message) else { return Ok(()) };
        let communicator = self.events.communicators.reference_of_layer(layer);
        let (receiver, sender, msg_tag, msg_length) =
            (message.receiver.task, message.sender.task, message.tag, message.bytes);
        let of_send = 2 * u64::from(end.message);
        let of_receive = of_send + 1;
        let event = match end.kind {
            Kind::Sent => Event::MpiSend { receiver, communicator, msg_tag, msg_length },
            Kind::Started => {
                Event::MpiIsend { receiver, communicator, msg_tag, msg_length, request_id: of_send }
            }
            Kind::SendComplete => Event::MpiIsendComplete { request_id: of_send },
            Kind::Received => Event::MpiRecv { sender, communicator, msg_tag, msg_length },
            Kind::Posted => Event::MpiIrecvRequest { request_id: of_receive },
            Kind::Complete => {
                Event::MpiIrecv { sender, communicator, msg_tag, msg_length, request_id: of_receive }
            }
        };
        self.event(end.time, event)
    }

    fn step(&mut self, time: u64, step: Step) -> Result<()> {
        match step {
            Step::Enter { region, .. } => self.enter(time, region),
            Step::Leave => self.leave(time),
            Step::Count { counter, more } => self.count(time, counter, more),
            Step::Callers { path } => {
                self.next = Some(path);
                Ok(())
            }
            Step::Collective(collective) => self.begin_collective(time, collective),
        }
    }

    /// Writes the value of a counter, which is the sum of all that has been counted.
    fn count(&mut self, time: u64, counter: u32, more: u64) -> Result<()> {
        let at = usize::try_from(counter).unwrap_or(usize::MAX);
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        let Some(sum) = self.counts.get_mut(at) else { return Ok(()) };
        *sum = sum.wrapping_add(more);
        let values = [MetricValue { kind: ValueType::UINT64, bits: *sum }];
        self.event(time, Event::Metric { metric: counter, metric_values: List::from(&values[..]) })
    }

    fn enter(&mut self, time: u64, region: u32) -> Result<()> {
        if self.events.has_functions || !self.events.has_callers {
            self.open.push(Open { region, context: None, collective: None });
            return self.event(time, Event::Enter { region });
        }
        let path = self.next.take().unwrap_or_else(|| {
            let parent = self.open.first().and_then(|open| open.context);
            self.events.contexts.number(Node { parent, region, line: 0 })
        });
        let new = self.events.contexts.new_functions(path, self.context);
        self.context = Some(path);
        self.open.push(Open { region, context: Some(path), collective: None });
        // One more than the number of functions that are new, of which the call is one.
        self.event(
            time,
            Event::CallingContextEnter { calling_context: path, unwind_distance: new.max(1) + 1 },
        )
    }

    fn leave(&mut self, time: u64) -> Result<()> {
        let Some(Open { region, context, collective }) = self.open.pop() else { return Ok(()) };
        if let Some((collective_op, Collective { sent, received, communicator, .. }, root)) = collective {
            let communicator = self.events.communicators.reference(communicator);
            let (size_sent, size_received) = (sent, received);
            let end = Event::MpiCollectiveEnd { collective_op, communicator, root, size_sent, size_received };
            self.event(time, end)?;
        }
        match context {
            None => self.event(time, Event::Leave { region }),
            Some(calling_context) => {
                self.context = self.events.contexts.get(calling_context).and_then(|node| node.parent);
                self.event(time, Event::CallingContextLeave { calling_context })
            }
        }
    }

    /// Begins a collective operation in the call that has just begun, if its root is known.
    fn begin_collective(&mut self, time: u64, collective: Collective) -> Result<()> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let Some((op, has_root)) = self.events.regions.get(open.region).and_then(|region| region.collective)
        else {
            return Ok(());
        };
        let group = self.events.communicators.get(collective.communicator);
        let root = match has_root {
            false => Some(ROOT_NONE),
            true => group.and_then(|group| group.root(collective.order)),
        };
        let Some(root) = root else {
            self.events.remarks.without_root += 1;
            return Ok(());
        };
        open.collective = Some((op, collective, root));
        self.event(time, Event::MpiCollectiveBegin {})
    }
}
