//! Findings: everything odd that a trace can contain. They are counted, never fatal, and reported at the end.

use std::fmt;

use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::int::to_u32;
use crate::wire::{Wire, wire};

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FindingClass {
    /// Worth knowing; no severity suffers.
    Note,
    /// Something is missing in the trace, and so in the report.
    DataLoss,
    /// The trace contradicts itself or MPI; severities near it may be wrong.
    Wrong,
}

impl FindingClass {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            FindingClass::Note => "note",
            FindingClass::DataLoss => "data loss",
            FindingClass::Wrong => "wrong",
        }
    }
}

macro_rules! findings {
    ($($(#[$doc:meta])* $variant:ident, $class:ident, $name:literal, $meaning:literal;)*) => {
        /// The kinds of findings. Each is documented by its [`meaning`](Finding::meaning).
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "each has its meaning as data")]
        pub enum Finding { $($variant,)* }

        impl Finding {
            /// All kinds, in the order of reports.
            pub const ALL: &[Finding] = &[$(Finding::$variant,)*];

            /// Returns how much the finding matters.
            pub fn class(self) -> FindingClass {
                match self { $(Finding::$variant => FindingClass::$class,)* }
            }

            /// Returns the name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Finding::$variant => $name,)* }
            }

            /// Returns the meaning, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Finding::$variant => $meaning,)* }
            }
        }
    };
}

