//! The journals of all processes.
//!
//! A journal is written by a process that may have died at any moment, so every record but the first may be
//! missing, and no number in it is trusted: contradictions are passed over with a notice.

use super::notices::Notices;
use crate::Error;
use recording::counters::MOST;
use recording::energy::EnergyReading;
use recording::journal::{
    ClockCalibration, ClockOffset, Communicator, CounterDefinition, Descriptor, File, JournalRecord,
    LoopSearch, Module, Mount, NamedFile, ProfileRequest, Region, ThreadUsage, Topology, Window,
};
use recording::layout;
use recording::settings::EventRecords;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Upper bound of the size of a world, beyond that of any machine; a larger one is damage.
const LARGEST_WORLD: u32 = 1 << 24;

/// What is said of a process that went on without being recorded; the cause is behind it.
pub(super) const STOPPED: &str = "not recorded any more";

/// A thread, according to the journal of its process.
#[derive(Clone, Default, Debug)]
pub(crate) struct Thread {
    /// Its name in the system, if it has one of its own.
    pub(crate) name: Option<String>,
    /// Whether its events tell when it was off the processor.
    pub(crate) has_switches: bool,
    /// Whether its events have values of counters.
    pub(crate) has_counters: bool,
}

/// A process, according to its journal.
#[derive(Clone, Default, Debug)]
pub(crate) struct Process {
    pub(crate) rank: u32,
    /// Number of processes in `MPI_COMM_WORLD`.
    pub(crate) size: u32,
    pub(crate) host: String,
    /// The counters of its threads, in the order of values.
    pub(crate) counters: Vec<CounterDefinition>,
    /// Its process id on its host.
    pub(crate) process: u32,
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) mpi: String,
    pub(crate) version: String,
    pub(crate) chunk_size: u64,
    pub(crate) clock: String,
    /// Samples for a second of a thread's processor time.
    pub(crate) sample: u32,
    /// Whether the archive is to have neither names of hosts nor paths.
    pub(crate) is_anonymous: bool,
    /// The request for a profile, if it has counted instead of recording events.
    pub(crate) profile: Option<ProfileRequest>,
    /// The event records of the archive, if the user has chosen.
    pub(crate) records: Option<EventRecords>,
    /// Its threads by their numbers.
    pub(crate) threads: BTreeMap<u32, Thread>,
    /// What threads have used, by their numbers.
    pub(crate) usage: BTreeMap<u32, ThreadUsage>,
    /// What meters of its host's energy have shown, if it has read them, in the order of time.
    pub(crate) energy: Vec<EnergyReading>,
    /// Places in teams of OpenMP, by numbers of threads. Several threads have had one place if there are nested teams.
    pub(crate) places: BTreeMap<u32, u32>,
    /// Sizes of its teams.
    pub(crate) teams: BTreeSet<u32>,
    pub(crate) calibrations: Vec<ClockCalibration>,
    pub(crate) offsets: Vec<ClockOffset>,
    pub(crate) modules: Vec<Module>,
    pub(crate) regions: BTreeMap<u32, Region>,
    pub(crate) communicators: BTreeMap<u32, Communicator>,
    pub(crate) groups: BTreeMap<u32, String>,
    pub(crate) windows: BTreeMap<u32, Window>,
    pub(crate) files: BTreeMap<u32, File>,
    /// Files that functions of the C library have opened.
    pub(crate) descriptors: BTreeMap<u32, Descriptor>,
    /// Files that events name without a handle.
    pub(crate) named: BTreeMap<u32, NamedFile>,
    /// The number of the handle that stands for all files, if there is one.
    pub(crate) all_files: Option<u32>,
    /// What its host has mounted, if it has told that.
    pub(crate) mounts: Vec<Mount>,
    /// Strings that events refer to, behind those of program and arguments.
    pub(crate) texts: Vec<String>,
    pub(crate) topologies: Vec<Topology>,
    /// What has come of the search for a loop, if iterations are to be recorded.
    pub(crate) search: Option<LoopSearch>,
    /// Whether something limited what was recorded.
    pub(crate) is_limited: bool,
    /// Why it was not recorded any more, if that was so.
    pub(crate) stopped: Option<String>,
    /// Exit status, if the program has ended by itself.
    pub(crate) end: Option<i32>,
}

