//! From the events of a trace to steps: what begins and ends at each thread, in the order of time.
//!
//! | type | value | is |
//! |---|---|---|
//! | 50000001 to 50000005 | a function of MPI; 0 | its call begins; ends |
//! | 60000019 | a function of the program; 0 | its call begins; ends |
//! | 50100001 to 50100004 | bytes sent, received, whether it is the root, communicator | of the collective operation that begins |
//! | 70000001 …, 80000001 … | callers, lines, by level | of the MPI call that begins |
//! | 42000000 … | a count since the record before | of a counter |

use std::io;

use crate::collectives::Communicators;
use crate::contexts::{Contexts, Levels, Node, Places};
use crate::counters::{Counters, is_counter};
use crate::error::Fault;
use crate::pcf::Labels;
use crate::records::{Thread, Values};
use crate::regions::{FUNCTION, LINES, MESSAGES, MPI, OTHER, Regions};
use crate::remarks::Remarks;
use crate::spool::Spool;
use crate::stack::Stack;
use crate::steps::{Callee, Collective, Step, encode};

/// Types of events with what is known of a collective operation.
const BYTES_SENT: u64 = 50_100_001;
const BYTES_RECEIVED: u64 = 50_100_002;
const IS_ROOT: u64 = 50_100_003;
const COMMUNICATOR: u64 = 50_100_004;

/// Why an event was not taken.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The line is wrong.
    Fault(Fault),
    /// There is a call of MPI, but the labels have no function of it.
    Foreign,
    /// The spool cannot be written.
    Io(io::Error),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Fault(fault)
    }
}

impl From<io::Error> for Failure {
    fn from(cause: io::Error) -> Failure {
        Failure::Io(cause)
    }
}

/// What is known when all events have been read.
#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) labels: Labels,
    pub(crate) regions: Regions,
    pub(crate) contexts: Contexts,
    pub(crate) counters: Counters,
    pub(crate) communicators: Communicators,
    pub(crate) remarks: Remarks,
    /// The region around all calls, where the trace does not name functions.
    pub(crate) program: u32,
    pub(crate) has_functions: bool,
    /// Whether our own exporter has written the trace.
    is_ours: bool,
    /// Whether the labels have functions of MPI.
    names_mpi: bool,
    pub(crate) has_callers: bool,
    threads: Vec<Stack>,
    /// Types and values of the current record.
    values: Vec<(u64, u64)>,
    /// Whose they are and when, if they begin a call of MPI and have not been taken yet: the next record may go on.
    waiting: Option<(Thread, usize, u64)>,
    next: Vec<(u64, u64)>,
    levels: Levels,
    places: Places,
    item: Vec<u8>,
}

impl Events {
    pub(crate) fn new(labels: Labels, program: &str, threads: usize) -> Events {
        let (is_ours, names_mpi) = (labels.is_ours(), labels.has_mpi());
        let mut regions = Regions::default();
        let program = regions.add_program(program);
        let threads = (0..threads).map(Stack::new).collect();
        Events {
            labels,
            regions,
            contexts: Contexts::default(),
            counters: Counters::default(),
            communicators: Communicators::default(),
            remarks: Remarks::default(),
            program,
            has_functions: false,
            is_ours,
            names_mpi,
            has_callers: false,
            threads,
            values: Vec::new(),
            waiting: None,
            next: Vec::new(),
            levels: Levels::default(),
            places: Places::default(),
            item: Vec::new(),
        }
    }

    /// Takes a record of a thread, whose stream this is.
    ///
    /// Extrae divides what it knows of a call of MPI where a message is sent at the same time, as by `MPI_Sendrecv`: callers
    /// are in a record of their own then.
    pub(crate) fn take(
        &mut self,
        (thread, stream): (Thread, usize),
        time: u64,
        mut values: Values<'_>,
        spool: &mut Spool,
    ) -> Result<(), Failure> {
        self.next.clear();
        let mut begins = false;
        let mut has_calls = false;
        while let Some((kind, value)) = values.next()? {
            let is_call = MPI.contains(&kind);
            begins |= is_call && value != 0;
            has_calls |= is_call || kind == FUNCTION;
            self.next.push((kind, value));
        }
        if !has_calls && self.waiting == Some((thread, stream, time)) {
            self.values.append(&mut self.next);
            return Ok(());
        }
        self.take_waiting(spool)?;
        let Some(last) = self.threads.get(stream).map(|doing| doing.time) else { return Ok(()) };
        if time < last {
            let message = format_args!(
                "found the time {time} behind {last} of the same thread, expected records in the order of time; write the \
                 trace anew"
            );
            return Err(Fault::new(0, message).into());
        }
        std::mem::swap(&mut self.values, &mut self.next);
        if begins {
            self.waiting = Some((thread, stream, time));
            return Ok(());
        }
        self.take_values((thread, stream), time, spool)
    }

