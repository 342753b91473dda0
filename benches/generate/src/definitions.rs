//! Global definitions as a recorder writes them: nodes with ranks, threads, regions, call paths, communicators.

use std::collections::HashMap;

use model::{GroupType, LocationGroupType, LocationType, Paradigm, attributes};
use otf2::{ArchiveWriter, Definition, List, UNDEFINED, ValueType};

use crate::contexts::Contexts;
use crate::files::{self, FILE, FILE_HANDLE, FILETYPES};
use crate::job::Job;
use crate::location::{EPOCH, SHUTDOWN, START, reference};
use crate::objects::{FIRST_GROUP, GRID, Groups, NEIGHBORS_IN, NEIGHBORS_OUT, WINDOW};
use crate::patterns::Plan;
use crate::regions::{REGIONS, Region};
use crate::streams;
use crate::told::Told;

/// The communicator of all ranks.
pub(crate) const WORLD: u32 = 0;
/// The communicator of each rank alone.
pub(crate) const SELF: u32 = 1;
/// The team of rank 0's threads; those of the other ranks follow.
pub(crate) const TEAMS: u32 = 2;
/// The communicator of devices and their hosts.
const DEVICES: u32 = 2;

/// The string with the name of the program, which events refer to.
pub(crate) const PROGRAM: u32 = 1;

/// The group of all ranks.
const ALL_RANKS: u32 = 1;

/// Flag of communicators and windows: events say when they are created and destroyed.
const CREATE_AND_DESTROY_EVENTS: u32 = 1;

/// The paradigm of files of MPI, and OTF2's `IoParadigmClass` of those that processes access together.
const MPI_IO: u8 = 0;
const PARALLEL: u8 = 1;

/// Type of parameters without a sign.
const UNSIGNED: u8 = 2;

/// Ranks on a node.
const RANKS_OF_A_NODE: u32 = 64;

/// Writes all definitions; `events` are the numbers of events of locations, in the order of [`Job::locations`].
pub(crate) fn write(
    job: &Job,
    plan: Plan,
    groups: &Groups,
    contexts: &Contexts,
    events: &[u64],
    archive: &mut ArchiveWriter,
) -> Result<(), otf2::Error> {
    let mut definitions = Definitions { archive, strings: 0, groups: 0, files: Vec::new() };
    definitions.define(Definition::ClockProperties {
        timer_resolution: 1_000_000_000,
        global_offset: EPOCH,
        trace_length: START + plan.ticks + SHUTDOWN,
        realtime_timestamp: u64::MAX,
    })?;
    definitions.string("")?;
    definitions.string(&format!("./{}", job.pattern.name))?;
    definitions.filetypes(job)?;
    definitions.system(job, events)?;
    definitions.regions(job)?;
    definitions.contexts(contexts)?;
    definitions.communicators(job)?;
    definitions.objects(job, groups)
}

/// Writer that assigns the references of strings and groups.
struct Definitions<'a> {
    archive: &'a mut ArchiveWriter,
    strings: u32,
    groups: u32,
    /// The string with the file of each region.
    files: Vec<u32>,
}

