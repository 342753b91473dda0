//! The journal of a process: everything that happens seldom, as lines of JSON, one [`JournalRecord`] a line.
//!
//! A line without its newline was cut off by the end of the process and is passed over.

use crate::energy::EnergyReading;
use crate::settings::EventRecords;
use serde::{Deserialize, Serialize};

/// A line of the journal.
///
/// Communicators, groups, windows and files have numbers of the process, which its events use, and keys,
/// which are the same in all processes that share one. Ranks are ranks in the world. Times are in ticks of
/// the process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum JournalRecord {
    /// The process; always the first record.
    Process {
        /// Version of the recorder.
        version: String,
        /// Its rank in `MPI_COMM_WORLD`.
        rank: u32,
        /// Number of processes in `MPI_COMM_WORLD`.
        size: u32,
        /// Host that it runs on.
        host: String,
        /// Its process id there.
        process: u32,
        /// The program, as a path if that is known.
        program: String,
        /// The arguments of the program, without its name.
        arguments: Vec<String>,
        /// The result of `MPI_Get_library_version`.
        mpi: String,
        /// Size of a chunk of the event files, in bytes.
        chunk_size: u64,
        /// The clock that times are read from: `tsc` or `monotonic`.
        clock: String,
        /// Samples for a second of a thread's processor time; 0 for none.
        #[serde(default)]
        sample: u32,
        /// Whether the archive is to have neither names of hosts nor paths.
        #[serde(default)]
        anonymous: bool,
    },
    /// The process counts instead of recording events.
    Profile(ProfileRequest),
    /// The event records of the archive, if not those of calling contexts.
    Records {
        /// The user's choice.
        records: EventRecords,
    },
    /// A thread that has recorded something.
    Thread {
        /// Its number in the process; 0 is the one that called `MPI_Init`.
        thread: u32,
        /// Its name in the system, if it has one of its own.
        name: Option<String>,
        /// Whether its events tell when it was off the processor.
        #[serde(default)]
        has_switches: bool,
        /// Whether its events have values of [`JournalRecord::Counters`].
        #[serde(default)]
        has_counters: bool,
    },
    /// The counters of events, in the order of their values: the same in all processes.
    Counters {
        /// Those that the system has, of all that the user asked for.
        counters: Vec<CounterDefinition>,
    },
    /// What a thread has used of the machine, as it has ended.
    Usage(ThreadUsage),
    /// What meters of the host's energy show. Recorded by one process of each host.
    Energy(EnergyReading),
    /// A thread has become a member of a team of OpenMP for the first time.
    TeamMember {
        /// Its number in the process.
        thread: u32,
        /// Its number in the team; 0 is the one that forks it.
        place: u32,
    },
    /// A team of OpenMP has that many threads; events refer to it by [`crate::openmp::TEAMS`].
    Team {
        /// Number of its threads.
        size: u32,
    },
    /// Two clocks read at one moment; the first and the last calibration give the length of a tick.
    Calibration(ClockCalibration),
    /// The clocks of the process and of rank 0 at one moment.
    Offset(ClockOffset),
    /// A mapped file with code.
    Module(Module),
    /// A region that the program has named.
    Region(Region),
    /// A communicator was created (or is predefined: number 0 is the world, 1 the process by itself).
    Communicator(Communicator),
    /// A communicator or a window got a name.
    Name {
        /// `communicator` or `window`.
        of: String,
        /// Its number in the process.
        number: u32,
        /// The name.
        name: String,
    },
    /// A group of processes that events refer to.
    Group {
        /// Its number in the process.
        group: u32,
        /// Ranks of its members, as in [`JournalRecord::Communicator`].
        members: String,
    },
    /// A window for one-sided communication was created.
    Window(Window),
    /// A file was opened by MPI-IO.
    File(File),
    /// A file was opened by a function of the C library.
    Descriptor(Descriptor),
    /// A file that events name without a handle.
    NamedFile(NamedFile),
    /// A handle that stands for all files, for calls that flush all of them.
    AllFiles {
        /// Its number in the process, as in [`JournalRecord::Descriptor`].
        handle: u32,
    },
    /// A file system that is mounted on the host, in the order in which the system lists them. Recorded by one process of
    /// each host.
    Mount(Mount),
    /// A string that events refer to.
    Text {
        /// Its number: the first is behind the program's arguments, of which the first is 1, and each next one is one
        /// more.
        string: u32,
        /// The string.
        text: String,
    },
    /// A Cartesian topology of a communicator.
    Topology(Topology),
    /// What has come of the search for a loop of which iterations are to be recorded; the last record counts.
    LoopSearch(LoopSearch),
    /// Something that limits the trace: paths were cut short, …
    Notice {
        /// A sentence for the user.
        text: String,
    },
    /// The process was not recorded any more, though it went on.
    Stopped {
        /// Why: the system's word, and what it was about.
        cause: String,
    },
    /// Something that the user should know although events are complete, such as what call paths lack.
    Remark {
        /// A sentence for the user.
        text: String,
    },
    /// The program has ended by itself.
    End {
        /// Its exit status.
        status: i32,
    },
}

