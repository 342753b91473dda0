//! A step of the pattern `offload`: what the host calls, and what its streams run meanwhile (site.md, 6.2).
//!
//! The host and its streams begin a step with nothing to do, since the host has waited for all of them before. So all times
//! follow from the draws of the step. A stream runs one thing after the other, and streams run at the same time.

use crate::draw::{below, draw};
use crate::job::Job;
use crate::location::START;
use crate::mpi::BETWEEN;

/// Streams of a rank, on one device.
pub(crate) const STREAMS: usize = 4;

/// Duration of a step in nanoseconds.
pub(crate) const SLOT: u64 = 50_000;

/// Steps from one that ends with the same calls to the next.
pub(crate) const KINDS: u64 = 4;

/// Events of the CUDA interface: the first kernel of the first stream is done, the second one of the second stream is.
pub(crate) const ASSEMBLED: u64 = 0x7f00_0000_0100;
pub(crate) const SOLVED: u64 = 0x7f00_0000_0200;

/// Duration of calls that do not wait.
const LAUNCH: u64 = 500;
const COPY: u64 = 600;
const EVENT: u64 = 200;
/// Time from the end of what a call waits for to its return.
const RETURN: u64 = 300;

/// Shortest time from the enter of a launch to the begin of what is launched, and by how much it may be longer: it may begin
/// before the call is left.
const SHORTEST_START: u64 = 200;
const START_UP: u64 = 2000;
/// Time from the end of something to the begin of what has waited for it.
const GAP: u64 = 150;

/// Random numbers of a rank in a step: for work of the host, and for what streams run, times and durations.
const WORKS: u64 = 1 << 40;
const STARTS: u64 = 1 << 41;
const LENGTHS: u64 = 1 << 42;

/// From a time to another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// What a stream runs in a step, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    CopyToDevice,
    Assemble,
    Solve,
    CopyFromDevice,
}

/// A kernel or a copy: its stream, and its place there in the step.
pub(crate) type Spot = (usize, usize);

/// A kernel or a copy on a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activity {
    pub(crate) kind: Kind,
    pub(crate) run: Span,
    /// The call that launches it.
    pub(crate) launch: Span,
    /// Whether that waits until it is done.
    pub(crate) is_blocking: bool,
    /// What it waits for on another stream, by an event.
    pub(crate) after: Option<Spot>,
}

/// What the host calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    Work,
    /// Launches a kernel on a stream.
    Launch(Kind, usize),
    /// Starts a copy on a stream.
    StartCopy(usize),
    /// Copies to the host, on whatever stream.
    Copy,
    /// Records an event on a stream.
    Record(u64, usize),
    /// Makes a stream wait for an event.
    Await(u64, usize),
    SynchronizeDevice,
    SynchronizeStream(usize),
    SynchronizeEvent(u64),
}

/// A call of the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) function: Function,
    pub(crate) time: Span,
    /// The last of what it waits for.
    pub(crate) awaited: Option<Spot>,
}

/// A step of a rank.
#[derive(Clone, Debug)]
pub(crate) struct Step<'j> {
    job: &'j Job,
    rank: u32,
    step: u64,
    now: u64,
    /// In the order of time.
    pub(crate) calls: Vec<Call>,
    /// By stream, in the order of time.
    pub(crate) streams: [Vec<Activity>; STREAMS],
}

