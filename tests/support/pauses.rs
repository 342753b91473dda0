//! What the recorder makes of a program if recording pauses now and then: its rules, over again and as plainly as possible,
//! applied to the trace of a run that was recorded as a whole. Of single-threaded processes without matched probes.

use std::collections::BTreeMap;

use model::attributes::{COUNTED, DISORDERED, POSTED, UNRECORDED};

use super::random::Random;
use super::trace::{Message, Step, Stream, Trace};

/// First code of operations that create or destroy handles: they are not counted.
const HANDLES: u8 = 17;

/// Messages by direction, communicator, rank and tag; or collective operations by communicator.
type Channel = (&'static str, String, u32, u32);

/// What is known of a channel.
#[derive(Default)]
struct Count {
    missing: u64,
    told: u64,
    /// When the latest missing receive was posted, and the latest recorded one.
    last_missing: Option<u64>,
    last_recorded: Option<u64>,
}

impl Count {
    fn tell(&mut self) -> Option<(&'static str, u64)> {
        let is_new = self.missing != self.told;
        self.told = self.missing;
        is_new.then_some((UNRECORDED, self.missing))
    }
}

/// A request under way.
struct Request {
    begin: u64,
    is_recorded: bool,
    is_send: bool,
}

struct Recorder<'a> {
    random: &'a mut Random,
    /// How often it pauses or goes on, in a hundred calls.
    switches: usize,
    out: Vec<(u64, Step)>,
    is_on: bool,
    /// Open regions, and those that were when recording paused.
    open: Vec<String>,
    paused: Vec<String>,
    /// Since when a call of MPI is open, and how many regions were then.
    call: Option<(u64, usize)>,
    requests: BTreeMap<u64, Request>,
    counts: BTreeMap<Channel, Count>,
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
        // The end of a program belongs to any trace.
        if let Some((time, _)) = stream.events.last().filter(|_| !recorder.is_on) {
            recorder.switch(*time);
        }
        Stream { events: recorder.out, ..stream.clone() }
    };
    let streams: Vec<Stream> = trace.streams.iter().map(stream).collect();
    Trace { streams, ..trace.clone() }
}

impl Recorder<'_> {
    fn put(&mut self, time: u64, step: Step, told: Vec<(&'static str, u64)>) {
        let step = if told.is_empty() { step } else { Step::Told(Box::new(step), told) };
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

    fn count(&mut self, channel: Channel) -> &mut Count {
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
                self.requests.insert(*request, Request { begin, is_recorded, is_send: true });
                self.send(time, step, message);
            }
            Step::IrecvRequest(request) => {
                let is_recorded = self.is_on;
                self.requests.insert(*request, Request { begin, is_recorded, is_send: false });
                self.pass(time, step);
            }
            Step::Recv(message) => self.receive(time, step, message, begin, self.is_on),
            Step::Irecv(message, request) => {
                let Request { begin, is_recorded, .. } = self.requests.remove(request).unwrap();
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
                let Request { is_recorded, is_send, .. } = self.requests.remove(request).unwrap();
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
                    let told = count.tell();
                    self.put(time, step.clone(), told.into_iter().collect());
                } else {
                    count.missing += 1;
                }
            }
            _ => self.pass(time, step),
        }
    }

    /// What happens only while recording is on.
    fn pass(&mut self, time: u64, step: &Step) {
        if self.is_on {
            self.out.push((time, step.clone()));
        }
    }

    fn send(&mut self, time: u64, step: &Step, message: &Message) {
        let is_on = self.is_on;
        let count = self.count(("to", message.communicator.clone(), message.peer, message.tag));
        if is_on {
            let told = count.tell();
            self.put(time, step.clone(), told.into_iter().collect());
        } else {
            count.missing += 1;
        }
    }

    fn receive(&mut self, time: u64, step: &Step, message: &Message, posted: u64, is_posted: bool) {
        let is_on = self.is_on;
        let count = self.count(("from", message.communicator.clone(), message.peer, message.tag));
        let mut told = Vec::new();
        if is_on || is_posted {
            count.last_recorded = count.last_recorded.max(Some(posted));
            told.extend(count.tell());
            if count.last_missing >= Some(posted) {
                told.push((DISORDERED, 1));
            }
        } else if count.last_recorded >= Some(posted) {
            told.push((DISORDERED, 1));
        } else {
            count.missing += 1;
            count.last_missing = count.last_missing.max(Some(posted));
            return;
        }
        if !is_posted {
            told.push((POSTED, posted));
        }
        self.put(time, step.clone(), told);
    }
}