/// What a counter counts, as [`crate::counters::Counter`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CounterDefinition {
    /// Its name.
    pub name: String,
    /// Whether the kernel counts, not the processor.
    pub is_software: bool,
    /// Whether it is a time in nanoseconds; a number of occurrences otherwise.
    pub is_time: bool,
}

/// What a thread has used of the machine, from its begin to its end, as the system counts it (`getrusage(2)`).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ThreadUsage {
    /// Its number in the process.
    pub thread: u32,
    /// Time on a processor, in the program and in the system.
    pub processor_nanoseconds: u64,
    /// Most memory that the process has had in use, in bytes.
    pub resident_bytes: u64,
    /// Page faults for which nothing was read.
    pub minor_faults: u64,
    /// Page faults for which a page was read.
    pub major_faults: u64,
    /// Times that it waited in the system.
    pub voluntary_switches: u64,
    /// Times that the processor was taken from it.
    pub involuntary_switches: u64,
    /// The cores on which the system let it run at its end, such as `0-3,8` (`sched_getaffinity(2)`), if it has told that.
    #[serde(default)]
    pub cores: Option<String>,
}

/// The request for a profile: the process counts instead of recording events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProfileRequest {
    /// Whether the size of a trace is to be estimated.
    pub estimate: bool,
    /// Whether the report is wanted.
    pub keep: bool,
}

/// Two clocks read at one moment; the first and the last calibration give the length of a tick.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClockCalibration {
    /// Ticks of the process.
    pub ticks: u64,
    /// Nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub nanoseconds: u64,
    /// Nanoseconds since 1970.
    pub realtime: u64,
}

/// The clocks of the process and of rank 0 at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClockOffset {
    /// Ticks of the process.
    pub ticks: u64,
    /// Ticks of rank 0.
    pub reference: u64,
    /// Duration of the shortest round trip in ticks, the uncertainty of the reading; 0 if both have the same
    /// clock.
    pub round_trip: u64,
}

/// A mapped file with code.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Module {
    /// First address of the mapping.
    pub begin: u64,
    /// First address behind it.
    pub end: u64,
    /// Load bias: what to subtract from an address for the address in the file's symbol tables.
    pub bias: u64,
    /// GNU build id in hexadecimal digits, if it has one.
    pub build_id: Option<String>,
    /// Path of the file.
    pub path: String,
}

/// A region that the program has named.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Region {
    /// Its number in the process.
    pub region: u32,
    /// Its name.
    pub name: String,
    /// Source file, if the program passed it.
    pub file: Option<String>,
    /// Line in the source file, 0 if unknown.
    pub line: u32,
    /// Whether it is a phase: a part of the run that is analyzed as a whole.
    pub phase: bool,
}

/// A communicator was created (or is predefined: number 0 is the world, 1 the process by itself).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Communicator {
    /// Its number in the process.
    pub communicator: u32,
    /// A number that all members have, and no other communicator.
    pub key: u64,
    /// Its name: MPI's for the predefined ones, else empty until [`JournalRecord::Name`].
    pub name: String,
    /// Number of its parent.
    pub parent: Option<u32>,
    /// Ranks of its members as ranges `first-last` or `first-last/step`, comma separated, in the order of
    /// their ranks in it. Recorded by the first member at least.
    pub members: Option<String>,
    /// The other group of an inter-communicator.
    pub remote: Option<String>,
}

/// A window for one-sided communication was created.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Window {
    /// Its number in the process.
    pub window: u32,
    /// A number that all members have, and no other window.
    pub key: u64,
    /// Number of its communicator.
    pub communicator: u32,
    /// Its name: what created it, until [`JournalRecord::Name`].
    pub name: String,
}