/// Reads all journals of an experiment, by rank.
///
/// # Errors
/// If there is none, the folder cannot be read, or they are not of one program.
pub(crate) fn read(directory: &Path, notices: &mut Notices) -> Result<Vec<Process>, Error> {
    let mut processes: Vec<Process> = Vec::new();
    for rank in ranks(directory)? {
        let path = layout::journal(directory, rank);
        let bytes = fs::read(&path).map_err(|cause| Error::io(&path, "read the file", cause))?;
        match parse(&bytes, rank, &path, notices) {
            Ok(process) => processes.push(process),
            Err(message) => notices.loss(rank, format!("its journal is of no use ({message})")),
        }
    }
    let Some(first) = processes.first() else {
        let folder = directory.join(layout::RECORDING);
        return Err(Error::new(format!(
            "{}: there is no journal with a process in it: nothing was recorded",
            folder.display()
        )));
    };
    for process in &processes[1..] {
        let about = |what: &str, own: &dyn std::fmt::Display, other: &dyn std::fmt::Display| {
            Err(Error::new(format!(
                "{}: {what} {own}, that of rank {} says {other}: these are not recordings of one run",
                layout::journal(directory, process.rank).display(),
                first.rank,
            )))
        };
        if process.size != first.size {
            return about("number of processes", &process.size, &first.size);
        }
        if process.chunk_size != first.chunk_size {
            return about("chunk size", &process.chunk_size, &first.chunk_size);
        }
    }
    Ok(processes)
}

/// Returns the number of processes in the world, from the first journal that has it.
pub(crate) fn size(directory: &Path) -> Option<u32> {
    let of = |rank| {
        let path = layout::journal(directory, rank);
        let bytes = fs::read(&path).ok()?;
        Some(parse(&bytes, rank, &path, &mut Notices::default()).ok()?.size)
    };
    // Rank 0 has one except by accident; listing takes longer.
    of(0).or_else(|| ranks(directory).ok()?.into_iter().find_map(of))
}

/// Returns the ranks with a journal, in their order.
fn ranks(directory: &Path) -> Result<Vec<u32>, Error> {
    let folder = directory.join(layout::RECORDING);
    let failed = |cause| Error::io(&folder, "list the directory", cause);
    let mut ranks = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let rank = name.to_str().and_then(|name| name.strip_suffix(".journal")?.parse().ok());
        ranks.extend(rank.filter(|&rank: &u32| layout::journal(directory, rank).file_name() == Some(&name)));
    }
    ranks.sort_unstable();
    Ok(ranks)
}

/// Parses the journal of a process; an error says why it is of no use.
fn parse(bytes: &[u8], rank: u32, path: &Path, notices: &mut Notices) -> Result<Process, String> {
    let mut process = None;
    let mut offset = 0;
    let mut complaint = None;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let at = offset;
        offset += line.len();
        let Some(line) = line.strip_suffix(b"\n") else { break };
        if line.is_empty() {
            continue;
        }
        match (JournalRecord::from_line(&String::from_utf8_lossy(line)), &mut process) {
            (Err(message), _) => {
                complaint.get_or_insert_with(|| Error::at(path, at as u64, message).to_string());
            }
            (Ok(entry), None) => process = Some(begin(entry, rank)?),
            (Ok(entry), Some(process)) => add(process, entry, notices),
        }
    }
    if let Some(complaint) = complaint {
        notices.loss(rank, format!("a line of its journal is passed over ({complaint})"));
    }
    process.ok_or_else(|| format!("{}: it has no complete line", path.display()))
}

/// Creates the process from the first record.
fn begin(entry: JournalRecord, of: u32) -> Result<Process, String> {
    let JournalRecord::Process {
        version,
        rank,
        size,
        host,
        process,
        program,
        arguments,
        mpi,
        chunk_size,
        clock,
        sample,
        anonymous,
    } = entry
    else {
        return Err("it does not begin with the process".into());
    };
    if rank != of || rank >= size || size > LARGEST_WORLD {
        return Err(format!("it is that of rank {rank} of {size}"));
    }
    if !otf2::CHUNK_SIZES.contains(&chunk_size) {
        return Err(format!("it speaks of chunks of {chunk_size} bytes"));
    }
    Ok(Process {
        rank,
        size,
        host,
        process,
        program,
        arguments,
        mpi,
        version,
        chunk_size,
        clock,
        sample,
        is_anonymous: anonymous,
        ..Process::default()
    })
}