    /// Takes the record that waits for another one, if there is one.
    fn take_waiting(&mut self, spool: &mut Spool) -> Result<(), Failure> {
        match self.waiting.take() {
            Some((thread, stream, time)) => self.take_values((thread, stream), time, spool),
            None => Ok(()),
        }
    }

    /// Takes the current record.
    fn take_values(
        &mut self,
        (thread, stream): (Thread, usize),
        time: u64,
        spool: &mut Spool,
    ) -> Result<(), Failure> {
        self.levels.clear();
        for &(kind, value) in &self.values {
            let value = if LINES.contains(&kind) { self.places.number(value, &self.labels) } else { value };
            self.levels.take(kind, value);
        }
        // Counts are those until the call that begins or ends.
        for at in 0..self.values.len() {
            if let Some(&(kind, more)) = self.values.get(at).filter(|value| is_counter(value.0)) {
                let counter = self.counters.number(kind);
                self.step(stream, time, Step::Count { counter, more }, spool)?;
            }
        }
        let mut entered = None;
        for at in 0..self.values.len() {
            let Some(&(kind, value)) = self.values.get(at) else { break };
            if MPI.contains(&kind) {
                entered = self.call(stream, time, (kind, value), spool)?;
            } else if kind == FUNCTION {
                self.has_functions = true;
                self.function(stream, time, value, spool)?;
            }
        }
        match entered {
            Some(region) => self.collective(thread.task, (stream, time), region, spool),
            None => Ok(()),
        }
    }

    /// Begins or ends a call of MPI; returns its region if it begins.
    fn call(
        &mut self,
        stream: usize,
        time: u64,
        (kind, value): (u64, u64),
        spool: &mut Spool,
    ) -> Result<Option<u32>, Failure> {
        if value == 0 {
            let open = self.threads.get_mut(stream).and_then(|doing| doing.innermost(kind));
            if !self.finalizes(stream, open) {
                self.leave(stream, time, open, spool)?;
            }
            return Ok(None);
        }
        if !self.names_mpi {
            return Err(Failure::Foreign);
        }
        self.finalized(stream, time, spool)?;
        let region = self.regions.number(kind, value, &self.labels);
        if !self.levels.is_empty() {
            self.has_callers = true;
            let callers = self.contexts.callers(&self.levels, self.program, &mut self.regions, &self.labels);
            let path =
                self.contexts.number(Node { parent: Some(callers), region, line: self.levels.first_line() });
            self.step(stream, time, Step::Callers { path }, spool)?;
        }
        let of = if kind == MESSAGES { Callee::Messages } else { Callee::Mpi };
        self.step(stream, time, Step::Enter { region, of }, spool)?;
        if let Some(doing) = self.threads.get_mut(stream) {
            doing.push(kind, value);
        }
        Ok(Some(region))
    }

    /// Whether an open call that is said to end goes on: Extrae ends its record of `MPI_Finalize` before it calls the
    /// library's, which waits for the other ranks.
    fn finalizes(&mut self, stream: usize, open: Option<usize>) -> bool {
        let (Some(doing), Some(at)) = (self.threads.get_mut(stream), open) else { return false };
        let is_last = at + 1 == doing.open.len();
        let Some(open) = doing.open.get(at).filter(|open| is_last && open.kind == OTHER) else {
            return false;
        };
        let region = self.regions.number(open.kind, open.value, &self.labels);
        let goes_on = !self.is_ours && self.regions.get(region).is_some_and(|region| region.is_finalize);
        doing.finalizes |= goes_on;
        goes_on
    }

    /// Ends `MPI_Finalize` where the thread does something else behind it.
    fn finalized(&mut self, stream: usize, time: u64, spool: &mut Spool) -> Result<(), Failure> {
        match self.threads.get(stream).filter(|doing| doing.finalizes) {
            Some(doing) => self.leave(stream, time, doing.open.len().checked_sub(1), spool),
            None => Ok(()),
        }
    }