/// A file was opened by MPI-IO.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct File {
    /// Number of the handle in the process.
    pub handle: u32,
    /// A number that all processes that opened it together have, and no other file.
    pub key: u64,
    /// Path of the file.
    pub path: String,
    /// Number of its communicator.
    pub communicator: u32,
    /// How it is stored. Recorded by the first member of the communicator.
    #[serde(default)]
    pub storage: Option<Storage>,
}

/// A file was opened by a function of the C library.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Descriptor {
    /// Number of the handle in the process, different from those of files of MPI-IO. It stands for all openings of
    /// this file with this descriptor.
    pub handle: u32,
    /// Path of the file.
    pub path: String,
    /// The descriptor.
    pub descriptor: u32,
    /// Number of the handle of MPI-IO, or of ISO C, in whose call it was opened.
    pub parent: Option<u32>,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether it is a stream of ISO C.
    #[serde(default)]
    pub is_stream: bool,
    /// How it was open already when recording began, if it was.
    #[serde(default)]
    pub was_open: Option<WasOpen>,
    /// How it is stored.
    #[serde(default)]
    pub storage: Option<Storage>,
}

/// How a file is open, in OTF2's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct WasOpen {
    /// `IoAccessMode`.
    pub mode: u8,
    /// `IoStatusFlag`.
    pub status: u32,
}

/// A file that was deleted, will be when it is closed, or that a call was for by its path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NamedFile {
    /// Its number in the process. Handles have none of these numbers: a file is known by its path.
    pub file: u32,
    /// Path of the file.
    pub path: String,
    /// Whether a function of the C library did that, not MPI-IO.
    #[serde(default)]
    pub is_posix: bool,
    /// Whether it is a directory.
    #[serde(default)]
    pub is_directory: bool,
    /// How it is stored, if it was there and somebody has asked.
    #[serde(default)]
    pub storage: Option<Storage>,
}

/// How a file is stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Storage {
    /// Its path without links, if that is another one.
    pub real_path: Option<String>,
    /// Bytes of a block of the file system (`st_blksize`).
    pub block: u64,
    /// Its stripes on Lustre, if they are known.
    pub stripes: Option<Stripes>,
}

/// The stripes of a file on Lustre.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stripes {
    /// Bytes of one.
    pub size: u64,
    /// On how many devices they are.
    pub count: u64,
}

/// A file system that is mounted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mount {
    /// What is mounted: a device, or a name of the file system's own.
    pub source: String,
    /// Where.
    pub point: String,
    /// The kind of file system.
    pub kind: String,
}

/// A Cartesian topology of a communicator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Topology {
    /// Number of the communicator.
    pub communicator: u32,
    /// Extent of each dimension.
    pub extents: Vec<u32>,
    /// Whether it is periodic, for each dimension.
    pub periodic: Vec<bool>,
    /// The coordinates of the process.
    pub coordinates: Vec<u32>,
}

/// What has come of the search for a loop of which iterations are to be recorded.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct LoopSearch {
    /// How many iterations are to be recorded.
    pub wanted: u64,
    /// Bytes of events that may be recorded before a loop is found.
    pub until_stable: u64,
    /// Whether the program is not recorded from its begin on any more.
    pub is_begin_over: bool,
    /// Number of different call paths of MPI calls, and of these calls.
    pub nodes: u32,
    /// See [`nodes`](LoopSearch::nodes).
    pub steps: u64,
    /// The number of the call that was the first on its path, and the last one that was so.
    pub newest: u64,
    /// Call path at which iterations of the loop begin, if one was found.
    pub header: Option<u32>,
    /// How many of these have begun.
    pub iterations: u64,
    /// Stretches of recorded iterations.
    pub windows: Vec<IterationWindow>,
    /// Why no loop is looked for, if that is so from the start.
    pub problem: Option<String>,
    /// Whether the process has come to the end of MPI.
    pub has_ended: bool,
}

/// Iterations that are recorded one behind the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IterationWindow {
    /// Call path at which iterations of its loop begin, in the first thread.
    pub header: u32,
    /// The first one; counted from 1.
    pub first: u64,
    /// The last one; less than the first if none of them is recorded.
    pub last: u64,
    /// Whether it is being recorded.
    pub is_open: bool,
    /// Whether all that were wanted are recorded, from the begin of the first to that of the one behind the last.
    pub is_whole: bool,
    /// Number of collective operations on `MPI_COMM_WORLD` before the first.
    pub meetings: u64,
    /// How many iterations of the loop there were in the end; 0 if that is not known.
    pub begun: u64,
    /// Who records them.
    pub scope: WindowScope,
}