/// Adds the contents of a record.
fn add(process: &mut Process, entry: JournalRecord, notices: &mut Notices) {
    match entry {
        JournalRecord::Process { .. } => notices.note(process.rank, "its journal tells of two processes"),
        JournalRecord::Profile(profile) => process.profile = Some(profile),
        JournalRecord::Records { records } => process.records = Some(records),
        JournalRecord::Thread { thread, name, has_switches, has_counters } => {
            process.threads.insert(thread, Thread { name, has_switches, has_counters });
        }
        // More of them than a record has values of are those of a damaged journal.
        JournalRecord::Counters { counters } if counters.len() <= MOST => process.counters = counters,
        JournalRecord::Counters { .. } => {
            notices.note(process.rank, "its journal tells of too many counters")
        }
        JournalRecord::Usage(usage) => {
            process.usage.insert(usage.thread, usage);
        }
        JournalRecord::Energy(reading) => process.energy.push(reading),
        JournalRecord::TeamMember { thread, place } => {
            process.places.insert(thread, place);
        }
        JournalRecord::Team { size } => {
            process.teams.insert(size);
        }
        JournalRecord::Calibration(calibration) => process.calibrations.push(calibration),
        JournalRecord::Offset(offset) => process.offsets.push(offset),
        JournalRecord::Module(module) => process.modules.push(module),
        JournalRecord::Region(region) => {
            process.regions.insert(region.region, region);
        }
        JournalRecord::Communicator(communicator) => {
            process.communicators.insert(communicator.communicator, communicator);
        }
        JournalRecord::Name { of, number, name } => {
            let named = match of.as_str() {
                "communicator" => process.communicators.get_mut(&number).map(|found| &mut found.name),
                "window" => process.windows.get_mut(&number).map(|found| &mut found.name),
                _ => None,
            };
            match named {
                Some(old) => *old = name,
                None => {
                    notices.note(process.rank, format!("its journal names {of} {number}, which it lacks"))
                }
            }
        }
        JournalRecord::Group { group, members } => {
            process.groups.insert(group, members);
        }
        JournalRecord::Window(window) => {
            process.windows.insert(window.window, window);
        }
        JournalRecord::File(file) => {
            process.files.insert(file.handle, file);
        }
        JournalRecord::Descriptor(descriptor) => {
            process.descriptors.insert(descriptor.handle, descriptor);
        }
        JournalRecord::NamedFile(named) => {
            process.named.insert(named.file, named);
        }
        JournalRecord::AllFiles { handle } => process.all_files = Some(handle),
        JournalRecord::Mount(mount) => process.mounts.push(mount),
        JournalRecord::Text { string, text } => {
            let next = 1 + process.arguments.len() + process.texts.len();
            match string as usize == next {
                true => process.texts.push(text),
                false => notices
                    .loss(process.rank, format!("its journal has string {string} in the place of {next}")),
            }
        }
        JournalRecord::Topology(topology) => process.topologies.push(topology),
        JournalRecord::LoopSearch(search) => process.search = Some(search),
        JournalRecord::Notice { text } => {
            process.is_limited = true;
            notices.note(process.rank, text);
        }
        JournalRecord::Stopped { cause } => {
            process.is_limited = true;
            notices.note(process.rank, format!("{STOPPED}: {cause}"));
            process.stopped = Some(cause);
        }
        JournalRecord::Remark { text } => notices.note(process.rank, text),
        JournalRecord::End { status } => process.end = Some(status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: &str = r#"{"entry":"process","version":"1","rank":1,"size":2,"host":"h","process":7,"program":"a","arguments":[],"mpi":"m","chunk_size":1048576,"clock":"tsc"}"#;

    fn parsed(text: &str) -> (Result<Process, String>, Vec<String>) {
        let mut notices = Notices::default();
        let process = parse(text.as_bytes(), 1, Path::new("1.journal"), &mut notices);
        (process, notices.lines())
    }

    #[test]
    fn line_that_was_cut_off_is_passed_over() {
        let text = format!("{PROCESS}\n{{\"entry\":\"end\",\"status\":3}}\n{{\"entry\":\"thr");
        let (process, notices) = parsed(&text);
        assert_eq!(process.map(|process| (process.rank, process.end)), Ok((1, Some(3))));
        assert_eq!(notices, [""; 0]);
        assert!(parsed(PROCESS).0.is_err(), "no newline");
        assert!(parsed("").0.is_err());
    }

    #[test]
    fn line_that_makes_no_sense_is_named() {
        let (process, notices) = parsed(&format!("{PROCESS}\nnonsense\n"));
        assert!(process.is_ok());
        assert!(notices[0].contains(&format!("1.journal: byte {:#x}", PROCESS.len() + 1)), "{notices:?}");
    }

    #[test]
    fn strings_are_behind_the_arguments_and_one_that_is_out_of_turn_is_passed_over() {
        let with_argument = PROCESS.replace("\"arguments\":[]", "\"arguments\":[\"-v\"]");
        let text = |string, text| format!("{{\"entry\":\"text\",\"string\":{string},\"text\":\"{text}\"}}\n");
        let (process, notices) = parsed(
            &[with_argument, "\n".into(), text(2, "b8"), text(4_000_000_000u32, "x"), text(3, "b9")].concat(),
        );
        assert_eq!(process.unwrap().texts, ["b8", "b9"]);
        assert_eq!(notices.len(), 1);
    }

    #[test]
    fn impossible_process_is_refused() {
        for (part, other) in [("\"rank\":1", "\"rank\":0"), ("size\":2", "size\":1"), ("1048576", "17")] {
            assert!(parsed(&format!("{}\n", PROCESS.replace(part, other))).0.is_err(), "{other}");
        }
        assert!(parsed("{\"entry\":\"end\",\"status\":3}\n").0.is_err());
    }

    #[test]
    fn names_replace_those_of_the_creation() {
        let window = r#"{"entry":"window","window":4,"key":9,"communicator":0,"name":"old"}"#;
        let name = r#"{"entry":"name","of":"window","number":4,"name":"new"}"#;
        let (process, _) = parsed(&format!("{PROCESS}\n{window}\n{name}\n"));
        assert_eq!(process.unwrap().windows[&4].name, "new");
    }
}
