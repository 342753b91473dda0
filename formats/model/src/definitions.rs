//! The global definitions of a trace, references resolved to positions in these tables.

use crate::{ClockProperties, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole, Table};

/// All definitions that an analysis uses. Built by a reader, which has checked every reference in it: a
/// `usize` here is always a valid position in the table that its comment names.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// Resolution of the clock, and the trace's place on it.
    pub clock: ClockProperties,
    /// Whether the trace defines the clock; otherwise `clock` is a guess.
    pub is_clock_defined: bool,
    /// Machines, nodes and whatever lies between; parents precede children.
    pub system_tree: Table<SystemTreeNode>,
    /// Processes and accelerator contexts.
    pub location_groups: Table<LocationGroup>,
    /// Threads, accelerator streams, metric sources: all that have event files.
    pub locations: Table<Location>,
    /// Functions, MPI calls, OpenMP constructs, …
    pub regions: Table<Region>,
    /// Sets of locations, ranks, regions, …
    pub groups: Table<Group>,
    /// Communicators and inter-communicators (one space of references).
    pub communicators: Table<Communicator>,
    /// Windows of one-sided communication.
    pub windows: Table<Window>,
    /// Paths of files and directories.
    pub files: Table<String>,
    /// What is known of files, in the order of the records.
    pub file_properties: Vec<FileProperty>,
    /// What libraries of file access are called, such as `MPI-IO` or `POSIX`.
    pub io_paradigms: Table<String>,
    /// Handles of open files.
    pub file_handles: Table<FileHandle>,
    /// Nodes of the tree of calling contexts; parents precede children.
    pub calling_contexts: Table<CallingContext>,
    /// The sources of samples.
    pub interrupt_generators: Table<InterruptGenerator>,
    /// Cartesian topologies.
    pub topologies: Vec<CartTopology>,
    /// Every string, for records that name one (`ProgramBegin`).
    pub strings: Table<String>,
    /// Names of the attributes that events may have.
    pub attributes: Table<String>,
    /// Names of the parameters that events give values of.
    pub parameters: Table<String>,
    /// What metrics measure.
    pub metric_members: Table<MetricMember>,
    /// Metrics that are recorded together.
    pub metric_classes: Table<MetricClass>,
}

/// A node of the system tree above the location groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemTreeNode {
    /// Its name, such as a host name.
    pub name: String,
    /// Its class, such as `machine` or `node`.
    pub class: String,
    /// Position in [`Definitions::system_tree`]; `None` at a root.
    pub parent: Option<usize>,
    /// Energy that the run has taken, in microjoules, if it is known ([`crate::usage::MICROJOULES`]).
    pub microjoules: Option<u64>,
}

/// A process or an accelerator context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocationGroup {
    /// Its name, such as `MPI Rank 0`.
    pub name: String,
    /// Process or accelerator context.
    pub kind: LocationGroupType,
    /// Position in [`Definitions::system_tree`], if the writer said where it ran.
    pub parent: Option<usize>,
    /// Position in [`Definitions::location_groups`] of the process that made this accelerator context.
    pub creator: Option<usize>,
}

/// A thread, an accelerator stream or a source of metrics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Its name, such as `Master thread`.
    pub name: String,
    /// Type: thread, accelerator stream or metric source.
    pub kind: LocationType,
    /// Number of events that the writer claims; information only.
    pub events: u64,
    /// Position in [`Definitions::location_groups`].
    pub group: usize,
    /// The most memory that its process had in use, in bytes, if it is known ([`crate::usage::RESIDENT_BYTES`]).
    pub resident_bytes: Option<u64>,
    /// The cores on which the system let it run, such as `0-3,8`, if it is known ([`crate::usage::CORES`]).
    pub cores: Option<String>,
    /// What is lost of its events, as a sentence, if the writer says so ([`crate::recording::LOST`]).
    pub lost: Option<String>,
    /// Why its process has no end, likewise ([`crate::recording::UNFINISHED`]).
    pub unfinished: Option<String>,
}

/// A function or another stretch of code that is entered and left.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Region {
    /// The name for people (demangled).
    pub name: String,
    /// The name for linkers; equal to `name` where there is no other.
    pub canonical_name: String,
    /// Description by the writer; often empty.
    pub description: String,
    /// OTF2's role, such as function, loop or barrier.
    pub role: RegionRole,
    /// The programming model that it belongs to.
    pub paradigm: Paradigm,
    /// `RegionFlag` bits: 1 dynamic, 2 phase.
    pub flags: u32,
    /// The file that defines it; for functions of a library the library's name (`MPI`); empty if unknown.
    pub source_file: String,
    /// First line in `source_file`; 0 if unknown.
    pub begin_line: u32,
    /// Last line in `source_file`; 0 if unknown.
    pub end_line: u32,
}

/// A set of locations, ranks, regions or metrics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its name; often empty.
    pub name: String,
    /// Type of the members.
    pub kind: GroupType,
    /// The programming model in which the ranks count.
    pub paradigm: Paradigm,
    /// `GroupFlag` bits: 1 = ranks in events are global ones already.
    pub flags: u32,
    /// The members as they are in the record: location references, ranks in the paradigm's `COMM_LOCATIONS`,
    /// …
    pub members: Vec<u64>,
}

/// A communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Communicator {
    /// Its name; often empty.
    pub name: String,
    /// The processes that take part.
    pub members: Members,
    /// Position in [`Definitions::communicators`] of the communicator that it was derived from.
    pub parent: Option<usize>,
}

/// The members of a communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Members {
    /// Position in [`Definitions::groups`].
    Group(usize),
    /// Positions in [`Definitions::groups`] of the two sides of an inter-communicator.
    Inter(usize, usize),
}

