//! Files: handles, and transfers of all members or of one.

use model::attributes::FILE;

use crate::support::random::Random;
use crate::support::trace::{Members, OfFile, Step};

use super::ProgramGenerator;
use super::group::{self, Operation};

/// OTF2's modes and flags of operations.
const FLUSH: u8 = 2;
const NON_BLOCKING: u32 = 1;
const COLLECTIVE: u32 = 2;

/// An open file.
#[derive(Clone, Debug)]
pub(super) struct SimulatedFile {
    pub(super) name: String,
    /// `None` if a process has opened it by itself.
    pub(super) communicator: Option<String>,
    members: Vec<usize>,
}

/// Draws files, some of a process alone.
pub(super) fn files(
    random: &mut Random,
    communicators: &[(String, Members)],
    ranks: usize,
) -> Vec<SimulatedFile> {
    let mut all = Vec::new();
    for number in 0..1 + random.below(3) {
        let (communicator, members) = match group::communicator(random, communicators, ranks, 20) {
            Some((name, members)) => (Some(name), members),
            None => (random.chance(50).then(|| "self".into()), vec![random.below(ranks)]),
        };
        all.push(SimulatedFile { name: format!("file{number}"), communicator, members });
    }
    all
}

/// Collective transfers, with their modes.
const TRANSFERS: [(&str, u8); 6] = [
    ("read_all", 0),
    ("read_at_all", 0),
    ("read_ordered", 0),
    ("write_all", 1),
    ("write_at_all", 1),
    ("write_ordered", 1),
];

impl ProgramGenerator {
    /// Something with a file.
    pub(super) fn with_file(&mut self) {
        let file = self.random.below(self.files.len());
        match self.random.below(16) {
            0 => self.handle(file, "MPI_File_open", &|name| Step::File(name, OfFile::Create)),
            1 => self.handle(file, "MPI_File_close", &|name| Step::File(name, OfFile::Destroy)),
            2 | 3 => self.handle_without_record(file),
            4 => self.flush_file(file),
            5..=7 => self.transfer_together(file),
            8 | 9 => self.transfer_alone(file),
            10..=12 => self.transfer_in_two_calls(file),
            _ => self.start_transfer(file),
        }
    }

    /// All members enter a call, and leave it when the last one has come, or earlier; `body` adds the events at the begin and
    /// at the end of a member's call. Rarely one is missing.
    fn of_all(
        &mut self,
        file: usize,
        call: &str,
        mut body: impl FnMut(&mut ProgramGenerator, usize, usize, bool),
    ) {
        let mut inside = Vec::new();
        for rank in self.files[file].members.clone() {
            if self.breaks() {
                continue;
            }
            if self.is_lawful {
                self.request_due(rank);
            }
            let thread = self.enter_alone(rank, call);
            body(self, rank, thread, false);
            inside.push((rank, thread));
        }
        let latest = inside.iter().map(|&(rank, _)| self.processes[rank].now).max().unwrap_or(0);
        for (rank, thread) in inside {
            if self.random.chance(75) {
                self.wait_for(rank, latest);
            }
            self.inside(rank, thread);
            self.pass(rank, 0);
            body(self, rank, thread, true);
        }
    }

    fn handle(&mut self, file: usize, call: &str, step: &dyn Fn(String) -> Step) {
        let name = self.files[file].name.clone();
        self.of_all(file, call, |generator, rank, thread, is_end| {
            if is_end {
                // Rarely the call fails.
                if !generator.breaks() {
                    generator.step(rank, thread, step(name.clone()));
                }
                generator.leave(rank, thread);
            }
        });
    }

    fn handle_without_record(&mut self, file: usize) {
        let call = self.random.pick(&["MPI_File_set_view", "MPI_File_set_size", "MPI_File_preallocate"]);
        self.of_all(file, call, |generator, rank, thread, is_end| {
            if is_end {
                let told = vec![(FILE, file as u64)];
                generator.step(rank, thread, Step::WithAttributes(Box::new(Step::Leave), told));
            }
        });
    }

    fn flush_file(&mut self, file: usize) {
        self.transfer(file, "MPI_File_sync", FLUSH);
    }

    fn transfer_together(&mut self, file: usize) {
        let (call, mode) = self.random.pick(&TRANSFERS);
        self.transfer(file, &format!("MPI_File_{call}"), mode);
    }