    /// Begins or ends a function of the program.
    fn function(&mut self, stream: usize, time: u64, value: u64, spool: &mut Spool) -> Result<(), Failure> {
        if value != 0 {
            self.finalized(stream, time, spool)?;
        }
        let Some(doing) = self.threads.get(stream) else { return Ok(()) };
        let begin = doing.first();
        let functions = doing.open.get(begin..).unwrap_or_default();
        let is_ours = self.is_ours;
        if value == 0 {
            // Our exporter writes it where no function is left, Extrae at the end of each. A call of MPI without an end ends with
            // the function that it is in.
            let last = match functions.len() {
                0 => begin
                    .checked_sub(2)
                    .filter(|&at| doing.open.get(at).is_some_and(|open| open.kind == FUNCTION)),
                _ if is_ours => Some(begin),
                count => Some(begin + count - 1),
            };
            return self.leave(stream, time, last, spool);
        }
        // Where our exporter ends a function it names the one around it.
        let around = functions.len().checked_sub(2).and_then(|at| functions.get(at));
        if is_ours && around.is_some_and(|around| around.value == value) {
            let last = doing.open.len() - 1;
            return self.leave(stream, time, Some(last), spool);
        }
        let region = self.regions.number(FUNCTION, value, &self.labels);
        self.step(stream, time, Step::Enter { region, of: Callee::Program }, spool)?;
        if let Some(doing) = self.threads.get_mut(stream) {
            doing.push(FUNCTION, value);
        }
        Ok(())
    }

    /// Ends an open call, and all calls in it.
    fn leave(
        &mut self,
        stream: usize,
        time: u64,
        open: Option<usize>,
        spool: &mut Spool,
    ) -> Result<(), Failure> {
        let Some(open) = open else {
            self.remarks.without_begin += 1;
            return Ok(());
        };
        let count = self.threads.get(stream).map_or(0, |doing| doing.open.len());
        for _ in open..count {
            self.step(stream, time, Step::Leave, spool)?;
            self.threads.get_mut(stream).map(Stack::pop);
        }
        Ok(())
    }

    /// Adds what a record says of the collective operation that has begun.
    fn collective(
        &mut self,
        task: u32,
        (stream, time): (usize, u64),
        region: u32,
        spool: &mut Spool,
    ) -> Result<(), Failure> {
        let value = |kind: u64| self.values.iter().find(|value| value.0 == kind).map(|value| value.1);
        let Some(number) = value(COMMUNICATOR) else { return Ok(()) };
        let (sent, received) = (value(BYTES_SENT).unwrap_or(0), value(BYTES_RECEIVED).unwrap_or(0));
        let is_root = value(IS_ROOT).is_some_and(|value| value != 0);
        let Some((_, has_root)) = self.regions.get(region).and_then(|region| region.collective) else {
            self.remarks.non_blocking += 1;
            return Ok(());
        };
        let Some(communicator) = self.communicators.position(number, task) else {
            self.remarks.unknown_communicator += 1;
            return Ok(());
        };
        let order = if has_root { self.communicators.count(communicator, task, is_root) } else { 0 };
        self.step(stream, time, Step::Collective(Collective { sent, received, communicator, order }), spool)
    }

    #[inline]
    fn step(&mut self, stream: usize, time: u64, step: Step, spool: &mut Spool) -> Result<(), Failure> {
        let Some(doing) = self.threads.get_mut(stream) else { return Ok(()) };
        self.item.clear();
        encode(time - doing.time, step, &mut self.item);
        doing.time = time;
        Ok(spool.push(stream, &self.item)?)
    }