/// A window of one-sided communication.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// Its name; often empty.
    pub name: String,
    /// Position in [`Definitions::communicators`] of the communicator whose ranks it has.
    pub communicator: usize,
}

/// Something that is known of a file, such as the file system that it is on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileProperty {
    /// Position in [`Definitions::files`].
    pub file: usize,
    /// What it is: Score-P names `Mount Point`, `File system`, `Stripe Size` and others.
    pub name: String,
    /// Its value; of integers in decimal digits.
    pub value: String,
}

/// A handle of an open file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileHandle {
    /// Position in [`Definitions::files`]; `None` if it is not said.
    pub file: Option<usize>,
    /// Position in [`Definitions::communicators`] of the communicator that has opened it; `None` if a process has opened it by
    /// itself.
    pub communicator: Option<usize>,
    /// Position in [`Definitions::io_paradigms`]; `None` if the trace does not define it.
    pub paradigm: Option<usize>,
    /// Position in [`Definitions::file_handles`] of the one in whose call it was made; `None` if there is none.
    pub parent: Option<usize>,
    /// OTF2's `IoStatusFlag`s if it was there before the first event; `None` if an event tells when it is made.
    pub was_open: Option<u32>,
}

/// A node of the tree of calling contexts, as sampling traces have them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallingContext {
    /// Position in [`Definitions::regions`].
    pub region: usize,
    /// File and line of the call or sample, if known.
    pub source: Option<(String, u32)>,
    /// Position in [`Definitions::calling_contexts`]; `None` at a root.
    pub parent: Option<usize>,
}

/// What a metric measures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricMember {
    /// Its name, such as `PAPI_TOT_INS`.
    pub name: String,
    /// Its unit, such as `#` or `s`.
    pub unit: String,
    /// What its values are.
    pub values: MetricValues,
}

impl MetricMember {
    /// Returns what its values count, if they do.
    pub fn counts(&self) -> Option<Counting> {
        match self.values {
            MetricValues::Counts(counting) => Some(counting),
            MetricValues::States(_) | MetricValues::Others => None,
        }
    }
}

/// What the values of a metric are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricValues {
    /// Numbers that count.
    Counts(Counting),
    /// States, such as frequencies.
    States(State),
    /// Changes of states, or numbers of another type.
    Others,
}

/// Values that count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counting {
    /// Since when.
    pub since: CountsSince,
    /// The power of ten of the unit in which they count: whole numbers, and millionths of real ones.
    pub exponent: i64,
}

/// Values that are states: each is a number of its unit times a power.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    /// Whether a value holds from its time to that of the next; else it holds at its time, or from the one before to its time.
    pub holds_until_next: bool,
    /// The base of the power: 10, or 2.
    pub base: u8,
    /// Its exponent.
    pub exponent: i64,
}

/// Since when a value counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CountsSince {
    /// Since the begin of the recording, or of the thread.
    Begin,
    /// Since the value before.
    ValueBefore,
}

/// Metrics that are recorded together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricClass {
    /// Positions in [`Definitions::metric_members`], in the order of values; `None` for one that is not defined.
    pub members: Vec<Option<usize>>,
    /// Whether there are values at each enter and leave, and nowhere else.
    pub is_strict: bool,
    /// Whether values are of a thread, at events of it.
    pub is_of_threads: bool,
}

/// A source of samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InterruptGenerator {
    /// Whether it counts time, not something else.
    pub is_of_time: bool,
    /// Whether the exponent is of 10, not of 2.
    pub is_decimal: bool,
    /// The unit of the period: base to the power of this, in seconds.
    pub exponent: i64,
    /// Units from one sample to the next.
    pub period: u64,
}

impl InterruptGenerator {
    /// Seconds from one sample to the next; `None` if something else than time is counted, or the period is
    /// absurd.
    pub fn seconds(&self) -> Option<f64> {
        let base: f64 = if self.is_decimal { 10.0 } else { 2.0 };
        let seconds = self.period as f64 * base.powi(i32::try_from(self.exponent).ok()?);
        (self.is_of_time && seconds.is_normal()).then_some(seconds)
    }
}

/// A dimension of a Cartesian topology.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CartDimension {
    /// Its name; often empty.
    pub name: String,
    /// Number of coordinates along it.
    pub size: u32,
    /// Whether the last coordinate is next to the first.
    pub periodic: bool,
}

/// A Cartesian topology over the ranks of a communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CartTopology {
    /// Its name; often empty.
    pub name: String,
    /// Position in [`Definitions::communicators`].
    pub communicator: usize,
    /// Its dimensions.
    pub dimensions: Vec<CartDimension>,
    /// Rank in the communicator and one coordinate per dimension.
    pub coordinates: Vec<(u32, Vec<u32>)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn period_of_samples_is_in_units_of_a_power_of_ten_or_two() {
        let generator =
            InterruptGenerator { is_of_time: true, is_decimal: true, exponent: -9, period: 5_000_000 };
        assert!((generator.seconds().unwrap() - 0.005).abs() < 1e-12);
        let binary = InterruptGenerator { is_decimal: false, exponent: -3, period: 4, ..generator };
        assert_eq!(binary.seconds(), Some(0.5));
        for odd in [
            InterruptGenerator { is_of_time: false, ..generator },
            InterruptGenerator { period: 0, ..generator },
            InterruptGenerator { exponent: i64::MAX, ..generator },
            InterruptGenerator { exponent: 400, ..generator },
        ] {
            assert_eq!(odd.seconds(), None, "{odd:?}");
        }
    }
}