    /// A collective operation in one call of each member; sometimes they disagree on what it is.
    fn transfer(&mut self, file: usize, call: &str, mode: u8) {
        let name = self.files[file].name.clone();
        let operation = self.matching_id();
        self.of_all(file, call, |generator, rank, thread, is_end| {
            if is_end {
                generator.step(rank, thread, Step::File(name.clone(), OfFile::Complete(operation, 0)));
                return generator.leave(rank, thread);
            }
            let mode = if generator.breaks() { 1 - mode.min(1) } else { mode };
            let begin = OfFile::Begin { operation, mode, flags: COLLECTIVE, bytes: 0 };
            generator.step(rank, thread, Step::File(name.clone(), begin));
        });
    }

    /// A number that matches the events of an operation. Numbers may repeat.
    pub(super) fn matching_id(&mut self) -> u64 {
        if self.random.chance(50) { self.number() % 3 } else { self.number() }
    }

    /// What one member does by itself, at once or later.
    fn transfer_alone(&mut self, file: usize) {
        let rank = self.random.pick(&self.files[file].members.clone());
        let name = self.files[file].name.clone();
        let (operation, is_started) = (self.matching_id(), self.random.chance(50));
        let (call, flags) =
            if is_started { ("MPI_File_iwrite", NON_BLOCKING) } else { ("MPI_File_write", 0) };
        let mut thread = self.enter_alone(rank, call);
        let begin = OfFile::Begin { operation, mode: 1, flags, bytes: 0 };
        self.step(rank, thread, Step::File(name.clone(), begin));
        if is_started {
            self.leave(rank, thread);
            self.meanwhile();
            let call = self.random.pick(&["MPI_Wait", "MPI_Waitall", "MPI_Test"]);
            thread = self.enter_alone(rank, call);
        }
        self.pass(rank, 0);
        self.step(rank, thread, Step::File(name, OfFile::Complete(operation, 0)));
        self.leave(rank, thread);
    }

    /// A transfer with a begin and an end, which some may never reach.
    fn transfer_in_two_calls(&mut self, file: usize) {
        let (call, mode) = self.random.pick(&TRANSFERS);
        let name = self.files[file].name.clone();
        let operation = self.matching_id();
        let mut begun = Vec::new();
        self.of_all(file, &format!("MPI_File_{call}_begin"), |generator, rank, thread, is_end| {
            if is_end {
                return generator.leave(rank, thread);
            }
            let mode = if generator.breaks() { 1 - mode } else { mode };
            let begin = OfFile::Begin { operation, mode, flags: COLLECTIVE | NON_BLOCKING, bytes: 0 };
            generator.step(rank, thread, Step::File(name.clone(), begin));
            begun.push((rank, generator.processes[rank].now));
        });
        self.meanwhile();
        let latest = begun.iter().map(|&(_, time)| time).max().unwrap_or(0);
        for (rank, _) in begun {
            if self.breaks() {
                continue;
            }
            if self.random.chance(20) {
                self.processes[rank].now += self.random.below(60) as u64;
            }
            let thread = self.enter_alone(rank, &format!("MPI_File_{call}_end"));
            if self.random.chance(70) {
                let other = self.random.pick(&self.files[file].members.clone());
                let time = self.processes[other].now.min(latest + 40);
                self.wait_for(rank, latest.max(time));
            }
            self.pass(rank, 0);
            self.step(rank, thread, Step::File(name.clone(), OfFile::Complete(operation, 0)));
            self.leave(rank, thread);
        }
    }

    /// A transfer that members start, and complete like non-blocking collective operations.
    fn start_transfer(&mut self, file: usize) {
        let members = self.files[file].members.clone();
        let operation = Operation {
            call: self.random.pick(&["File_iread_all", "File_iwrite_all", "File_iwrite_at_all"]),
            root: 0,
            communicator: String::new(),
            members,
            neighbors: None,
            file: Some((file, self.matching_id())),
        };
        self.start_together(operation);
    }

    /// The events of a member's part in such a transfer.
    pub(super) fn of_transfer(&mut self, one: &Operation, is_begin: bool) -> Option<Step> {
        let (file, operation) = one.file?;
        let mode = u8::from(one.call.contains("write"));
        let mode = if is_begin && self.breaks() { 1 - mode } else { mode };
        let begin = OfFile::Begin { operation, mode, flags: COLLECTIVE | NON_BLOCKING, bytes: 0 };
        let what = if is_begin { begin } else { OfFile::Complete(operation, 0) };
        Some(Step::File(self.files[file].name.clone(), what))
    }
}