findings! {
    MissingEvents, DataLoss, "missing events",
        "A location has no event file: nothing of it was analysed.";
    DamagedEvents, DataLoss, "damaged events",
        "An event file ends early or is damaged: the events after that place are missing.";
    UnreadableMapping, DataLoss, "unreadable local definitions",
        "A location's local definitions are missing or damaged: its events were not used.";
    LostEvents, DataLoss, "lost events",
        "A process left less than it recorded, or nothing: what is missing was not analysed.";
    UndefinedClock, Wrong, "undefined clock",
        "The trace does not say what a tick is: ticks were taken as nanoseconds.";
    Unfinished, Note, "process that did not end",
        "A process has no end: it was killed, it crashed, or it left by _exit. What it did behind its last event is not there.";
    EventCount, Note, "unexpected number of events",
        "A location has not as many events as its definition says.";
    BackwardTime, Wrong, "time going backwards",
        "An event is earlier than the one before it on its location; the later time was used for both.";
    FarTime, Wrong, "time far from the trace",
        "An event is further from the begin of the trace than times can be; a nearer time was used.";
    UndefinedReference, Wrong, "undefined reference",
        "An event refers to a region, communicator, window, group, file or calling context that is not defined; it was ignored.";
    LeaveWithoutEnter, Wrong, "leave without enter",
        "A region was left that had not been entered; ignored.";
    MissingLeave, Wrong, "missing leave",
        "A region was left while regions entered in it were still open; they were closed with it.";
    OpenCall, Note, "call that never returned",
        "A region was never left; it was closed at its location's last event.";
    RecordingOff, Note, "recording switched off",
        "The recorder was switched off for a while: what happened meanwhile is unknown.";
    LeftOut, Note, "left out by --short",
        "A stretch was left out when a short archive was made (--short): what happened meanwhile is in its source only.";
    WithoutCounters, Note, "thread without counters",
        "Other threads of the trace have values of counters, but this one has none: sums lack what it has counted.";
    BackwardCounter, Wrong, "counter going backwards",
        "A value of a counter that counts since the begin is less than the one before; what was counted in between is left out.";
    OutsideMpi, Note, "operation outside of MPI",
        "A message or collective operation was recorded outside of any call of MPI; it has no severities.";
    RankOutsideCommunicator, Wrong, "rank outside of its communicator",
        "A message, a root or an access names a rank that its communicator or window does not have, or a process that is no \
         member has recorded a collective operation; it was ignored.";
    UnknownRequest, Wrong, "unknown request",
        "A request was completed or cancelled that had not been started; a received message counts as if it was posted then.";
    ReusedRequest, Wrong, "request started twice",
        "A request was started again before it was completed; the first start was dropped.";
    OpenRequest, Note, "request never completed",
        "A request was started, and the trace does not show its completion.";
    UnmatchedSend, DataLoss, "send without receive",
        "A message was sent, and no receive for it is in the trace.";
    UnmatchedReceive, DataLoss, "receive without send",
        "A message was received, and no send of it is in the trace.";
    UnrecordedPartner, Note, "message with one side recorded",
        "The other side of a message was not recorded, as recording was switched off there for a while; who waited is unknown.";
    UnknownOrder, DataLoss, "message of unknown order",
        "A process was not recorded all the time, and how many messages are missing is unknown: which ones belong together \
         after that cannot be told; they were not matched.";
    UnverifiedOrder, Note, "message matched across a gap",
        "Recording was switched off, and how many messages were sent and received meanwhile is unknown. Both sides have \
         recorded equally many, and none is received before it is sent: they were taken in their order, which nobody can verify.";
    ShortSend, Wrong, "receive longer than its send",
        "More bytes were received than the matching message has: the messages may be matched wrongly.";
    ClockMessage, Wrong, "message received before it was sent",
        "Clocks are wrong: a message seems to arrive before it was sent; waiting was cut to the length of the call.";
    ClockCollective, Wrong, "collective left before it was entered",
        "Clocks are wrong: a rank seems to leave a collective operation before another one entered it.";
    IncompleteCollective, DataLoss, "incomplete collective",
        "Not all members of a communicator have recorded a collective operation, or the completion of a non-blocking one; it was not \
         analysed.";
    IncompleteFileOperation, DataLoss, "incomplete file operation",
        "Not all members that have opened a file have recorded a collective operation on it, or the completion of a non-blocking \
         one; it was not analysed.";
    UnrecordedMember, Note, "collective with some members recorded",
        "Some members of a communicator have not recorded a collective operation, or the completion of a non-blocking one, as \
         recording was switched off there for a while; it was not analysed.";
    CollectiveAfterGap, DataLoss, "collective after a gap",
        "Members have recorded different numbers of operations on a communicator, or one has left before another one entered, \
         and one was not recorded all the time, or has started an operation that it never completed: which operations belong \
         together is unknown; it was not analysed.";
    IncompleteBarrier, DataLoss, "incomplete barrier of threads",
        "Not all threads of a team have recorded a barrier, or they disagree on which it is; who waited there is unknown.";
    MissingRelease, DataLoss, "lock without its last release",
        "A thread got a lock that another one had before, and the release is not in the trace; its waiting is unknown.";
    LockOrder, Wrong, "contradicting order of a lock",
        "Two threads claim the same place in the order of a lock; who waited for whom is unknown.";
    TaskOrder, Wrong, "contradicting tasks",
        "A task is created twice, or a thread switches to or completes one that is not created, is complete already, or runs \
         on another thread.";
    OpenTask, Note, "task that never completed",
        "A task was created or started, and the trace does not show that it completes.";
    ConcurrentChannel, Wrong, "channel used by two threads at once",
        "Two threads of a process send or receive at once with the same communicator, partner and tag: which message \
         is whose is unknown; the order of time was taken.";
    CyclicWait, Wrong, "cyclic wait",
        "Wait states are their own cause, or events wait for themselves: clocks are wrong, or the trace is damaged. What \
         depends on that was left out.";
    WouldDeadlock, Note, "would deadlock",
        "If messages waited for their receives as a scenario has it (--what-if=rendezvous=), processes would wait for each other.";
    Deadlock, Wrong, "processes waiting for each other",
        "At the end of the trace these processes wait for each other in a circle: the program hangs here.";
    EpochWithoutPartner, DataLoss, "epoch without partner",
        "An epoch of one-sided communication names a process that has recorded no epoch for it; who waited is unknown.";
    EpochNeverEnded, Note, "epoch never ended",
        "An epoch of one-sided communication was begun, and the trace does not show its end; nobody waits for it.";
    EpochWithoutBegin, Wrong, "epoch that was not begun",
        "An epoch of one-sided communication ends that was not begun, or begins again before it has ended; the first begin was \
         dropped.";
    OutsideProcesses, Note, "processes outside of the trace",
        "A call has to do with processes that the trace does not have, such as started ones; nothing is known of them, and \
         nobody waits for them.";
    ConcurrentCommunicator, Wrong, "communicator used by two threads at once",
        "Two threads of a process are in collective operations on one communicator, window or file at once, or in epochs of one \
         kind on a window, which MPI forbids: which operation is whose is unknown; the order of begin was taken.";
    ContradictingNeighborhood, Wrong, "contradicting neighbourhood",
        "A rank names another one as neighbour that it receives from, which does not send to it; the pair was left out.";
    IrregularStructure, Note, "irregular structure",
        "A location calls MPI at too many places to tell them all apart, or its loops nest too deep to find them all: its \
         iterations may not be those of the program.";
    DifferentIterations, Note, "iterations do not correspond",
        "A message or collective operation joins iterations of different numbers: the ranks' loops may not be the same, and values \
         by iteration compare different things.";
    LaunchUnknown, Note, "launch unknown",
        "A kernel or copy on a stream of an accelerator, and which call has launched it is not known for sure.";
    NothingLaunched, Note, "nothing launched",
        "A call launches a kernel or starts a copy, and which one on a stream that is, if any, is not known for sure.";
    DeviceWaitUnknown, Note, "unknown wait for a device",
        "A call waits for an accelerator, and the trace does not say for which stream or event: its waiting is unknown.";
    DeviceClock, Wrong, "device clock",
        "A kernel or copy seems to end more than 10 µs after the call that waits for it has returned: the clock of the device is \
         wrong; waiting was cut to the length of the call.";
    CollectiveMismatch, Wrong, "contradicting collective",
        "Members of a communicator disagree on which collective operation or root it is; it was not analysed.";
}