/// Who records the iterations of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowScope {
    /// Not known: processes were asked whether they can.
    Asked,
    /// All processes record those with these numbers.
    Common,
    /// Each process records others.
    Local,
    /// Some process could not.
    Cancelled,
}

impl JournalRecord {
    /// Returns the record as a line, newline included.
    pub fn to_line(&self) -> String {
        // Serialization fails for maps with keys that are not strings only, which a record does not have.
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }

    /// Parses a line (without newline).
    ///
    /// # Errors
    /// If it is not a record; the message has the problem and the column.
    pub fn from_line(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|cause| cause.to_string())
    }
}

/// Returns numbers in their order as ranges, `0-3,7,9-15/2`.
pub fn ranges(numbers: &[u32]) -> String {
    let mut text = String::new();
    let mut at = 0;
    while let Some(&first) = numbers.get(at) {
        let step = numbers.get(at + 1).map_or(0, |next| next.wrapping_sub(first));
        let mut last = at;
        if (1..=1 << 20).contains(&step) {
            while last + 1 < numbers.len() && numbers[last + 1].wrapping_sub(numbers[last]) == step {
                last += 1;
            }
        }
        // Two numbers are shorter as numbers, unless they are neighbours.
        if last == at + 1 && step > 1 {
            last = at;
        }
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&first.to_string());
        if last > at {
            text.push_str(&format!("-{}", numbers[last]));
            if step > 1 {
                text.push_str(&format!("/{step}"));
            }
        }
        at = last + 1;
    }
    text
}

/// Returns the numbers in ranges; `None` if the text is not ranges, or has more than `limit` numbers.
pub fn numbers(ranges: &str, limit: usize) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for range in ranges.split(',').filter(|range| !range.is_empty()) {
        let (range, step) = match range.split_once('/') {
            Some((range, step)) => (range, step.parse().ok()?),
            None => (range, 1),
        };
        let (first, last): (u32, u32) = match range.split_once('-') {
            Some((first, last)) => (first.parse().ok()?, last.parse().ok()?),
            None => (range.parse().ok()?, range.parse().ok()?),
        };
        if step == 0 || last < first || ((last - first) / step) as usize >= limit - numbers.len() {
            return None;
        }
        numbers.extend((first..=last).step_by(step as usize));
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_written() {
        let entries = [
            JournalRecord::Thread { thread: 2, name: None, has_switches: false, has_counters: false },
            JournalRecord::Records { records: EventRecords::EnterLeave },
            JournalRecord::TeamMember { thread: 3, place: 2 },
            JournalRecord::Team { size: 4 },
            JournalRecord::LoopSearch(LoopSearch {
                header: Some(7),
                windows: vec![IterationWindow {
                    header: 7,
                    first: 9,
                    last: 18,
                    is_open: false,
                    is_whole: true,
                    meetings: 20,
                    begun: 60,
                    scope: WindowScope::Common,
                }],
                ..LoopSearch::default()
            }),
            JournalRecord::Region(Region {
                region: 1,
                name: "a\"b\n".into(),
                file: Some("x.c".into()),
                line: 3,
                phase: false,
            }),
            JournalRecord::Communicator(Communicator {
                communicator: 2,
                key: u64::MAX,
                name: String::new(),
                parent: Some(0),
                members: Some("0-3".into()),
                remote: None,
            }),
        ];
        for entry in entries {
            let line = entry.to_line();
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            assert_eq!(JournalRecord::from_line(line.trim_end()), Ok(entry));
        }
        assert!(JournalRecord::from_line("{\"entry\":\"thread\",\"thr").is_err());
    }

    #[test]
    fn ranges_hold_numbers_in_their_order() {
        let cases: [(&[u32], &str); 8] = [
            (&[], ""),
            (&[5], "5"),
            (&[0, 1, 2, 3], "0-3"),
            (&[0, 2, 4, 6], "0-6/2"),
            (&[3, 2, 1], "3,2,1"),
            (&[0, 1, 5, 9], "0-1,5,9"),
            (&[0, 7], "0,7"),
            (&[4, 4, 5], "4,4-5"),
        ];
        for (values, text) in cases {
            assert_eq!(ranges(values), text);
            assert_eq!(numbers(text, 100).as_deref(), Some(values), "{text}");
        }
        assert_eq!(numbers("0-99", 100).map(|n| n.len()), Some(100));
        for bad in ["0-100", "a", "5-1", "1-5/0", "1-", "-"] {
            assert_eq!(numbers(bad, 100), None, "{bad}");
        }
    }
}
