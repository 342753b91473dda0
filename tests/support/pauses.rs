//! Simulation of pauses in recording: the recorder's rules, written down again as plainly as possible,
//! applied to the trace of a run that was recorded completely. For single-threaded processes without matched
//! probes.

use std::collections::BTreeMap;

use model::attributes::{COUNTED, DISORDERED, POSTED, UNRECORDED};

use super::random::Random;
use super::trace::{Message, Step, Stream, Trace};

/// First code of operations that create or destroy handles: these are not counted.
const HANDLES: u8 = 17;

/// A channel: direction, communicator, rank and tag of messages; or the communicator of collective
/// operations.
type ChannelKey = (&'static str, String, u32, u32);

/// Counters of a channel.
#[derive(Default)]
struct ChannelCount {
    missing: u64,
    announced: u64,
    /// Posting time of the latest missing receive, and of the latest recorded one.
    last_missing: Option<u64>,
    last_recorded: Option<u64>,
}

impl ChannelCount {
    fn announce(&mut self) -> Option<(&'static str, u64)> {
        let is_new = self.missing != self.announced;
        self.announced = self.missing;
        is_new.then_some((UNRECORDED, self.missing))
    }
}

/// An active request.
struct PendingRequest {
    begin: u64,
    is_recorded: bool,
    is_send: bool,
}

struct Recorder<'a> {
    random: &'a mut Random,
    /// Percentage of calls at which recording pauses or continues.
    switches: usize,
    out: Vec<(u64, Step)>,
    is_on: bool,
    /// Open regions, and those that were open when recording paused.
    open: Vec<String>,
    paused: Vec<String>,
    /// Start of the open MPI call, and the number of open regions at that time.
    call: Option<(u64, usize)>,
    requests: BTreeMap<u64, PendingRequest>,
    counts: BTreeMap<ChannelKey, ChannelCount>,
}

/// The trace of the same run with pauses in it.
pub(crate) fn with_pauses(trace: &Trace, random: &mut Random, switches: usize) -> Trace {
    let stream = |stream: &Stream| {
        let mut recorder = Recorder {
            random,
            switches,
            out: Vec::new(),
            is_on: true,
            open: Vec::new(),
            paused: Vec::new(),
            call: None,
            requests: BTreeMap::new(),
            counts: BTreeMap::new(),
        };
        stream.events.iter().for_each(|(time, step)| recorder.step(*time, step));
        // The end of the program is part of every trace.
        if let Some((time, _)) = stream.events.last().filter(|_| !recorder.is_on) {
            recorder.switch(*time);
        }
        Stream { events: recorder.out, ..stream.clone() }
    };
    let streams: Vec<Stream> = trace.streams.iter().map(stream).collect();
    Trace { streams, ..trace.clone() }
}

impl Recorder<'_> {
    fn put(&mut self, time: u64, step: Step, attributes: Vec<(&'static str, u64)>) {
        let step =
            if attributes.is_empty() { step } else { Step::WithAttributes(Box::new(step), attributes) };
        self.out.push((time, step));
    }

    fn switch(&mut self, time: u64) {
        self.is_on = !self.is_on;
        self.put(time, Step::Recording(self.is_on), vec![(COUNTED, 1)]);
        if !self.is_on {
            self.paused.clone_from(&self.open);
            return;
        }
        let kept = self.paused.iter().zip(&self.open).take_while(|(a, b)| a == b).count();
        for _ in kept..self.paused.len() {
            self.out.push((time, Step::Leave));
        }
        for region in &self.open[kept..] {
            self.out.push((time, Step::Enter(region.clone())));
        }
    }

    fn count(&mut self, channel: ChannelKey) -> &mut ChannelCount {
        self.counts.entry(channel).or_default()
    }

    fn step(&mut self, time: u64, step: &Step) {
        let begin = self.call.map_or(time, |(begin, _)| begin);
        match step {
            Step::Enter(region) => {
                if self.call.is_none() && region.starts_with("MPI_") {
                    if !region.starts_with("MPI_Init") && self.random.chance(self.switches) {
                        self.switch(time);
                    }
                    self.call = Some((time, self.open.len()));
                }
                self.open.push(region.clone());
                self.pass(time, step);
            }
            Step::Leave => {
                self.open.pop();
                self.call = self.call.filter(|&(_, depth)| self.open.len() > depth);
                self.pass(time, step);
            }
            Step::Send(message) => self.send(time, step, message),
            Step::Isend(message, request) => {
                let is_recorded = self.is_on;
                self.requests.insert(*request, PendingRequest { begin, is_recorded, is_send: true });
                self.send(time, step, message);
            }
            Step::IrecvRequest(request) => {
                let is_recorded = self.is_on;
                self.requests.insert(*request, PendingRequest { begin, is_recorded, is_send: false });
                self.pass(time, step);
            }
            Step::Recv(message) => self.receive(time, step, message, begin, self.is_on),
            Step::Irecv(message, request) => {
                let PendingRequest { begin, is_recorded, .. } = self.requests.remove(request).unwrap();
                self.receive(time, step, message, begin, is_recorded);
            }
            Step::IsendComplete(request) => {
                if self.requests.remove(request).unwrap().is_recorded {
                    self.out.push((time, step.clone()));
                }
            }
            Step::Test(request) => {
                if self.requests.get(request).is_none_or(|request| request.is_recorded) {
                    self.pass(time, step);
                }
            }
            Step::Cancel(request) => {
                let PendingRequest { is_recorded, is_send, .. } = self.requests.remove(request).unwrap();
                if is_recorded {
                    self.out.push((time, step.clone()));
                } else if is_send {
                    self.out.push((time, Step::Recording(self.is_on)));
                }
            }
            Step::CollectiveEnd { operation, communicator, .. } if operation.0 < HANDLES => {
                let is_on = self.is_on;
                let count = self.count(("in", communicator.clone(), 0, 0));
                if is_on {
                    let attributes = count.announce();
                    self.put(time, step.clone(), attributes.into_iter().collect());
                } else {
                    count.missing += 1;
                }
            }
            _ => self.pass(time, step),
        }
    }

    /// Records an event if recording is on.
    fn pass(&mut self, time: u64, step: &Step) {
        if self.is_on {
            self.out.push((time, step.clone()));
        }
    }

    fn send(&mut self, time: u64, step: &Step, message: &Message) {
        let is_on = self.is_on;
        let count = self.count(("to", message.communicator.clone(), message.peer, message.tag));
        if is_on {
            let attributes = count.announce();
            self.put(time, step.clone(), attributes.into_iter().collect());
        } else {
            count.missing += 1;
        }
    }

    fn receive(&mut self, time: u64, step: &Step, message: &Message, posted: u64, is_posted: bool) {
        let is_on = self.is_on;
        let count = self.count(("from", message.communicator.clone(), message.peer, message.tag));
        let mut attributes = Vec::new();
        if is_on || is_posted {
            count.last_recorded = count.last_recorded.max(Some(posted));
            attributes.extend(count.announce());
            if count.last_missing >= Some(posted) {
                attributes.push((DISORDERED, 1));
            }
        } else if count.last_recorded >= Some(posted) {
            attributes.push((DISORDERED, 1));
        } else {
            count.missing += 1;
            count.last_missing = count.last_missing.max(Some(posted));
            return;
        }
        if !is_posted {
            attributes.push((POSTED, posted));
        }
        self.put(time, step.clone(), attributes);
    }
}
