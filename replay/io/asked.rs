//! What is known of all files before events are read.

use io_model::{Layer, Settings};
use model::{FileHandle, mpi};
use otf2::{MappingType, Mappings};

use super::options::IoOptions;
use crate::communicators::Participants;
use crate::trace::Trace;

/// Transfers of a file that are kept and compared at most, of all ranks: some ten bytes each, and up to 100 while the file is looked at.
const TRANSFERS: u64 = 1 << 24;

/// As many of a rank are kept in any case.
const LEAST: u64 = 1 << 10;

/// What is asked of the model of file I/O, and what definitions say about files.
#[derive(Debug)]
pub struct Asked {
    pub(super) options: IoOptions,
    /// By position of the handle: `None` for those of no file, and of libraries that are built on others.
    handles: Vec<Option<Handle>>,
    /// By position of the region.
    calls: Vec<Call>,
    /// Position of `MPI_COMM_WORLD`.
    pub(super) world: Option<usize>,
    /// Whether views are recorded.
    pub(super) has_views: bool,
    /// Whether writes to streams are recorded as they go to the system.
    has_exact_streams: bool,
    /// Whether there are handles that were there before the first event.
    pub(super) has_open_before: bool,
    /// How many ranks there are.
    ranks: u64,
}

/// A handle of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handle {
    /// Number of the file.
    pub(super) file: u32,
    /// The library.
    pub(super) layer: Layer,
    /// Members of the communicator, if there is one.
    pub(super) members: Option<u64>,
    /// Whether it is made in a call that opens the file by another handle.
    pub(super) is_nested: bool,
    /// OTF2's status flags if it was there before the first event.
    pub(super) was_open: Option<u32>,
}

/// What the name of a call says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    /// The shared pointer moves.
    SeeksShared,
    /// Transfers begin at the shared pointer.
    Shared,
    /// Room is reserved for a file.
    Preallocates,
    /// Anything else.
    Other,
}

impl Asked {
    /// Looks at the definitions; from now on attributes of file access are read, too.
    pub(crate) fn new(trace: &mut Trace, options: &IoOptions) -> Asked {
        trace.read_files();
        let definitions = &trace.definitions;
        let handles = (0..definitions.file_handles.len()).map(|at| handle(trace, at)).collect();
        let communicators = &definitions.communicators;
        let named = communicators.iter().position(|it| it.name == "MPI_COMM_WORLD");
        let all = trace.processes.iter().filter(|process| process.rank.is_some()).count();
        let has_all = |it: &Participants| matches!(it, Participants::Ranks(ranks) if ranks.len() == all);
        let first = || trace.communicators[..communicators.len()].iter().position(has_all);
        Asked {
            options: options.clone(),
            handles,
            calls: definitions.regions.iter().map(|region| call(&region.name)).collect(),
            world: named.or_else(first),
            has_open_before: definitions.file_handles.iter().any(|handle| handle.was_open.is_some()),
            ranks: all as u64,
            has_views: trace.attributes.is_some_and(|known| known.tells_views()),
            has_exact_streams: trace.attributes.is_some_and(|known| known.tells_calls_of_streams()),
        }
    }

    /// What a walk keeps.
    pub(super) fn settings(&self) -> Settings {
        // IOR's line for reading depends on who has written: all that is written of a model must agree.
        Settings {
            gap: self.options.gap,
            transfers: (TRANSFERS / self.ranks.max(1)).max(LEAST),
            small_bytes: self.options.thresholds.small_bytes,
            has_exact_streams: self.has_exact_streams,
        }
    }

    /// A handle, and its number in the definitions.
    pub(super) fn handle(&self, trace: &Trace, reference: u32) -> Option<(u64, &Handle)> {
        let at = trace.definitions.file_handles.position(reference.into())?;
        Some((at as u64, self.handles.get(at)?.as_ref()?))
    }

    /// The same for a handle as a location numbers it.
    pub(super) fn local_handle(
        &self,
        trace: &Trace,
        mappings: &Mappings,
        local: u32,
    ) -> Option<(u64, &Handle)> {
        self.handle(trace, mappings.global(MappingType::IoHandle, local))
    }

    /// What the name of a region says.
    pub(super) fn call(&self, region: u32) -> Call {
        self.calls.get(region as usize).copied().unwrap_or(Call::Other)
    }
}

/// The interface that a handle belongs to, by its position in the definitions; `None` for libraries that are built on others: their
/// operations are seen as what they call.
pub(crate) fn layer(trace: &Trace, at: usize) -> Option<Layer> {
    let FileHandle { communicator, paradigm, .. } = *trace.definitions.file_handles.get(at)?;
    match paradigm.and_then(|at| trace.definitions.io_paradigms.get(at)).map(String::as_str) {
        Some("MPI-IO") => Some(Layer::Mpi),
        Some("POSIX") => Some(Layer::Posix),
        Some("ISOC") => Some(Layer::Isoc),
        Some(_) => None,
        None if communicator.is_some() => Some(Layer::Mpi),
        None => Some(Layer::Posix),
    }
}

fn handle(trace: &Trace, at: usize) -> Option<Handle> {
    let handles = &trace.definitions.file_handles;
    let FileHandle { file, parent, was_open, .. } = *handles.get(at)?;
    let layer = layer(trace, at)?;
    let members = match trace.communicators.get(trace.file_handle(at) as usize)? {
        Participants::Myself => Some(1),
        others => others.processes().map(|processes| processes.len() as u64),
    };
    let is_nested = parent.and_then(|at| handles.get(at)).is_some_and(|above| above.file == file);
    Some(Handle { file: u32::try_from(file?).ok()?, layer, members, is_nested, was_open })
}

fn call(name: &str) -> Call {
    let name = mpi::plain(name);
    match name.strip_prefix("file_") {
        Some("seek_shared") => Call::SeeksShared,
        Some("preallocate") => Call::Preallocates,
        Some(name) if name.contains("_shared") || name.contains("_ordered") => Call::Shared,
        _ => Call::Other,
    }
}