    /// Ends all calls at the end of the trace.
    pub(crate) fn finish(&mut self, end: u64, spool: &mut Spool) -> Result<(), Failure> {
        self.take_waiting(spool)?;
        for at in 0..self.threads.len() {
            let Some((stream, open, finalizes)) =
                self.threads.get(at).map(|doing| (doing.stream, doing.open.len(), doing.finalizes))
            else {
                break;
            };
            if open > 0 {
                self.remarks.without_end += open as u64 - u64::from(finalizes);
                self.leave(stream, end, Some(0), spool)?;
            }
        }
        self.remarks.unknown_functions = self.regions.unknown();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Task;
    use crate::records::{Record, parse};
    use crate::steps::Steps;

    /// Steps of a trace of one thread: names of functions that begin, `-` where one ends, `+` with a count.
    fn steps(pcf: &str, records: &[&str]) -> (String, Remarks) {
        let labels = Labels::read(std::path::Path::new("a"), pcf.as_bytes()).unwrap();
        let mut events = Events::new(labels, "a", 1);
        events.communicators.add(b"c:1:1:1:1", 1).unwrap();
        let mut spool = Spool::new(tempfile::tempfile().unwrap(), 1);
        for record in records {
            let Ok(Record::Event { thread, time, values }) =
                parse(record.as_bytes(), &[Task { threads: 1, node: 0 }])
            else {
                panic!("no event: {record}")
            };
            events.take((thread, 0), time, values, &mut spool).unwrap();
        }
        events.finish(99, &mut spool).unwrap();
        let mut read = Steps::new(&spool, 0);
        let mut shown = Vec::new();
        while let Some((time, step)) = read.next().unwrap() {
            shown.push(match step {
                Step::Enter { region, .. } => format!("{}@{time}", events.regions.get(region).unwrap().name),
                Step::Leave => format!("-@{time}"),
                Step::Count { more, .. } => format!("+{more}"),
                Step::Collective(it) => format!("{}/{}", it.sent, it.received),
                Step::Callers { path } => format!("path {path}"),
            });
        }
        (shown.join(" "), events.remarks)
    }

    const NAMES: &str =
        "EVENT_TYPE\n9 50000001 p\n9 50000002 c\n9 60000019 f\nVALUES\n1 A\n2 B\n3 MPI_Bcast\n4 MPI_Ibcast\n";

    #[test]
    fn calls_end_by_type_and_functions_by_stack() {
        let records = [
            "2:1:1:1:1:0:60000019:1",
            "2:1:1:1:1:1:60000019:2",
            "2:1:1:1:1:2:50000001:1:42000050:7",
            "2:1:1:1:1:3:42000050:8:50000001:0",
            "2:1:1:1:1:4:60000019:0",
            "2:1:1:1:1:5:60000019:0",
            "2:1:1:1:1:6:60000019:0",
        ];
        let (shown, remarks) = steps(NAMES, &records);
        assert_eq!(shown, "A@0 B@1 +7 A@2 +8 -@3 -@4 -@5");
        assert_eq!(remarks, Remarks { without_begin: 1, unknown_functions: 1, ..Remarks::default() });
    }

    #[test]
    fn our_exporter_names_the_function_around_one_that_ends() {
        let ours = format!("{NAMES}\nEVENT_TYPE\n0    90000001    Wait state\n");
        let records = [
            "2:1:1:1:1:0:60000019:1",
            "2:1:1:1:1:1:60000019:2",
            "2:1:1:1:1:2:60000019:1",
            "2:1:1:1:1:3:60000019:0",
        ];
        assert_eq!(steps(&ours, &records).0, "A@0 B@1 -@2 -@3");
        assert_eq!(steps(NAMES, &records).0, "A@0 B@1 A@2 -@3 -@99 -@99");
    }

    #[test]
    fn calls_end_with_those_that_they_are_in() {
        let records = [
            "2:1:1:1:1:0:60000019:1",
            "2:1:1:1:1:1:50000002:3",
            "2:1:1:1:1:2:50000001:1",
            "2:1:1:1:1:3:60000019:2",
            "2:1:1:1:1:4:50000002:0",
            "2:1:1:1:1:5:50000001:0",
            "2:1:1:1:1:6:50000001:1",
            "2:1:1:1:1:7:60000019:0",
        ];
        let (shown, remarks) = steps(NAMES, &records);
        assert_eq!(shown, "A@0 MPI_Bcast@1 A@2 B@3 -@4 -@4 -@4 A@6 -@7 -@7");
        assert_eq!(remarks, Remarks { without_begin: 1, unknown_functions: 1, ..Remarks::default() });
    }

    #[test]
    fn collective_operations_have_sizes_and_a_known_communicator() {
        let records = [
            "2:1:1:1:1:0:50000002:3:50100001:10:50100002:20:50100004:1:50100003:1",
            "2:1:1:1:1:1:50000002:0",
            "2:1:1:1:1:2:50000002:3:50100004:7",
            "2:1:1:1:1:3:50000002:0:50000002:4:50100004:1",
        ];
        let (shown, remarks) = steps(NAMES, &records);
        assert_eq!(shown, "MPI_Bcast@0 10/20 -@1 MPI_Bcast@2 -@3 MPI_Ibcast@3 -@99");
        let expected =
            Remarks { unknown_communicator: 1, non_blocking: 1, without_end: 1, ..Remarks::default() };
        assert_eq!(remarks, expected);
    }

    #[test]
    fn callers_come_before_their_call() {
        let (shown, _) = steps(NAMES, &["2:1:1:1:1:0:50000001:1:70000001:1:80000001:5"]);
        assert_eq!(shown, "path 2 A@0 -@99");
    }

    #[test]
    fn records_in_wrong_order_are_refused() {
        let labels = Labels::read(std::path::Path::new("a"), NAMES.as_bytes()).unwrap();
        let mut events = Events::new(labels, "a", 1);
        let mut spool = Spool::new(tempfile::tempfile().unwrap(), 1);
        let mut take = |line: &'static str| {
            let Ok(Record::Event { thread, time, values }) =
                parse(line.as_bytes(), &[Task { threads: 1, node: 0 }])
            else {
                panic!("no event")
            };
            events.take((thread, 0), time, values, &mut spool)
        };
        take("2:1:1:1:1:5:50000001:1").unwrap();
        let Err(Failure::Fault(fault)) = take("2:1:1:1:1:4:50000001:0") else { panic!("no fault") };
        assert!(fault.message.contains("found the time 4 behind 5"), "{}", fault.message);
    }
}