/// The first occurrence of a finding.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Example {
    /// Its time, in ticks of the trace's clock.
    pub time: i64,
    /// Position of the location in the report.
    pub location: u32,
    /// A description of the oddity.
    pub text: String,
}

/// The most bytes of an example, as names in a trace may be of any length.
const LONGEST_TEXT: usize = 2000;

/// Returns a text without the part that exceeds this number of bytes.
pub fn cut(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate((0..=bytes).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0));
        text.push('…');
    }
    text
}

/// Findings with the number of occurrences and the first one of each.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// By kind; empty as long as nothing was found, as in most processes.
    found: Vec<Option<Box<Found>>>,
}

/// The occurrences of one kind of finding.
#[derive(Clone, Debug)]
struct Found {
    count: u64,
    first: Example,
}

impl Findings {
    /// Counts a finding. `text` is only called if this is the first occurrence of its kind so far.
    pub fn add<T: fmt::Display>(
        &mut self,
        finding: Finding,
        time: i64,
        location: usize,
        text: impl FnOnce() -> T,
    ) {
        let location = to_u32(location);
        let example = || Example { time, location, text: cut(text().to_string(), LONGEST_TEXT) };
        match self.slot(finding) {
            Some(found) => {
                found.count += 1;
                // Of two occurrences at once the text decides, so that the example does not depend on the
                // number of workers.
                if (time, location) <= (found.first.time, found.first.location) {
                    let new = example();
                    if new < found.first {
                        found.first = new;
                    }
                }
            }
            none => *none = Some(Box::new(Found { count: 1, first: example() })),
        }
    }

    fn slot(&mut self, finding: Finding) -> &mut Option<Box<Found>> {
        if self.found.is_empty() {
            self.found = vec![None; Finding::ALL.len()];
        }
        &mut self.found[finding as usize]
    }