impl<'j> Step<'j> {
    pub(crate) fn new(job: &'j Job, rank: u32, step: u64) -> Step<'j> {
        let now = START + step * SLOT;
        let mut new = Step { job, rank, step, now, calls: Vec::new(), streams: Default::default() };
        new.begin();
        match step % KINDS {
            3 => (0..STREAMS).for_each(|stream| new.copy_back(stream)),
            kind => new.wait(kind),
        }
        new
    }

    /// Time at which the host has all results.
    pub(crate) fn end(&self) -> u64 {
        self.now
    }

    pub(crate) fn activity(&self, (stream, place): Spot) -> &Activity {
        &self.streams[stream][place]
    }

    /// Launches kernels on all streams; the last one waits for the first one in between.
    fn begin(&mut self) {
        self.work(0, 4);
        for stream in 0..STREAMS {
            let copy = self.call(Function::StartCopy(stream), COPY);
            self.start(stream, Kind::CopyToDevice, copy, None);
            let launch = self.call(Function::Launch(Kind::Assemble, stream), LAUNCH);
            self.start(stream, Kind::Assemble, launch, None);
        }
        self.call(Function::Record(ASSEMBLED, 0), EVENT);
        self.work(1, 8);
        let assembled = self.last(0);
        self.call(Function::Await(ASSEMBLED, STREAMS - 1), EVENT);
        for stream in 0..STREAMS {
            let launch = self.call(Function::Launch(Kind::Solve, stream), LAUNCH);
            self.start(stream, Kind::Solve, launch, assembled.filter(|_| stream == STREAMS - 1));
        }
    }

    /// Starts copies to the host on all streams, and waits for them.
    fn wait(&mut self, kind: u64) {
        let solved = self.last(1);
        if kind == 2 {
            self.call(Function::Record(SOLVED, 1), EVENT);
        }
        for stream in 0..STREAMS {
            let copy = self.call(Function::StartCopy(stream), COPY);
            self.start(stream, Kind::CopyFromDevice, copy, None);
        }
        if kind == 1 {
            for stream in 0..STREAMS {
                self.synchronize(Function::SynchronizeStream(stream), self.last(stream));
            }
            return;
        }
        if kind == 2 {
            self.synchronize(Function::SynchronizeEvent(SOLVED), solved);
        }
        let lasts = (0..STREAMS).filter_map(|stream| self.last(stream));
        // The first among equals.
        let last = lasts.reduce(|a, b| if self.finished(b) > self.finished(a) { b } else { a });
        self.synchronize(Function::SynchronizeDevice, last);
    }

    /// Copies to the host in a call that waits for that.
    fn copy_back(&mut self, stream: usize) {
        let enter = self.now + BETWEEN;
        let run = self.run(stream, Kind::CopyFromDevice, enter, None);
        let spot = (stream, self.streams[stream].len());
        let launch = self.called(Function::Copy, run.end + RETURN - enter, Some(spot));
        let copy = Activity { kind: Kind::CopyFromDevice, run, launch, is_blocking: true, after: None };
        self.streams[stream].push(copy);
    }

    fn work(&mut self, number: u64, factor: u64) {
        let load = self.job.load(self.rank, self.step * 2 + number + WORKS);
        self.call(Function::Work, 500 + factor * load);
    }

    /// A call that takes so long, and does not wait; returns its time.
    fn call(&mut self, function: Function, ticks: u64) -> Span {
        self.called(function, ticks, None)
    }

    /// A call that waits for something, if that is not done.
    fn synchronize(&mut self, function: Function, awaited: Option<Spot>) {
        let enter = self.now + BETWEEN;
        let done = awaited.map_or(enter, |spot| self.finished(spot)).max(enter);
        self.called(function, done + RETURN - enter, awaited);
    }

    fn called(&mut self, function: Function, ticks: u64, awaited: Option<Spot>) -> Span {
        let begin = self.now + BETWEEN;
        let time = Span { begin, end: begin + ticks };
        self.calls.push(Call { function, time, awaited });
        self.now = time.end;
        time
    }

    /// Runs what a call has launched.
    fn start(&mut self, stream: usize, kind: Kind, launch: Span, after: Option<Spot>) {
        let run = self.run(stream, kind, launch.begin, after);
        self.streams[stream].push(Activity { kind, run, launch, is_blocking: false, after });
    }

    /// When a stream runs what is launched at a time: as soon as it can.
    fn run(&self, stream: usize, kind: Kind, launched: u64, after: Option<Spot>) -> Span {
        let number = (u64::from(self.rank) * STREAMS as u64 + stream as u64) * 4 + kind as u64;
        let drawn = |what: u64| draw(self.job.seed, what + number, self.step);
        let ready = [self.last(stream), after].into_iter().flatten();
        let ready = ready.map(|spot| self.finished(spot) + GAP).max().unwrap_or(0);
        let begin = ready.max(launched + SHORTEST_START + below(drawn(STARTS), START_UP));
        let (least, more) = match kind {
            Kind::CopyToDevice | Kind::CopyFromDevice => (600, 800),
            Kind::Assemble => (2000, 8000),
            Kind::Solve => (1500, 6000),
        };
        Span { begin, end: begin + least + below(drawn(LENGTHS), more) }
    }

    /// The last that a stream has been given in this step.
    fn last(&self, stream: usize) -> Option<Spot> {
        self.streams[stream].len().checked_sub(1).map(|place| (stream, place))
    }

    fn finished(&self, spot: Spot) -> u64 {
        self.activity(spot).run.end
    }
}