impl Definitions<'_> {
    fn define(&mut self, definition: Definition<'_>) -> Result<(), otf2::Error> {
        self.archive.define(definition)
    }

    /// Defines a string and returns its reference.
    fn string(&mut self, text: &str) -> Result<u32, otf2::Error> {
        let reference = self.strings;
        self.strings += 1;
        self.define(Definition::String { reference, string: text.as_bytes() })?;
        Ok(reference)
    }

    /// The filetypes of views, which events refer to.
    fn filetypes(&mut self, job: &Job) -> Result<(), otf2::Error> {
        let Some(views) = job.pattern.objects.views else { return Ok(()) };
        for (expected, view) in (FILETYPES..).zip(views(job, 0)) {
            let string = self.string(&view.filetype())?;
            debug_assert_eq!(string, expected);
        }
        Ok(())
    }

    /// The machine with its nodes, their ranks, and their threads.
    fn system(&mut self, job: &Job, events: &[u64]) -> Result<(), otf2::Error> {
        let (machine, node, name) = (self.string("machine")?, self.string("node")?, self.string("cluster")?);
        self.define(Definition::SystemTreeNode {
            reference: 0,
            name,
            class_name: machine,
            parent: UNDEFINED,
        })?;
        let mut threads = vec![self.string("Master thread")?];
        for thread in 1..job.threads {
            threads.push(self.string(&format!("OMP thread {thread}"))?);
        }
        let streams = 0..job.pattern.objects.streams;
        let streams: Vec<u32> =
            streams.map(|stream| self.string(&streams::name(stream))).collect::<Result<_, _>>()?;
        for (rank, events) in (0..).zip(events.chunks_exact(threads.len() + streams.len())) {
            let on = 1 + rank / RANKS_OF_A_NODE;
            if rank % RANKS_OF_A_NODE == 0 {
                let name = self.string(&format!("node{on:04}"))?;
                self.define(Definition::SystemTreeNode { reference: on, name, class_name: node, parent: 0 })?;
            }
            let name = self.string(&format!("MPI Rank {rank}"))?;
            self.define(Definition::LocationGroup {
                reference: rank,
                name,
                location_group_type: LocationGroupType::PROCESS,
                system_tree_parent: on,
                creating_location_group: UNDEFINED,
            })?;
            let (of_threads, of_streams) = events.split_at(threads.len());
            for (thread, (&name, &number_of_events)) in (0..).zip(threads.iter().zip(of_threads)) {
                self.define(Definition::Location {
                    reference: reference(rank, thread),
                    name,
                    location_type: LocationType::CPU_THREAD,
                    number_of_events,
                    location_group: rank,
                })?;
            }
            if !streams.is_empty() {
                self.device(job, (rank, on), &streams, of_streams)?;
            }
        }
        Ok(())
    }

    /// The device of a rank on a node, with the names of its streams and their numbers of events. Devices are numbered behind the
    /// ranks.
    fn device(
        &mut self,
        job: &Job,
        (rank, node): (u32, u32),
        names: &[u32],
        events: &[u64],
    ) -> Result<(), otf2::Error> {
        let location_group = job.ranks + rank;
        let name = self.string("CUDA Context 1")?;
        self.define(Definition::LocationGroup {
            reference: location_group,
            name,
            location_group_type: LocationGroupType::ACCELERATOR,
            system_tree_parent: node,
            creating_location_group: rank,
        })?;
        for (stream, (&name, &number_of_events)) in (job.threads..).zip(names.iter().zip(events)) {
            self.define(Definition::Location {
                reference: reference(rank, stream),
                name,
                location_type: LocationType::ACCELERATOR_STREAM,
                number_of_events,
                location_group,
            })?;
        }
        Ok(())
    }

    fn regions(&mut self, job: &Job) -> Result<(), otf2::Error> {
        let own = format!("{}.c", job.pattern.name.replace('-', "_"));
        let own = self.string(&own)?;
        let mut files: Vec<(&str, u32)> = Vec::new();
        let of_device = job.pattern.objects.regions;
        for region in REGIONS.iter().chain(of_device) {
            if !files.iter().any(|file| file.0 == region.file) {
                files.push((region.file, self.string(region.file)?));
            }
        }
        let file = |name: &str| files.iter().find(|file| file.0 == name).map_or(0, |file| file.1);
        let defined = |region: &Region| (region.name, file(region.file), region.role, region.paradigm);
        let (common, of_device) = (REGIONS.iter().map(defined), of_device.iter().map(defined));
        let functions = job.pattern.functions.iter();
        let functions = functions.map(|name| (*name, own, model::RegionRole::FUNCTION, Paradigm::COMPILER));
        for (reference, (name, source_file, region_role, paradigm)) in
            (0..).zip(common.chain(functions).chain(of_device))
        {
            let name = self.string(name)?;
            self.files.push(source_file);
            self.define(Definition::Region {
                reference,
                name,
                description: 0,
                source_file,
                begin_line_number: 0,
                end_line_number: 0,
                canonical_name: name,
                region_role,
                paradigm,
                region_flags: 0,
            })?;
        }
        Ok(())
    }

    /// Call paths with their lines, which lie in the files of the callers.
    fn contexts(&mut self, contexts: &Contexts) -> Result<(), otf2::Error> {
        let list = contexts.list();
        let mut places: HashMap<(u32, u32), u32> = HashMap::new();
        for (reference, context) in (0..).zip(list) {
            let caller = context.parent.and_then(|parent| list.get(parent as usize));
            let source_code_location = match caller {
                Some(caller) => {
                    let (file, line_number) = (self.files[caller.region as usize], context.line);
                    let next = places.len() as u32;
                    let number = *places.entry((file, line_number)).or_insert(next);
                    if number == next {
                        self.define(Definition::SourceCodeLocation { reference: next, file, line_number })?;
                    }
                    number
                }
                None => UNDEFINED,
            };
            self.define(Definition::CallingContext {
                reference,
                region: context.region,
                source_code_location,
                parent: context.parent.unwrap_or(UNDEFINED),
            })?;
        }
        Ok(())
    }

    fn communicators(&mut self, job: &Job) -> Result<(), otf2::Error> {
        let ranks: Vec<u64> = (0..job.ranks.into()).collect();
        self.group(GroupType::COMM_LOCATIONS, Paradigm::MPI, &ranks)?;
        let world = self.group(GroupType::COMM_GROUP, Paradigm::MPI, &ranks)?;
        debug_assert_eq!(world, ALL_RANKS);
        let alone = self.group(GroupType::COMM_SELF, Paradigm::MPI, &[])?;
        for (reference, name, group) in [(WORLD, "MPI_COMM_WORLD", world), (SELF, "MPI_COMM_SELF", alone)] {
            let (name, flags) = (self.string(name)?, CREATE_AND_DESTROY_EVENTS);
            self.define(Definition::Comm { reference, name, group, parent: UNDEFINED, flags })?;
        }
        if job.pattern.threads == 1 {
            return Ok(());
        }
        let of_rank = |rank| (0..job.threads).map(move |thread| reference(rank, thread));
        let threads: Vec<u64> = (0..job.ranks).flat_map(of_rank).collect();
        self.group(GroupType::COMM_LOCATIONS, Paradigm::OPENMP, &threads)?;
        let numbers: Vec<u64> = (0..threads.len() as u64).collect();
        for (reference, members) in (TEAMS..).zip(numbers.chunks_exact(job.threads as usize)) {
            let group = self.group(GroupType::COMM_GROUP, Paradigm::OPENMP, members)?;
            self.define(Definition::Comm { reference, name: 0, group, parent: UNDEFINED, flags: 0 })?;
        }
        Ok(())
    }

    /// What only some patterns have.
    fn objects(&mut self, job: &Job, groups: &Groups) -> Result<(), otf2::Error> {
        let flags = CREATE_AND_DESTROY_EVENTS;
        for (reference, members) in (FIRST_GROUP..).zip(groups.lists()) {
            let defined = self.group(GroupType::COMM_GROUP, Paradigm::MPI, members)?;
            debug_assert_eq!(defined, reference);
        }
        if job.pattern.objects.grid {
            let name = self.string("grid")?;
            self.define(Definition::Comm { reference: GRID, name, group: ALL_RANKS, parent: WORLD, flags })?;
            self.attributes(&[
                Told::new(NEIGHBORS_IN, attributes::NEIGHBORS_IN, ValueType::GROUP),
                Told::new(NEIGHBORS_OUT, attributes::NEIGHBORS_OUT, ValueType::GROUP),
            ])?;
        }
        if job.pattern.objects.window {
            let name = self.string("window")?;
            self.define(Definition::RmaWin { reference: WINDOW, name, comm: WORLD, flags })?;
        }
        if job.pattern.objects.views.is_some() {
            self.file()?;
        }
        if job.pattern.objects.streams > 0 {
            self.copies(job)?;
        }
        Ok(())
    }

    /// The window of copies on streams with all hosts and streams, and the attributes and parameters of events.
    fn copies(&mut self, job: &Job) -> Result<(), otf2::Error> {
        self.attributes(&streams::ATTRIBUTES)?;
        for (reference, name) in (0..).zip(streams::PARAMETERS) {
            let name = self.string(name)?;
            self.define(Definition::Parameter { reference, name, parameter_type: UNSIGNED })?;
        }
        let locations: Vec<u64> = job.locations().collect();
        self.group(GroupType::COMM_LOCATIONS, Paradigm::CUDA, &locations)?;
        let all: Vec<u64> = (0..locations.len() as u64).collect();
        let group = self.group(GroupType::COMM_GROUP, Paradigm::CUDA, &all)?;
        self.define(Definition::Comm { reference: DEVICES, name: 0, group, parent: UNDEFINED, flags: 0 })?;
        let name = self.string(streams::WINDOW_NAME)?;
        self.define(Definition::RmaWin { reference: WINDOW, name, comm: DEVICES, flags: 0 })
    }

    fn attributes(&mut self, attributes: &[Told]) -> Result<(), otf2::Error> {
        for &Told { reference, name, value_type } in attributes {
            let name = self.string(name)?;
            self.define(Definition::Attribute { reference, name, value_type, description: 0 })?;
        }
        Ok(())
    }

    /// The file that all ranks open, with MPI-IO as the only paradigm (io 2.1), and the attributes of its events.
    fn file(&mut self) -> Result<(), otf2::Error> {
        self.attributes(&files::ATTRIBUTES)?;
        let (identification, name) = (self.string("MPI-IO")?, self.string("MPI I/O")?);
        self.define(Definition::IoParadigm {
            reference: MPI_IO,
            identification,
            name,
            io_paradigm_class: PARALLEL,
            io_paradigm_flags: 0,
            properties: List::EMPTY,
        })?;
        let name = self.string("/scratch/data")?;
        self.define(Definition::IoRegularFile { reference: FILE, name, scope: UNDEFINED })?;
        self.define(Definition::IoHandle {
            reference: FILE_HANDLE,
            name: 0,
            file: FILE,
            io_paradigm: MPI_IO,
            io_handle_flags: 0,
            comm: WORLD,
            parent: UNDEFINED,
        })
    }

    /// Defines a group and returns its reference.
    fn group(
        &mut self,
        group_type: GroupType,
        paradigm: Paradigm,
        members: &[u64],
    ) -> Result<u32, otf2::Error> {
        let reference = self.groups;
        self.groups += 1;
        let members = List::from(members);
        self.define(Definition::Group { reference, name: 0, members, group_type, paradigm, group_flags: 0 })?;
        Ok(reference)
    }
}