    fn get(&self, finding: Finding) -> Option<&Found> {
        self.found.get(finding as usize)?.as_deref()
    }

    /// Returns how often a finding occurred.
    pub fn count(&self, finding: Finding) -> u64 {
        self.get(finding).map_or(0, |found| found.count)
    }

    /// Returns the first occurrence of a finding: the smallest time, then the lowest location.
    pub fn first(&self, finding: Finding) -> Option<&Example> {
        self.get(finding).map(|found| &found.first)
    }

    /// Returns the kinds that occurred, in the order of reports.
    pub fn occurred(&self) -> impl Iterator<Item = Finding> + '_ {
        Finding::ALL.iter().copied().filter(|&finding| self.count(finding) > 0)
    }

    /// Whether any finding of class *data loss* occurred.
    pub fn has_data_loss(&self) -> bool {
        self.occurred().any(|finding| finding.class() == FindingClass::DataLoss)
    }

    /// Adds the findings of another location or worker.
    pub fn merge(&mut self, other: Findings) {
        for (&finding, other) in Finding::ALL.iter().zip(other.found) {
            let Some(other) = other else { continue };
            match self.slot(finding) {
                Some(found) => {
                    found.count += other.count;
                    if other.first < found.first {
                        found.first = other.first;
                    }
                }
                none => *none = Some(other),
            }
        }
    }

    /// Returns only the findings of one kind.
    pub fn only(mut self, kind: Finding) -> Findings {
        let others = Finding::ALL.iter().zip(&mut self.found).filter(|(finding, _)| **finding != kind);
        others.for_each(|(_, found)| *found = None);
        self
    }
}

impl Wire for Findings {
    fn put(&self, batch: &mut Batch) {
        for &finding in Finding::ALL {
            let found = self.get(finding);
            found.map(|found| found.count).unwrap_or_default().put(batch);
            found.iter().for_each(|found| found.first.put(batch));
        }
    }

    fn get(reader: &mut BatchReader<'_>) -> Findings {
        let mut findings = Findings::default();
        for &finding in Finding::ALL {
            let count = reader.word();
            if count > 0 {
                *findings.slot(finding) = Some(Box::new(Found { count, first: Wire::get(reader) }));
            }
        }
        findings
    }
}

wire!(Example { time, location, text });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_example_is_the_earliest_whatever_the_order() {
        let mut a = Findings::default();
        a.add(Finding::UnmatchedSend, 9, 1, || "later");
        let mut b = Findings::default();
        b.add(Finding::UnmatchedSend, 5, 3, || "earlier");
        b.add(Finding::UnmatchedSend, 7, 0, || "between");
        let mut ab = a.clone();
        ab.merge(b.clone());
        b.merge(a);
        for merged in [ab, b] {
            assert_eq!(merged.count(Finding::UnmatchedSend), 3);
            assert_eq!(merged.first(Finding::UnmatchedSend).unwrap().text, "earlier");
        }
    }

    #[test]
    fn of_two_at_once_the_same_is_first_whoever_counts() {
        let example = |texts: [&str; 2]| {
            let mut findings = Findings::default();
            texts.iter().for_each(|text| findings.add(Finding::OpenCall, 5, 1, || text));
            findings.first(Finding::OpenCall).unwrap().text.clone()
        };
        assert_eq!(example(["a", "b"]), example(["b", "a"]));
    }

    #[test]
    fn findings_survive_the_way_to_another_worker() {
        let mut findings = Findings::default();
        findings.add(Finding::OpenCall, -3, 2, || "MPI_Recv");
        let mut batch = Batch::new();
        findings.put(&mut batch);
        let read = <Findings as Wire>::get(&mut BatchReader::new(&batch));
        assert_eq!(read.first(Finding::OpenCall), findings.first(Finding::OpenCall));
        assert_eq!(read.occurred().collect::<Vec<_>>(), [Finding::OpenCall]);
        assert!(!read.has_data_loss());
    }
}
